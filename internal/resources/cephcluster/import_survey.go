// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// survey is what a running cluster tells of how it was configured.
type survey struct {
	mons, mgrs map[string]string            // id: host
	hosts      map[string]string            // name: address in the public network; empty: not known
	places     map[string]map[string]string // host: where it stands in the CRUSH map
	ports      map[string]int               // of a monitor, by protocol: v2, v1
	options    map[string]string            // of a monitor: those that are not as Ceph has them
	files      map[string]string            // those of them that come from its configuration file
}

// host notes that there is a host.
func (s survey) host(name string) {
	if _, ok := s.hosts[name]; !ok && name != "" {
		s.hosts[name] = ""
	}
}

// twice reports whether a host has two daemons of a kind.
func (s survey) twice(daemons map[string]string) bool {
	hosts := slices.Sorted(maps.Values(daemons))

	return len(slices.Compact(slices.Clone(hosts))) < len(hosts)
}

// survey asks a cluster through the places of an id.
func (r *clusterResource) survey(ctx context.Context, loc ceph.Location, places []place) (survey, error) {
	var hosts []ceph.Host

	for _, p := range places {
		if p.facts.Identity != nil {
			hosts = append(hosts, p.host)
		}
	}

	reach, err := ceph.Open(ctx, loc, hosts)
	if err != nil {
		return survey{}, err //nolint:wrapcheck // it names the hosts, and why each did not lead to the cluster
	}

	defer func() { _ = reach.Session.Close() }()

	s := survey{mons: map[string]string{}, mgrs: map[string]string{}, hosts: map[string]string{}, places: map[string]map[string]string{}, ports: map[string]int{}}

	if err := s.daemons(ctx, reach.Cluster); err != nil {
		return survey{}, err
	}

	osds, err := reach.OSDMap(ctx)
	if err != nil {
		return survey{}, fmt.Errorf("ask for the OSDs: %w", err)
	}

	for _, o := range osds.OSDs {
		s.host(o.Host)

		place := maps.Clone(o.Place)
		maps.DeleteFunc(place, func(kind, _ string) bool { return !slices.Contains(bucketTypes, kind) })

		if len(place) > 0 {
			s.places[o.Host] = place
		}
	}

	s.options, s.files = shownOptions(ctx, reach.Cluster, slices.Sorted(maps.Keys(s.mons)))

	return s, nil
}

// daemons asks which monitors and managers there are, and where.
func (s survey) daemons(ctx context.Context, c *api.Cluster) error {
	quorum, err := c.Quorum(ctx)
	if err != nil {
		return fmt.Errorf("ask for the monitors: %w", err)
	}

	for kind, to := range map[string]map[string]string{"mon": s.mons, "mgr": s.mgrs} {
		all, err := c.Metadata(ctx, kind)
		if err != nil {
			return fmt.Errorf("ask where each %s is: %w", kind, err)
		}

		for name, meta := range all {
			if to[name] = meta.Hostname; meta.Hostname != "" {
				s.host(meta.Hostname)
			}
		}
	}

	// The first monitor of a host has the ports that are configured.
	for _, m := range slices.Backward(quorum.Mons) {
		for _, a := range m.Addrs {
			if host := s.mons[m.Name]; host != "" {
				s.hosts[host] = a.Host
			}

			if a.Type == "v1" || a.Type == "v2" {
				s.ports[a.Type] = a.Port
			}
		}
	}

	return nil
}

// shownOptions are the options of the first monitor that answers. Without a manager nobody
// tells them, and an import does without.
func shownOptions(ctx context.Context, c *api.Cluster, mons []string) (all, files map[string]string) {
	all, files = map[string]string{}, map[string]string{}

	for _, id := range mons {
		out, err := c.MgrCommandRaw(ctx, map[string]any{"prefix": "config show", "who": "mon." + id, "format": "json"}, nil)
		if err != nil {
			continue
		}

		var shown []struct {
			Name   string `json:"name"`
			Value  any    `json:"value"`
			Source string `json:"source"`
		}

		if json.Unmarshal(out, &shown) != nil {
			continue
		}

		for _, o := range shown {
			all[o.Name] = fmt.Sprint(o.Value)

			if o.Source == "file" {
				files[o.Name] = all[o.Name]
			}
		}

		return all, files
	}

	return all, files
}
