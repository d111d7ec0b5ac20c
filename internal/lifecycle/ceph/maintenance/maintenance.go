// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package maintenance takes a host of a Ceph cluster out of service for a while, and back: its
// daemons may then be stopped, and no data moves because of that.
package maintenance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	// ErrNoHost says that nothing of the cluster is on a host of this name.
	ErrNoHost = errors.New("the cluster has no such host")
	// ErrNotNow says that the host is needed as it is.
	ErrNotNow = errors.New("the host cannot be spared now")
)

// flag keeps OSDs that are down from being taken for lost.
const flag = "noout"

// settleTime is how long a no of the manager is asked again: its statistics lag.
const settleTime = 15 * time.Second

// shown bounds how many placement groups are named.
const shown = 10

// Say is told what is being done.
type Say func(format string, args ...any)

// host is what a cluster has on a host.
type host struct {
	name   string
	osds   []api.OSD
	mons   []string
	mgr    string // the active manager, where it is on the host
	others int    // managers that could take over
	flag   bool
	bucket bool // CRUSH has the host
	mds    []string
}

// Enter makes sure that the daemons of a host may be stopped all together, and then tells the
// cluster not to move data while they are.
func Enter(ctx context.Context, c *api.Cluster, name string, say Say) error {
	h, err := look(ctx, c, name)
	if err != nil {
		return err
	}

	say("Host %s has %s", name, h.words())

	if err := h.monsCanGo(ctx, c); err != nil {
		return err
	}

	if err := h.mdsCanGo(ctx, c, say); err != nil {
		return err
	}

	if err := h.osdsCanGo(ctx, c, say); err != nil {
		return err
	}

	if h.mgr != "" && h.others == 0 {
		say("Manager %s is the only one: while it is stopped, nothing is measured and no placement groups are counted", h.mgr)
	}

	switch {
	case !h.bucket:
		say("Host %s has no OSDs: its monitors may be stopped", name)

		return nil
	case h.flag:
		say("Host %s is in maintenance already", name)

		return nil
	}

	if err := c.OSDSetGroup(ctx, flag, name); err != nil {
		return fmt.Errorf("set %s for host %s: %w", flag, name, err)
	}

	say("Host %s is in maintenance: its daemons may be stopped, and its OSDs stay in while they are down", name)

	return nil
}

// Exit ends the maintenance of a host, and waits until its OSDs are up and all data is where it
// belongs.
func Exit(ctx context.Context, c *api.Cluster, name string, say Say) error {
	h, err := look(ctx, c, name)
	if err != nil {
		return err
	}

	if h.bucket {
		if err := c.OSDUnsetGroup(ctx, flag, name); err != nil {
			return fmt.Errorf("unset %s for host %s: %w", flag, name, err)
		}

		say("Host %s is no longer in maintenance; waiting until its OSDs are up and all placement groups are clean", name)
	}

	var last string

	// Statistics lag: what they say once may be of the past.
	err = wait.Until(ctx, wait.Quick, wait.Twice(func(ctx context.Context) (wait.Verdict, string, error) {
		missing, err := pending(ctx, c, name)
		if err != nil {
			return wait.Again, "", err
		}

		if missing != "" {
			if missing != last {
				say("Not yet: %s", missing)
				last = missing
			}

			return wait.Again, missing, nil
		}

		return wait.Done, "all is clean for the first time", nil
	}))
	if err != nil {
		return fmt.Errorf("host %s is back, and the cluster is not whole yet: %w", name, err)
	}

	say("All placement groups are clean")

	return nil
}

