// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// program is what a host needs to have an MDS.
const program = "ceph-mds"

// server is an MDS on its host.
type server struct {
	host     ceph.Host
	layout   ceph.Layout
	daemon   ceph.Daemon
	hostname string
	there    bool // its folder is
}

// caps are what an MDS may do.
func caps() map[string]string {
	return map[string]string{"mon": "allow profile mds", "mgr": "allow profile mds", "mds": "allow *", "osd": "allow *"}
}

// serverID is the name of the MDS of a file system on a host. Names of daemons have no dots here,
// so that they are one word wherever Ceph splits them.
func serverID(fs, hostname string) string { return fs + "-" + strings.ReplaceAll(hostname, ".", "-") }

// servers looks at the hosts, and says all that speaks against an MDS on them.
func (w Wanted) servers(ctx context.Context, r *ceph.Reach) ([]server, error) {
	var (
		all      []server
		problems []error
	)

	names := map[string]bool{}
	ours := false

	for _, h := range w.Hosts {
		s, facts, err := serverOn(ctx, r, h, w.Name, ceph.Ask{Programs: true})
		ours = ours || facts.Identity != nil && err == nil

		switch {
		case err != nil:
			problems = append(problems, err)
		case facts.ConfSum == "":
			problems = append(problems, fmt.Errorf("%s is no host of the cluster: %s is not there; add it to the hosts of the cluster first", h.Name(), s.layout.Conf()))
		case facts.Programs[program] == "":
			problems = append(problems, fmt.Errorf("%s has no %s; install the package that brings it", h.Name(), program))
		case names[s.daemon.ID]:
			problems = append(problems, fmt.Errorf("%s is the host %s, which is named twice", h.Name(), s.hostname))
		default:
			names[s.daemon.ID] = true
			all = append(all, s)
		}
	}

	if len(problems) == 0 && len(all) < w.Active {
		problems = append(problems, fmt.Errorf("%d active MDS are wanted, and there are %d hosts for them", w.Active, len(all)))
	}

	if !ours && len(problems) == 0 {
		problems = append(problems, made(ctx, r))
	}

	return all, errors.Join(problems...)
}

// made makes sure that the cluster is one of metal3_ceph_cluster: folders, users and supervision
// of daemons are as it makes them. The hosts of its monitors have its identity.
func made(ctx context.Context, r *ceph.Reach) error {
	var problems []error

	for _, h := range r.Hosts {
		facts, err := h.Look(ctx, r.Layout, ceph.Ask{})

		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("look at %s: %w", h.Name(), err))
		case facts.Identity != nil:
			return nil
		}
	}

	return errors.Join(append([]error{fmt.Errorf("%w: no host of its monitors that answers has %s", ErrForeign, r.Layout.IdentityFile())}, problems...)...)
}

// serverOn is the MDS of a file system on one host.
func serverOn(ctx context.Context, r *ceph.Reach, h ceph.Host, fs string, ask ceph.Ask) (server, ceph.Facts, error) {
	facts, err := h.Look(ctx, r.Layout, ask)
	if err != nil {
		return server{}, facts, fmt.Errorf("look at %s: %w", h.Name(), err)
	}

	of := ceph.Wanted{Dir: r.Layout.Dir}
	if facts.Identity != nil {
		of.Name = facts.Identity.Name
	}

	s := server{
		host: h, layout: of.Layout(r.Location.FSID, facts), hostname: facts.Hostname,
		daemon: ceph.Daemon{Type: ceph.RoleMDS, ID: serverID(fs, facts.Hostname)},
	}

	for _, d := range facts.Daemons {
		s.there = s.there || d.Daemon == s.daemon && (d.Made || d.Running)
	}

	return s, facts, nil
}

// start makes the MDS where it is missing, and starts it unless it runs.
func (s server) start(ctx context.Context, r *ceph.Reach, fs string) error {
	entity := s.daemon.String()

	key, err := r.AuthGetOrCreate(ctx, entity, caps())
	if err != nil {
		return fmt.Errorf("make the key of %s: %w", entity, err)
	}

	// It serves this file system before any other.
	if err := r.ConfigSet(ctx, entity, joinFS, fs); err != nil {
		return fmt.Errorf("tell %s its file system: %w", entity, err)
	}

	if err := s.host.MakeDaemon(ctx, s.layout, s.daemon, ceph.DaemonKeyring(s.daemon, ceph.Secret(key))); err != nil {
		return fmt.Errorf("make %s on %s: %w", entity, s.host.Name(), err)
	}

	if err := s.host.Start(ctx, s.layout, s.daemon, ceph.StartHow{}); err != nil {
		return fmt.Errorf("start %s on %s: %w", entity, s.host.Name(), err)
	}

	return nil
}

// remove ends the MDS, and deletes what is kept of it.
func (s server) remove(ctx context.Context, r *ceph.Reach) error {
	entity := s.daemon.String()

	if err := s.host.Stop(ctx, s.layout, s.daemon); err != nil {
		return fmt.Errorf("stop %s on %s: %w", entity, s.host.Name(), err)
	}

	if err := s.host.Remove(ctx, s.layout, s.daemon); err != nil {
		return fmt.Errorf("delete %s on %s: %w", entity, s.host.Name(), err)
	}

	return forgetMDS(ctx, r, s.daemon.ID)
}

// drop removes the MDS of a file system from hosts. All hosts are tried.
func drop(ctx context.Context, r *ceph.Reach, fs string, hosts []ceph.Host) error {
	var problems []error

	for _, h := range hosts {
		s, _, err := serverOn(ctx, r, h, fs, ceph.Ask{})
		if err == nil {
			err = s.remove(ctx, r)
		}

		if err != nil {
			problems = append(problems, err)
		}
	}

	return errors.Join(problems...)
}
