// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
)

// data is what a machine is deployed with.
type data struct {
	host   string // for which host it was rendered
	hash   string // of what it was rendered from
	config host.ConfigData
	token  bootstrap.Token // with which it joins; no value where it needs none
	joins  bool
}

// TemplateHash is a hash of what a machine is made from: image, hints, templates and the source of its
// user data. Tokens, addresses and whatever is applied in place have no part in it.
func (w *Wanted) TemplateHash(p Pool, machine string) string {
	parts := []any{p.BootMode, p.MetaData, p.NetworkData, p.UserDataMark, w.Overrides[machine].UserData}

	// A mark stands for user data that is not there at each look, and for nothing beside it.
	source := p.UserData
	if p.UserDataMark != "" {
		source.Constant = ""
	}

	if p.UserDataMark == "" || source != (bootstrap.UserData{}) {
		parts = append(parts, source)
	}

	if p.Image != nil {
		parts = append(parts, p.Image.URL, p.Image.Checksum, p.Image.ChecksumType, p.Image.Format)
	}

	if p.CustomDeploy != nil {
		parts = append(parts, *p.CustomDeploy)
	}

	if p.RootHints != nil {
		parts = append(parts, p.RootHints.Ironic())
	}

	if p.Template != nil {
		parts = append(parts, string(p.Template.JSON()))
	}

	for _, name := range sortedKeys(p.DomainTemplates) {
		parts = append(parts, name, string(p.DomainTemplates[name].JSON()))
	}

	if w.Bootstrap != nil {
		parts = append(parts, w.Bootstrap.Kubeadm.SourceHash(p.Role == ControlPlane))
	}

	return hashOf(parts)
}

// Fingerprint tells two clusters of one name apart: an unfinished create is gone on with only by the
// same cluster.
func (w *Wanted) Fingerprint() string {
	return hashOf([]any{w.Namespace, w.Name, w.OwnerID, w.Endpoint.Host, w.Endpoint.Port})
}

func hashOf(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return "" // cannot happen: it holds what came out of a configuration
	}

	sum := sha256.Sum256(doc)

	return hex.EncodeToString(sum[:])
}

// upToDate reports whether a machine was made from its pool's present template.
func (m *member) upToDate() bool { return m.note.Runs() == "" || m.note.Runs() == m.want }

// renderAll renders what is deployed in this run before anything is: an error in a template costs nothing.
func (w *worker) renderAll(ctx context.Context) error {
	var todo []*member

	for _, m := range w.wantedMembers() {
		if s := m.sight(); s != SeenActive && !s.vacant() {
			todo = append(todo, m)
		}
	}

	return remote.Each(ctx, atOnce, todo, func(ctx context.Context, m *member) error {
		if err := w.render(ctx, m); err != nil {
			return fmt.Errorf("machine %s%s: %w", m.Name, m.on(), err)
		}

		return nil
	})
}

// render makes what a machine is deployed with, for the host that it has.
func (w *worker) render(ctx context.Context, m *member) error {
	if m.data != nil && m.data.host == m.seen.Node.UUID {
		return nil
	}

	if err := w.address(m, m.seen); err != nil {
		return err
	}

	w.describe(m)

	hw, err := w.inventory(ctx, m)
	if err != nil {
		return err
	}

	d := &data{host: m.seen.Node.UUID, hash: m.want}

	if d.config.MetaData, d.config.NetworkData, err = w.templates(m, hw); err != nil {
		return err
	}

	if d.config.UserData, err = w.userData(m, d, hw); err != nil {
		return err
	}

	m.data = d

	return nil
}

// inventory reads what an inspection found. Hosts that were never inspected have none.
func (w *worker) inventory(ctx context.Context, m *member) (hardware.Hardware, error) {
	raw, err := w.Far.Inventory(ctx, m.seen.Node.UUID)
	if errors.Is(err, host.ErrGone) {
		return hardware.Hardware{}, nil
	}

	if err != nil {
		return hardware.Hardware{}, fmt.Errorf("reading the inventory: %w", err)
	}

	hw, _ := hardware.Decode(raw)

	return hw, nil
}

// templates renders metadata and network data.
func (w *worker) templates(m *member, hw hardware.Hardware) (map[string]string, map[string]any, error) {
	p := m.pool
	hostName := choose.Name(m.seen)

	meta := map[string]string{
		"uuid": m.ClaimID, "name": m.Name, "local-hostname": m.Name, "local_hostname": m.Name,
		"metal3-namespace": w.Wanted.Namespace, "metal3-name": hostName,
	}

	network := p.NetworkData

	t := p.Template
	if own, ok := p.DomainTemplates[m.seen.Journal.FailureDomain]; ok {
		t = own
	}

	if t != nil {
		vars := w.vars(m, hw)

		rendered, err := datatemplate.RenderMetaData(*t, vars)
		if err != nil {
			return nil, nil, err
		}

		maps.Copy(meta, rendered)

		if network == nil {
			if network, err = datatemplate.RenderNetworkData(*t, vars); err != nil {
				return nil, nil, err
			}
		}
	}

	maps.Copy(meta, p.MetaData)
	meta["providerid"] = w.Wanted.Namespace + "/" + hostName + "/" + m.Name

	return meta, network, nil
}

func (w *worker) vars(m *member, hw hardware.Hardware) datatemplate.Vars {
	v := datatemplate.Vars{
		Namespace: w.Wanted.Namespace, Machine: m.Name, Host: choose.Name(m.seen), Index: m.Index, BootMAC: bootMAC(m.seen, hw),
		HostLabels: choose.Labels(m.seen), HostAnnotations: m.seen.Journal.Annotations,
		MachineLabels: w.Wanted.Overrides[m.Name].Labels, Addresses: m.record.Addresses,
	}

	var nics []datatemplate.NIC
	for _, nic := range hw.NICs {
		nics = append(nics, datatemplate.NIC{Name: nic.Name, MAC: nic.MAC})
	}

	v.Interfaces = datatemplate.Interfaces(nics)

	return v
}

// bootMAC is the MAC address that a host boots from: as its inventory says, else as its ports do.
func bootMAC(s host.Seen, hw hardware.Hardware) string {
	if hw.PXEInterface != "" {
		return hw.PXEInterface
	}

	at := slices.IndexFunc(s.Ports, func(p ironic.Port) bool { return p.PXEEnabled })

	switch {
	case at >= 0:
		return s.Ports[at].Address
	case len(s.Ports) > 0:
		return s.Ports[0].Address
	default:
		return ""
	}
}

// providerID is the id under which Kubernetes knows a machine, once it has a host.
func (w *worker) providerID(m *member) string {
	if m.seen.Node.UUID == "" {
		return ""
	}

	return nodes.ProviderID(w.Wanted.Namespace, choose.Name(m.seen), m.Name)
}
