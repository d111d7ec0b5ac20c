// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

// Workload returns the client of a cluster whose nodes get devices. It calls nobody yet.
func (s *services) Workload(_ context.Context, cfg kube.Config) (workload.API, error) {
	cfg.UserAgent = "terraform-provider-metal3/" + s.version
	cfg.Trace = tracedWorkload

	client, err := kube.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("client of the cluster: %w", err)
	}

	return client, nil
}

func tracedWorkload(ctx context.Context, method, url string, status int, elapsed time.Duration) {
	tflog.Trace(ctx, "request to the workload API", map[string]any{
		"method": method, "url": url, "status": status, "elapsed_ms": elapsed.Milliseconds(),
	})
}