// look finds what the cluster has on a host.
func look(ctx context.Context, c *api.Cluster, name string) (host, error) {
	h := host{name: name}

	m, err := c.OSDMap(ctx)
	if err != nil {
		return h, fmt.Errorf("look for host %s: %w", name, err)
	}

	known := map[string]bool{}
	for bucket := range m.Hosts {
		known[bucket] = true
	}

	h.bucket, h.flag = known[name], slices.Contains(m.NoOutHosts, name)

	for _, o := range m.OSDs {
		if o.Host == name {
			h.osds = append(h.osds, o)
		}
	}

	if err := h.addDaemons(ctx, c, known); err != nil {
		return h, err
	}

	if err := h.addMDS(ctx, c, known); err != nil {
		return h, err
	}

	if !known[name] {
		return h, fmt.Errorf("%w: %s; there are %s", ErrNoHost, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}

	return h, nil
}

// addDaemons finds monitors and managers on the host, by what they told of themselves.
func (h *host) addDaemons(ctx context.Context, c *api.Cluster, known map[string]bool) error {
	mons, err := c.Metadata(ctx, ceph.RoleMon)
	if err != nil {
		return fmt.Errorf("look for monitors: %w", err)
	}

	for id, meta := range mons {
		if meta.Hostname != "" {
			known[meta.Hostname] = true
		}

		if meta.Hostname == h.name {
			h.mons = append(h.mons, id)
		}
	}

	slices.Sort(h.mons)

	mgrs, err := c.Metadata(ctx, ceph.RoleMgr)
	if err != nil {
		return fmt.Errorf("look for managers: %w", err)
	}

	mgr, err := c.Mgr(ctx)
	if err != nil {
		return fmt.Errorf("look for the active manager: %w", err)
	}

	if meta, there := mgrs[mgr.Active]; there && meta.Hostname == h.name {
		h.mgr = mgr.Active
	}

	for _, standby := range mgr.Standbys {
		if mgrs[standby].Hostname != h.name {
			h.others++
		}
	}

	return nil
}

func (h host) words() string {
	ids := make([]string, 0, len(h.osds))
	for _, o := range h.osds {
		ids = append(ids, "osd."+strconv.Itoa(o.ID))
	}

	for _, mon := range h.mons {
		ids = append(ids, "mon."+mon)
	}

	if h.mgr != "" {
		ids = append(ids, "the active manager, mgr."+h.mgr)
	}

	for _, mds := range h.mds {
		ids = append(ids, "mds."+mds)
	}

	if len(ids) == 0 {
		return "no daemons"
	}

	return strings.Join(ids, ", ")
}

// monsCanGo asks whether there is a quorum without the monitors of the host.
func (h host) monsCanGo(ctx context.Context, c *api.Cluster) error {
	if len(h.mons) == 0 {
		return nil
	}

	q, err := c.Quorum(ctx)
	if err != nil {
		return fmt.Errorf("look at the quorum: %w", err)
	}

	left := 0
	for _, name := range q.Names {
		if !slices.Contains(h.mons, name) {
			left++
		}
	}

	if 2*left <= len(q.Mons) {
		return fmt.Errorf("%w: without the monitors %s there is no quorum: %d of %d would be left", ErrNotNow, strings.Join(h.mons, ", "), left, len(q.Mons))
	}

	for _, mon := range h.mons {
		ok, err := c.MonOkToStop(ctx, mon)

		switch {
		case err != nil:
			return fmt.Errorf("ask whether monitor %s may stop: %w", mon, err)
		case !ok.OK:
			return fmt.Errorf("%w: monitor %s may not stop: %s", ErrNotNow, mon, ok.Words)
		}
	}

	return nil
}

// osdsCanGo asks whether all data stays available without the OSDs of the host.
func (h host) osdsCanGo(ctx context.Context, c *api.Cluster, say Say) error {
	if len(h.osds) == 0 {
		return nil
	}

	ids := make([]int, 0, len(h.osds))
	for _, o := range h.osds {
		ids = append(ids, o.ID)
	}

	limited, cancel := context.WithTimeout(ctx, settleTime)
	defer cancel()

	var no api.OkToStop

	err := wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		ok, err := c.OSDOkToStop(ctx, ids...)

		switch {
		case err != nil:
			return wait.Again, "", fmt.Errorf("ask whether the OSDs of host %s may stop: %w", h.name, err)
		case ok.OK:
			return wait.Done, "", nil
		}

		if no.Words != ok.Words {
			say("The manager says: %s", ok.Words)
		}

		no = ok

		return wait.Again, ok.Words, nil
	})

	if err != nil && ctx.Err() == nil && limited.Err() != nil && no.Words != "" {
		return fmt.Errorf("%w: without its OSDs %s would be lost or unavailable: %s", ErrNotNow, groups(no), no.Words)
	}

	return err
}

// groups names the placement groups that speak against it.
func groups(no api.OkToStop) string {
	if len(no.BadPGs) == 0 {
		return "data"
	}

	named := slices.Clone(no.BadPGs)
	slices.Sort(named)

	text := "the placement groups "
	if more := len(named) - shown; more > 0 {
		return text + strings.Join(named[:shown], ", ") + fmt.Sprintf(" and %d more", more)
	}

	return text + strings.Join(named, ", ")
}

// pending says what is still missing after a maintenance; empty: nothing.
func pending(ctx context.Context, c *api.Cluster, name string) (string, error) {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return "", fmt.Errorf("look at the OSDs: %w", err)
	}

	var parts []string

	for _, o := range m.OSDs {
		if o.Host == name && o.In && !o.Up {
			parts = append(parts, "osd."+strconv.Itoa(o.ID)+" is down")
		}
	}

	pgs, err := c.PGs(ctx)

	switch {
	case errors.Is(err, api.ErrNoManager):
		return strings.Join(append(parts, "no manager is active"), ", "), nil
	case err != nil:
		return "", fmt.Errorf("look at the placement groups: %w", err)
	}

	for _, bad := range api.PGsHealthy(pgs) {
		parts = append(parts, fmt.Sprintf("%d placement groups are %s", bad.Count, bad.State))
	}

	return strings.Join(parts, ", "), nil
}
