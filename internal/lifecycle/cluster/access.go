// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// Access says how the cluster's own API server is reached. Of several ways the first counts.
type Access struct {
	Kubeconfig    []byte
	Path          string // of a kubeconfig on this machine
	Context       string // in a kubeconfig; empty: its current one
	FromBootstrap bool   // the bootstrap profile's CA signs a certificate for each run
	Remote        string // path of a kubeconfig on the machines of the control plane; read over SSH
	CA            string // PEM; instead of the kubeconfig's
	Insecure      bool
	UserAgent     string
}

// Given reports whether there is any way at all.
func (a Access) Given() bool {
	return len(a.Kubeconfig) > 0 || a.Path != "" || a.FromBootstrap || a.Remote != ""
}

// reachable reports whether anybody said how to reach the cluster's API server.
func (r *Run) reachable() bool { return r.Workload != nil || r.Access.Given() }

// connect makes a client of the cluster's API server. It calls nobody but, for a kubeconfig that is
// there only, a machine of the control plane.
func (w *worker) connect(ctx context.Context) (nodes.Workload, error) {
	if w.Workload != nil {
		return w.Workload(ctx)
	}

	a := w.Access
	cfg := kube.Config{Kubeconfig: a.Kubeconfig, Context: a.Context, UserAgent: a.UserAgent, InsecureSkipVerify: a.Insecure, Dial: w.Dial}

	switch {
	case len(a.Kubeconfig) > 0:
	case a.Path != "":
		cfg.Path = a.Path
	case a.FromBootstrap:
		own, err := w.sign(bootstrap.GroupMasters, bootstrap.CallTTL)
		if err != nil {
			return nil, err
		}

		cfg.Kubeconfig, cfg.Context = own.Kubeconfig, ""
	case a.Remote != "":
		text, err := w.fetch(ctx, a.Remote)
		if err != nil {
			return nil, err
		}

		if cfg.Kubeconfig, err = w.atEndpoint(text); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("nothing says how to reach the cluster's API server: set workload_api")
	}

	if a.CA != "" {
		cfg.CAData = []byte(a.CA)
	}

	api, err := kube.New(cfg)
	if err != nil {
		return nil, fmt.Errorf("workload_api: %w", err)
	}

	return api, nil
}

// atEndpoint is a kubeconfig that was read on a machine, which may name that machine alone.
func (w *worker) atEndpoint(text []byte) ([]byte, error) {
	a, err := bootstrap.ParseKubeconfig(text)
	if err == nil {
		a, err = a.At(bootstrap.Endpoint{Host: w.Wanted.Endpoint.Host, Port: w.Wanted.Endpoint.Port}, bootstrap.Options{Cluster: w.Wanted.Name})
	}

	if err != nil {
		return nil, fmt.Errorf("workload_api.ssh: %w", err)
	}

	return a.Kubeconfig, nil
}

// sign makes a kubeconfig with the bootstrap profile's CA.
func (w *worker) sign(group string, ttl time.Duration) (bootstrap.Access, error) {
	if w.Wanted.Bootstrap == nil {
		return bootstrap.Access{}, errors.New("workload_api.from_bootstrap needs bootstrap.kubeadm")
	}

	a, err := bootstrap.Kubeconfig(w.Wanted.Bootstrap.PKI, bootstrap.Endpoint{Host: w.Wanted.Endpoint.Host, Port: w.Wanted.Endpoint.Port},
		bootstrap.Options{Organizations: []string{group}, Cluster: w.Wanted.Name, TTL: ttl, Now: time.Now()})
	if err != nil {
		return a, fmt.Errorf("signing a certificate for the API server: %w", err)
	}

	return a, nil
}

// fetch reads a kubeconfig from the first machine of the control plane that gives it.
func (w *worker) fetch(ctx context.Context, path string) ([]byte, error) {
	if w.ReadFile == nil {
		return nil, errors.New("workload_api.ssh: there is no connection to the machines")
	}

	errs := []error{fmt.Errorf("no machine of the control plane gives %s", path)}

	for _, m := range w.controlPlane() {
		if m.sight() != SeenActive {
			continue
		}

		text, err := w.ReadFile(ctx, w.machine(m), path)
		if err == nil {
			return text, nil
		}

		errs = append(errs, fmt.Errorf("%s: %w", m.Name, err))
	}

	return nil, errors.Join(errs...)
}

// issue makes the kubeconfig that the state holds, where a bootstrap profile makes the cluster, and
// makes it anew at half of its life.
func (w *worker) issue(at time.Time) error {
	b := w.Wanted.Bootstrap
	if b == nil {
		return nil
	}

	w.ca = b.PKI.CA.Certificate

	if w.kubeconfig != "" && !bootstrap.NeedsRenewal([]byte(w.kubeconfig), at) {
		if old, err := bootstrap.ParseKubeconfig([]byte(w.kubeconfig)); err == nil && old.CA == w.ca {
			return nil
		}
	}

	group := bootstrap.GroupMasters
	if v, err := bootstrap.ParseVersion(b.Kubeadm.Version); err == nil {
		group = v.AdminGroup()
	}

	a, err := w.sign(group, bootstrap.AdminTTL)
	if err != nil {
		return err
	}

	w.kubeconfig = string(a.Kubeconfig)

	return nil
}

// Reach is the address at which a machine is reached: the one that its cluster's profile names, else
// the first of its pools by name.
func (w *Wanted) Reach(m Machine) string {
	if w.Bootstrap != nil && w.Bootstrap.Kubeadm.AddressPool != "" {
		if a, ok := m.Addresses[w.Bootstrap.Kubeadm.AddressPool]; ok {
			return a.Address
		}
	}

	for _, pool := range sortedKeys(m.Addresses) {
		return m.Addresses[pool].Address
	}

	return ""
}

// dialer is how connections are made.
type dialer = func(ctx context.Context, network, address string) (net.Conn, error)
