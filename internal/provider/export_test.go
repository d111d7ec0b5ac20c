// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Resolved is what a block and an environment say together, for tests to look at.
type Resolved struct {
	Ironic   ironic.Config
	Lab      string // "dir machines pace trace"
	Defaults host.Defaults
	Unknown  string
}

// Resolve reads a block and an environment.
func Resolve(ctx context.Context, config tfsdk.Config, env func(string) string) (Resolved, diag.Diagnostics) {
	var (
		m     model
		diags diag.Diagnostics
	)

	diags.Append(config.Get(ctx, &m)...)

	s := resolve(ctx, m, env, &diags)
	r := Resolved{Ironic: s.ironic, Defaults: s.defaults, Unknown: strings.Join(append(s.unknown, s.unknownDefaults...), " ")}

	if s.lab != nil {
		r.Lab = strings.TrimSpace(fmt.Sprint(s.lab.dir, " ", s.lab.machines, " ", s.lab.pace, " ", s.lab.trace))
	}

	return r, diags
}

// The handling of the process, for tests.
var (
	Quiet = quiet
	Leave = leave
)
