// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterreal_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	hosts "github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// far looks at the hosts of one pool past the provider under test.
type far struct {
	t      *testing.T
	client *ironic.Client
	prefix string
}

func newFar(t *testing.T, r acctest.Real, prefix string) *far {
	t.Helper()

	cfg := ironic.Config{Endpoint: r.Endpoint, CACertFile: r.CAFile}
	if r.Username != "" {
		cfg.Auth, cfg.Username, cfg.Password = ironic.HTTPBasic, r.Username, r.Password
	}

	c, err := ironic.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	f := &far{t: t, client: c, prefix: prefix}
	t.Cleanup(f.sweep)

	return f
}

// nodes are the hosts of the pool.
func (f *far) nodes(ctx context.Context) []ironic.Node {
	f.t.Helper()

	all, err := f.client.Nodes(ctx)
	if err != nil {
		f.t.Fatal(err)
	}

	return slices.DeleteFunc(all, func(n ironic.Node) bool { return !strings.Contains(n.Name, f.prefix) })
}

// provide makes all hosts available, as the end of an earlier cluster on them does.
func (f *far) provide() {
	f.t.Helper()

	for _, n := range f.nodes(f.t.Context()) {
		if err := f.client.Provision(f.t.Context(), n.UUID, ironic.Provision{Target: ironic.VerbProvide}); err != nil {
			f.t.Fatal(err)
		}
	}

	err := wait.Until(f.t.Context(), wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		if f.in(ctx, ironic.Available) == len(f.nodes(ctx)) {
			return wait.Done, "", nil
		}

		return wait.Again, "not all hosts are available", nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// allocations are those of clusters of the pool.
func (f *far) allocations(ctx context.Context) []ironic.Allocation {
	f.t.Helper()

	all, err := f.client.Allocations(ctx)
	if err != nil {
		f.t.Fatal(err)
	}

	return slices.DeleteFunc(all, func(a ironic.Allocation) bool { return !strings.Contains(a.Name, f.prefix) })
}

// claims are the claims on hosts: host -> claim. No claim is on two of them.
func (f *far) claims(ctx context.Context) map[string]string {
	f.t.Helper()

	out, seen := map[string]string{}, map[string]string{}

	for _, n := range f.nodes(ctx) {
		if n.InstanceUUID == "" {
			continue
		}

		if other := seen[n.InstanceUUID]; other != "" {
			f.t.Errorf("claim %s is on %s and on %s", n.InstanceUUID, other, n.Name)
		}

		out[n.UUID], seen[n.InstanceUUID] = n.InstanceUUID, n.Name
	}

	return out
}

// in counts the hosts that are in one of the states.
func (f *far) in(ctx context.Context, states ...ironic.State) (n int) {
	f.t.Helper()

	for _, node := range f.nodes(ctx) {
		if slices.Contains(states, node.ProvisionState) {
			n++
		}
	}

	return n
}

// states are those of the hosts, by id.
func (f *far) states(ctx context.Context) map[string]ironic.State {
	f.t.Helper()

	out := map[string]ironic.State{}
	for _, n := range f.nodes(ctx) {
		out[n.UUID] = n.ProvisionState
	}

	return out
}

// changed says when each host last changed its state.
func (f *far) changed(ctx context.Context) string {
	f.t.Helper()

	var out strings.Builder
	for _, n := range f.nodes(ctx) {
		fmt.Fprintln(&out, n.Name, n.ProvisionState, n.ProvisionUpdatedAt, n.PowerState)
	}

	return out.String()
}

// free wants nothing left of any cluster on the hosts.
func (f *far) free() {
	f.t.Helper()

	for _, n := range f.nodes(f.t.Context()) {
		if n.InstanceUUID != "" || n.AllocationUUID != "" || n.InstanceInfo[hosts.TenancyKey] != nil || !hosts.Resting(n.ProvisionState) || n.Reservation != "" {
			f.t.Errorf("host %s is %s with claim %q, allocation %q, instance_info %v", n.Name, n.ProvisionState, n.InstanceUUID, n.AllocationUUID, n.InstanceInfo)
		}
	}

	for _, a := range f.allocations(f.t.Context()) {
		f.t.Errorf("allocation %s is left: %+v", a.Name, a)
	}
}

// sweep removes what a test that failed left.
func (f *far) sweep() {
	ctx, cancel := background()
	defer cancel()

	all, err := f.client.Nodes(ctx)
	if err != nil {
		f.t.Logf("sweep: %v", err)
	}

	for _, n := range all {
		if strings.Contains(n.Name, f.prefix) {
			_ = f.client.SetMaintenance(ctx, n.UUID, "its test is over")
			_ = f.client.DeleteNode(ctx, n.UUID)
		}
	}
}
