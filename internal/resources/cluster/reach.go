// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// This file says how machines and the workload cluster are reached.

// systemMasters is whom the provider's own calls are from: for minutes, and never stored.
const systemMasters = "system:masters"

// workload says how the API of the cluster is reached; nil where nobody says so.
func (r *clusterResource) workload(ctx context.Context, m model, pki bootstrap.PKI, diags *diag.Diagnostics) func(context.Context) (nodes.Workload, error) {
	w, ok := value.Object[workloadModel](ctx, m.WorkloadAPI, diags)
	if !ok && m.Bootstrap.IsNull() {
		return nil
	}

	cfg := kube.Config{
		Path: w.KubeconfigPath.ValueString(), Context: w.Context.ValueString(), InsecureSkipVerify: w.Insecure.ValueBool(), UserAgent: "terraform-provider-metal3",
	}

	if ca := w.CA.ValueString(); ca != "" {
		cfg.CAData = []byte(ca)
	}

	where := m.endpoint(ctx, diags)

	return func(ctx context.Context) (nodes.Workload, error) {
		switch {
		case value.Known(w.Kubeconfig):
			cfg.Kubeconfig = []byte(w.Kubeconfig.ValueString())
		case cfg.Path != "":
		case value.Known(w.SSH):
			raw, err := r.fetch(ctx, w.SSH, where.Host)
			if err != nil {
				return nil, err
			}

			cfg.Kubeconfig = raw
		default:
			raw, err := m.own(pki, where)
			if err != nil {
				return nil, err
			}

			cfg.Kubeconfig = raw
		}

		client, err := kube.New(cfg)
		if err != nil {
			return nil, fmt.Errorf("workload_api: %w", err)
		}

		return client, nil
	}
}

// own is a kubeconfig for the provider's own calls. Without the key of the CA, which a refresh may
// not have, it is the one of the state.
func (m model) own(pki bootstrap.PKI, where bootstrap.Endpoint) ([]byte, error) {
	if pki.CA.Key == "" {
		if s := m.Kubeconfig.ValueString(); s != "" {
			return []byte(s), nil
		}

		return nil, errors.New("the key of the cluster's CA is not known here, and the state has no kubeconfig")
	}

	a, err := bootstrap.Kubeconfig(pki, where, bootstrap.Options{
		User: "metal3-provider", Organizations: []string{systemMasters}, TTL: bootstrap.CallTTL, Now: time.Now(),
	})
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the bootstrap: %w", err)
	}

	return a.Kubeconfig, nil
}

// fetch reads a kubeconfig from a machine.
func (r *clusterResource) fetch(ctx context.Context, o types.Object, otherwise string) ([]byte, error) {
	var diags diag.Diagnostics

	s, _ := value.Object[sshModel](ctx, o, &diags)

	h, err := r.machine(ctx, s.Model, otherwise, &diags)
	if err != nil {
		return nil, err
	}

	raw, err := h.ReadFile(ctx, cmp.Or(s.Path.ValueString(), "/etc/kubernetes/admin.conf"))
	if err != nil {
		return nil, fmt.Errorf("kubeconfig over SSH: %w", err)
	}

	return raw, nil
}

// machine connects to a machine; where the connection names no host it is otherwise.
func (r *clusterResource) machine(ctx context.Context, c connectionvalue.Model, otherwise string, diags *diag.Diagnostics) (remote.Host, error) {
	pool, defaults, err := r.far.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}

	cfg, d := connectionvalue.Config(ctx, c, defaults)
	diags.Append(d...)

	for _, one := range diags.Errors() {
		return nil, fmt.Errorf("connection: %s: %s", one.Summary(), one.Detail())
	}

	cfg.Host = cmp.Or(cfg.Host, otherwise)
	if cfg.Host == "" {
		return nil, errors.New("connection: the machine has no address; give its pool a data template with a pool of addresses, or the connection a host")
	}

	h, err := pool.Host(cfg)
	if err != nil {
		return nil, fmt.Errorf("connection to %s: %w", cfg.Host, err)
	}

	return h, nil
}

// hook runs a command on a machine.
func (r *clusterResource) hook(ctx context.Context, m model, diags *diag.Diagnostics) func(context.Context, cluster.Machine, cluster.Hook) error {
	connections := map[string]connectionvalue.Model{}

	roles, _ := m.roles(ctx, diags)
	for _, one := range roles {
		h, ok := value.Object[hooksModel](ctx, one.Hooks, diags)
		if !ok {
			continue
		}

		if c, ok := value.Object[connectionvalue.Model](ctx, h.Connection, diags); ok {
			connections[one.pool] = c
		} else {
			connections[one.pool] = connectionvalue.Model{Bastion: types.ObjectNull(connectionvalue.BastionTypes())}
		}
	}

	if len(connections) == 0 {
		return nil
	}

	return func(ctx context.Context, one cluster.Machine, hook cluster.Hook) error {
		var mishap diag.Diagnostics

		c, ok := connections[one.Pool]
		if !ok {
			c = connectionvalue.Model{Bastion: types.ObjectNull(connectionvalue.BastionTypes())}
		}

		h, err := r.machine(ctx, c, addressOf(one), &mishap)
		if err != nil {
			return err
		}

		// Standard input keeps the command out of lists of processes.
		res, err := h.Run(ctx, remote.Command{Args: []string{"sh", "-s"}, Stdin: []byte(hook.Command + "\n"), Limit: hook.Timeout})
		if err != nil {
			return err //nolint:wrapcheck // it says all
		}

		if res.Exit != 0 {
			return fmt.Errorf("it ended with status %d on %s: %s", res.Exit, h.Name(), lastLine(res.Stderr))
		}

		return nil
	}
}

// lastLine is the last thing that a command said.
func lastLine(b []byte) string {
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")

	return cmp.Or(lines[len(lines)-1], "it said nothing")
}

// addressOf is the first address of a machine, by the name of the pool.
func addressOf(m cluster.Machine) string {
	for _, pool := range sorted(m.Addresses) {
		return m.Addresses[pool].Address
	}

	return ""
}
