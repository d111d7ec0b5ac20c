// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// Door says how to come to a host, given its name and its address in the public network. It
// returns nil for a host that nothing leads to.
type Door func(name, address string) Host

// Found is a cluster as its hosts show it: what an import starts from. What hosts do not show
// (timeouts, policies) is left at its zero value.
type Found struct {
	Wanted   Wanted
	Record   Record
	Warnings []Remark
}

// ErrNoCluster says that a folder holds no cluster that was made here.
var ErrNoCluster = fmt.Errorf("no cluster of this provider is there")

// Discover reads the cluster in a folder of a host, and through it the others. The fsid, where
// it is given, must be the cluster's.
func Discover(ctx context.Context, first Host, loc Location, door Door) (Found, error) {
	l := Layout{FSID: loc.FSID, Dir: loc.Dir}

	facts, err := first.Look(ctx, l, Ask{})
	if err != nil {
		return Found{}, err
	}

	id := facts.Identity

	switch {
	case id == nil:
		return Found{}, fmt.Errorf("%w: %s has no %s. A cluster that other tools made is used through external = {…} instead", ErrNoCluster, first.Name(), l.IdentityFile())
	case loc.FSID != "" && loc.FSID != id.FSID:
		return Found{}, fmt.Errorf("%w: %s on %s has fsid %s", ErrOtherCluster, l.IdentityFile(), first.Name(), id.FSID)
	}

	l.FSID, l.Name = id.FSID, id.Name

	c, err := first.Connect(ctx, l)
	if err != nil {
		return Found{}, err
	}

	session := NewSession(c)
	defer session.Close()

	d := discovery{cluster: api.New(session), first: first, facts: facts, hosts: map[string]*HostSpec{}}
	d.found.Wanted = Wanted{Name: id.Name, Owner: id.Owner, Dir: loc.Dir}

	if err := d.ask(ctx); err != nil {
		return Found{}, err
	}

	d.settings()
	d.addHosts(door)
	d.devices(ctx, l)

	return d.refresh(ctx, *id)
}

// discovery gathers what is found.
type discovery struct {
	cluster *api.Cluster
	first   Host
	facts   Facts
	snap    api.Snapshot
	hosts   map[string]*HostSpec
	found   Found
}

// ask learns which daemons are on which hosts.
func (d *discovery) ask(ctx context.Context) error {
	snap, err := d.cluster.Snapshot(ctx)
	if err != nil {
		return err
	}

	d.snap = snap

	for _, kind := range []string{RoleMon, RoleMgr, RoleOSD} {
		metas, err := d.cluster.Metadata(ctx, kind)
		if err != nil {
			return err
		}

		for id, m := range metas {
			d.note(kind, id, m)
		}
	}

	return nil
}

func (d *discovery) note(kind, id string, m api.Meta) {
	if m.Hostname == "" {
		return
	}

	h := d.hosts[m.Hostname]
	if h == nil {
		h = &HostSpec{Name: m.Hostname}
		d.hosts[m.Hostname] = h
	}

	if !slices.Contains(h.Roles, kind) {
		h.Roles = append(h.Roles, kind)
	}

	addrs, _ := api.ParseAddrs(m.Addrs)
	if kind == RoleMon {
		for _, mon := range d.snap.Quorum.Mons {
			if mon.Name == id {
				addrs = mon.Addrs
			}
		}
	}

	if len(addrs) > 0 && (h.Address == "" || kind == RoleMon) {
		h.Address = addrs[0].Host
	}
}

// settings are what the monitors' map and ceph.conf say of networks and pools.
func (d *discovery) settings() {
	w := &d.found.Wanted

	set := d.facts.Settings
	w.Network.Public, w.Network.Cluster = list(set["public_network"]), list(set["cluster_network"])
	w.Network.RequireMsgr2 = truth(set["ms_bind_msgr1"]) == "false"
	w.PoolDefaults.FailureDomain = "host"

	if set["osd_crush_chooseleaf_type"] == "0" {
		w.PoolDefaults.FailureDomain = RoleOSD
	}

	w.PoolDefaults.Size, _ = strconv.Atoi(set["osd_pool_default_size"])
	w.PoolDefaults.MinSize, _ = strconv.Atoi(set["osd_pool_default_min_size"])
	w.PoolDefaults.PGNum, _ = strconv.Atoi(set["osd_pool_default_pg_num"])

	for _, m := range d.snap.Quorum.Mons {
		for _, a := range m.Addrs {
			switch {
			case a.Type == "v2" && (w.Network.Msgr2 == 0 || a.Port < w.Network.Msgr2):
				w.Network.Msgr2 = a.Port
			case a.Type == "v1" && (w.Network.Msgr1 == 0 || a.Port < w.Network.Msgr1):
				w.Network.Msgr1 = a.Port
			}
		}
	}

	w.Mon.Count = len(d.snap.Quorum.Mons)
	w.Mgr.Count = len(d.snap.Mgr.Standbys)

	if d.snap.Mgr.Active != "" {
		w.Mgr.Count++
	}
}

