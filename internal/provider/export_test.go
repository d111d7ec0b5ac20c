// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Resolved is what a block and an environment say together, for tests to look at.
type Resolved struct {
	Ironic    ironic.Config
	Fabric    fabric.Config
	Poll      time.Duration
	Journal   string // directory; empty: none; "!": nowhere
	SSH       remote.Config
	Lab       string // "dir machines pace trace"
	LabFabric string // "type gpus"
	Defaults  host.Defaults
	Unknown   string // all of them
	UnknownOf map[string]string
}

// Resolve reads a block and an environment.
func Resolve(ctx context.Context, config tfsdk.Config, env func(string) string) (Resolved, diag.Diagnostics) {
	var (
		m     model
		diags diag.Diagnostics
	)

	diags.Append(config.Get(ctx, &m)...)

	s := resolve(ctx, m, env, &diags)
	r := Resolved{
		Ironic: s.ironic, Fabric: s.fabric.config, Poll: s.fabric.poll, SSH: s.ssh, Defaults: s.defaults,
		Unknown: strings.Join(slices.Concat(s.unknown, s.unknownFabric, s.unknownSSH, s.unknownDefaults), " "),
		UnknownOf: map[string]string{
			"ironic": strings.Join(s.unknown, " "), "fabric": strings.Join(s.unknownFabric, " "), "ssh": strings.Join(s.unknownSSH, " "),
		},
	}

	var err error
	if r.Journal, err = s.journalDir(); err != nil {
		r.Journal = "!"
	}

	if s.lab != nil {
		r.Lab = strings.TrimSpace(fmt.Sprint(s.lab.dir, " ", s.lab.machines, " ", s.lab.pace, " ", s.lab.trace))
		r.LabFabric = fmt.Sprint(s.lab.fabricType, " ", s.lab.gpus)
	}

	return r, diags
}

// The handling of the process, for tests.
var (
	Quiet = quiet
	Leave = leave
)
