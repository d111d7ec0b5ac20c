// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// This file says how machines and the workload cluster are reached.

// access says how the API of the cluster is reached. A refresh may not have the key of the CA, and
// uses the kubeconfig of the state then.
func (m model) access(ctx context.Context, pki bootstrap.PKI, diags *diag.Diagnostics) cluster.Access {
	w, ok := value.Object[workloadModel](ctx, m.WorkloadAPI, diags)
	out := cluster.Access{
		Kubeconfig: []byte(w.Kubeconfig.ValueString()), Path: w.KubeconfigPath.ValueString(), Context: w.Context.ValueString(),
		CA: w.CA.ValueString(), Insecure: w.Insecure.ValueBool(), UserAgent: userAgent,
	}

	if s, ok := value.Object[sshModel](ctx, w.SSH, diags); ok {
		out.Remote = s.Path.ValueString()
	}

	if m.Bootstrap.IsNull() || out.Given() || !ok && !m.WorkloadAPI.IsNull() {
		return out
	}

	out.FromBootstrap = true

	if s := m.Kubeconfig.ValueString(); pki.CA.Key == "" {
		out.FromBootstrap, out.Kubeconfig = false, []byte(s)
	}

	return out
}

// etcdOf reaches the etcd on a machine of the control plane, as its kubeadm has it; nil where the
// key of its authority is not known.
func etcdOf(pki bootstrap.PKI, run *cluster.Run) func(context.Context, cluster.Machine) (nodes.Etcd, error) {
	if pki.EtcdCA.Key == "" {
		return nil
	}

	const port = "2379"

	return func(_ context.Context, one cluster.Machine) (nodes.Etcd, error) {
		where := run.Wanted.Reach(one)
		if where == "" {
			return nil, fmt.Errorf("machine %s has no address that is known here", one.Name)
		}

		certificate, _, err := bootstrap.EtcdClient(pki, bootstrap.CallTTL, time.Now())
		if err != nil {
			return nil, err //nolint:wrapcheck // it says all
		}

		client, err := etcd.New(etcd.Config{
			Endpoints: []string{"https://" + net.JoinHostPort(where, port)}, CA: []byte(pki.EtcdCA.Certificate), Certificate: certificate, Dial: run.Dial,
		})
		if err != nil {
			return nil, fmt.Errorf("etcd on %s: %w", one.Name, err)
		}

		return nodes.OnEtcd(client), nil
	}
}

// userAgent is who the API is asked by.
const userAgent = "terraform-provider-metal3"

// files reads files of machines of the control plane; nil where nobody says how they are reached.
func (r *clusterResource) files(ctx context.Context, m model, reach func(cluster.Machine) string, diags *diag.Diagnostics) func(context.Context, cluster.Machine, string) ([]byte, error) {
	w, _ := value.Object[workloadModel](ctx, m.WorkloadAPI, diags)

	s, ok := value.Object[sshModel](ctx, w.SSH, diags)
	if !ok {
		return nil
	}

	return func(ctx context.Context, one cluster.Machine, path string) ([]byte, error) {
		h, err := r.machine(ctx, s.Model, reach(one))
		if err != nil {
			return nil, err
		}

		return h.ReadFile(ctx, path) //nolint:wrapcheck // it says all
	}
}

// machine connects to a machine; where the connection names no host it is otherwise.
func (r *clusterResource) machine(ctx context.Context, c connectionvalue.Model, otherwise string) (remote.Host, error) {
	pool, defaults, err := r.far.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("connection: %w", err)
	}

	cfg, diags := connectionvalue.Config(ctx, c, defaults)

	for _, one := range diags.Errors() {
		return nil, fmt.Errorf("connection: %s: %s", one.Summary(), one.Detail())
	}

	cfg.Host = cmp.Or(cfg.Host, otherwise)
	if cfg.Host == "" {
		// Nobody asked the machine, so this is not that it does not answer.
		return nil, fmt.Errorf("%w: the machine has no address that is known here: set connection.host, or give its pool a data template that takes an address out of ip_pools", remote.ErrConfig)
	}

	h, err := pool.Host(cfg)
	if err != nil {
		return nil, fmt.Errorf("connection to %s: %w", cfg.Host, err)
	}

	return h, nil
}

// noLimit leaves a command what remains to its context. A number of the context would not do: a verb's
// stands still while machines wait for their turn, so that it has no deadline that is known ahead.
const noLimit = time.Duration(math.MaxInt64)

// hook runs a command on a machine of some roles.
func (r *clusterResource) hook(ctx context.Context, roles []role, reach func(cluster.Machine) string, diags *diag.Diagnostics) func(context.Context, cluster.Machine, cluster.Hook) error {
	connections := map[string]connectionvalue.Model{} // by pool; one that says nothing is the provider's

	for _, one := range roles {
		if h, ok := value.Object[hooksModel](ctx, one.Hooks, diags); ok {
			connections[one.pool], _ = value.Object[connectionvalue.Model](ctx, h.Connection, diags)
		}
	}

	if len(connections) == 0 {
		return nil
	}

	return func(ctx context.Context, one cluster.Machine, hook cluster.Hook) error {
		h, err := r.machine(ctx, connections[one.Pool], reach(one))
		if err != nil {
			return err
		}

		// Standard input keeps the command out of lists of processes.
		res, err := h.Run(ctx, remote.Command{Args: []string{"sh", "-s"}, Stdin: []byte(hook.Command + "\n"), Limit: cmp.Or(hook.Timeout, noLimit)})
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