func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// addHosts gives every host a way to it.
func (d *discovery) addHosts(door Door) {
	w := &d.found.Wanted

	for _, name := range sortedKeys(d.hosts) {
		h := *d.hosts[name]
		slices.SortFunc(h.Roles, func(a, b string) int { return roleOrder(a) - roleOrder(b) })

		if strings.EqualFold(name, d.facts.Hostname) {
			h.Host = d.first
		} else {
			h.Host = door(name, h.Address)
		}

		if h.Host == nil {
			continue
		}

		w.Hosts = append(w.Hosts, h)

		if slices.Contains(h.Roles, RoleMon) {
			w.Mon.Hosts = append(w.Mon.Hosts, name)
		}

		if slices.Contains(h.Roles, RoleMgr) {
			w.Mgr.Hosts = append(w.Mgr.Hosts, name)
		}
	}

	w.Mon.AllowMultiple = w.Mon.Count > len(w.Mon.Hosts)
	w.Mgr.AllowMultiple = w.Mgr.Count > len(w.Mgr.Hosts)
}

func roleOrder(role string) int {
	return slices.Index([]string{RoleMon, RoleMgr, RoleOSD, RoleMDS}, role)
}

// devices are the OSDs that hosts have a record of. One that does not answer costs a warning.
func (d *discovery) devices(ctx context.Context, l Layout) {
	w := &d.found.Wanted
	w.Storage.Backend, w.Storage.OSDsPerDevice = BackendRaw, 1

	for _, h := range w.Hosts {
		facts, err := h.Host.Look(ctx, l, Ask{})
		if err != nil {
			d.found.Warnings = append(d.found.Warnings, Remark{"Host " + h.Name + " of the imported cluster does not answer", err.Error() + ". Its OSDs are not in the state yet."})

			continue
		}

		for _, s := range facts.Slots {
			w.Storage.Backend = s.Backend
			w.Storage.OSDsPerDevice = max(w.Storage.OSDsPerDevice, s.Index+1)

			if s.Index == 0 {
				w.Storage.Devices = append(w.Storage.Devices, DeviceSpec{Host: h.Name, Path: s.Path, DB: s.DB, Class: s.Class, Encrypted: s.Encrypted})
			}
		}
	}
}

// refresh reads the cluster as every later refresh will.
func (d *discovery) refresh(ctx context.Context, id Identity) (Found, error) {
	w := &d.found.Wanted
	w.Supervision, w.Packages = SupervisionAuto, PackagesRequire
	w.Mon.Failover = 10 * time.Minute
	w.Ready = ReadySpec{OSDs: "all", Health: "ok_or_warn"}
	w.Config = userOptions(d.snap.Config)

	run := Run{Wanted: *w}
	res := run.Refresh(ctx, Record{FSID: id.FSID})
	d.found.Record = res.Record
	d.found.Warnings = append(d.found.Warnings, res.Warnings...)

	return d.found, res.Err
}

// userOptions are the options of the store that people set: those that Ceph's own modules
// keep there are left out.
func userOptions(have []api.Option) map[string]map[string]string {
	out := map[string]map[string]string{}

	for _, o := range have {
		if strings.Contains(o.Name, "/") || o.Name == "container_image" || strings.HasPrefix(o.Name, "auth_allow_insecure") {
			continue
		}

		who := o.Section
		if o.Mask != "" {
			who += "/" + o.Mask
		}

		if out[who] == nil {
			out[who] = map[string]string{}
		}

		out[who][o.Name] = o.Value
	}

	return out
}
