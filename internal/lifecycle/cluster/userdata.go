// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
)

// tokenTTL is how long tokens live. That of a machine has to outlive its deployment and its boot.
const tokenTTL = time.Hour

func (b *Bootstrap) ttl() time.Duration { return cmp.Or(b.TokenTTL, tokenTTL) }

// userData renders the user data of a machine: the pool's, or the bootstrap profile's.
func (w *worker) userData(m *member, d *data, hw hardware.Hardware) (string, error) {
	vars := w.userVars(m, hw)

	source := m.pool.UserData.For(vars.Machine.First)
	if own := w.Wanted.Overrides[m.Name].UserData; own != "" {
		source = bootstrap.Source{Constant: own}
	}

	if w.Wanted.Bootstrap != nil {
		if err := w.introduce(d, vars.Machine.First); err != nil {
			return "", err
		}

		if source.Empty() {
			return w.profile(m, d, vars)
		}

		var err error
		if vars.Bootstrap, err = w.Wanted.Bootstrap.Kubeadm.For(vars, m.Role == ControlPlane, w.Wanted.Bootstrap.PKI, d.token, w.Wanted.Bootstrap.ttl()); err != nil {
			return "", fmt.Errorf("bootstrap.kubeadm: %w", err)
		}
	}

	text, err := source.Render(vars)
	if err != nil {
		return "", fmt.Errorf("user data: %w", err)
	}

	return string(text), nil
}

// introduce gives a machine the token by which the cluster knows it.
func (w *worker) introduce(d *data, first bool) error {
	token, err := bootstrap.NewToken()
	if err != nil {
		return fmt.Errorf("making a token: %w", err)
	}

	d.token, d.joins = token, !first

	return nil
}

// profile renders what the bootstrap profile makes of a machine.
func (w *worker) profile(m *member, d *data, vars bootstrap.Vars) (string, error) {
	var (
		b    = w.Wanted.Bootstrap
		text []byte
		hash string
		err  error
	)

	switch {
	case vars.Machine.First:
		text, err = b.Kubeadm.Init(vars, b.PKI, d.token, b.ttl())
	case m.Role == ControlPlane:
		text, err = b.Kubeadm.JoinControlPlane(vars, b.PKI, d.token)
	default:
		if hash, err = b.PKI.CAHash(); err == nil {
			text, err = b.Kubeadm.JoinWorker(vars, hash, d.token)
		}
	}

	if err != nil {
		return "", fmt.Errorf("bootstrap.kubeadm: %w", err)
	}

	return string(text), nil
}

// userVars is what a template of user data knows of a machine.
func (w *worker) userVars(m *member, hw hardware.Hardware) bootstrap.Vars {
	v := bootstrap.Vars{
		Cluster: bootstrap.Cluster{
			Name: w.Wanted.Name, Namespace: w.Wanted.Namespace,
			Endpoint: bootstrap.Endpoint{Host: w.Wanted.Endpoint.Host, Port: w.Wanted.Endpoint.Port},
		},
		Machine: bootstrap.Machine{
			Name: m.Name, Role: string(m.Role), Pool: m.Pool, Index: m.Index, ProviderID: w.providerID(m),
			FailureDomain: m.seen.Journal.FailureDomain, First: w.begins(m), ClaimID: m.ClaimID,
		},
		Host:      bootstrap.Host{Name: choose.Name(m.seen), UUID: m.seen.Node.UUID, Labels: choose.Labels(m.seen)},
		Addresses: forTemplates(w.addressesOf(m)),
	}

	for _, nic := range hw.NICs {
		one := bootstrap.NIC{Name: nic.Name, MAC: nic.MAC}
		if len(nic.IPs) > 0 {
			one.IP = nic.IPs[0]
		}

		v.Host.NICs = append(v.Host.NICs, one)
	}

	for _, peer := range w.controlPlane() {
		v.Peers = append(v.Peers, bootstrap.Peer{Name: peer.Name, Addresses: forTemplates(w.addressesOf(peer))})
	}

	return v
}

func forTemplates(all map[string]addresses.Address) map[string]bootstrap.Address {
	out := make(map[string]bootstrap.Address, len(all))
	for pool, a := range all {
		out[pool] = bootstrap.Address{Address: a.Address, Prefix: a.Prefix, Gateway: a.Gateway, DNS: a.DNS}
	}

	return out
}

// controlPlane are the machines of the control plane that are to be there.
func (w *worker) controlPlane() []*member { return w.of(ControlPlanePool) }

// begins reports whether a machine is the one that begins the cluster: the control plane's first,
// as long as no other of it runs that could be joined.
func (w *worker) begins(m *member) bool {
	all := w.controlPlane()

	if m.Role != ControlPlane || len(all) == 0 || all[0] != m {
		return false
	}

	return !slices.ContainsFunc(all, func(other *member) bool { return other != m && w.runs(other) })
}

// announce lets the cluster know of a machine that is about to join: its token, and the end of Nodes
// that an earlier machine of the same name left.
func (w *worker) announce(ctx context.Context, m *member) error {
	if m.data == nil || !m.data.joins {
		return w.clearNodes(ctx, m)
	}

	api, err := w.workload(ctx)
	if err != nil {
		return fmt.Errorf("it needs a token to join: %w", err)
	}

	if err := w.clearNodes(ctx, m); err != nil {
		return err
	}

	token := kube.Token{ID: m.data.token.ID, Secret: m.data.token.Secret, Description: "machine " + m.Name + " joins " + w.Wanted.Namespace + "/" + w.Wanted.Name}

	if err := api.EnsureToken(ctx, token, time.Now().Add(max(w.Wanted.Bootstrap.ttl(), w.Wanted.Timeouts.Provision+w.Wanted.Wait.NodeTimeout))); err != nil {
		return fmt.Errorf("making its token: %w", err)
	}

	return nil
}

// clearNodes deletes Nodes that an earlier machine of this name left, before there is a kubelet that
// takes one over. Where the cluster's API is not there yet, there is nothing to clear.
func (w *worker) clearNodes(ctx context.Context, m *member) error {
	if !w.joins() || w.begins(m) {
		return nil
	}

	api, err := w.workload(ctx)
	if err != nil {
		return nil //nolint:nilerr // who needs the API for more than that says so
	}

	gone, err := nodes.Clear(ctx, api, []nodes.Want{w.want(m)}, w.exists)
	if err != nil {
		w.log(ctx, "machine "+m.Name+": Nodes of earlier machines could not be looked for: "+err.Error())
	}

	for _, name := range gone {
		w.log(ctx, "machine "+m.Name+": the Node "+name+" of an earlier machine was deleted")
	}

	return nil
}

// retract takes the token of a machine back that has joined. One that is left expires by itself.
func (w *worker) retract(ctx context.Context, m *member) {
	if m.data == nil || !m.data.joins || w.api == nil {
		return
	}

	if err := w.api.DeleteToken(ctx, m.data.token.ID); err != nil && !errors.Is(err, kube.ErrNotFound) {
		w.log(ctx, "the token of machine "+m.Name+" is left and expires by itself: "+err.Error())
	}
}
