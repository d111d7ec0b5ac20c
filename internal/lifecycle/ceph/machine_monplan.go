// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"slices"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// monPlan says which monitors stay, which go and where new ones are to be.
type monPlan struct {
	all     []Placed // those of the monmap
	keep    []Placed
	surplus []Placed
	failed  []Placed // out of quorum, on hosts that do not answer
	spare   []string // hosts for new ones, in order; one for each that is missing, as far as there are any
	missing int
}

// planMons keeps the monitors that are on hosts which may have one, in the order of the
// hosts, and gives the other places to hosts that answer.
func planMons(v *view) monPlan {
	var p monPlan

	for _, id := range byLetter(sortedKeys(v.monmap)) {
		p.all = append(p.all, Placed{Host: v.monHostOf(id), Daemon: Daemon{RoleMon, id}, Addr: v.monmap[id]})
	}

	p.failed = failedMons(v, p.all)
	used := map[string]int{}

	for _, host := range v.w.Mon.Hosts {
		for _, m := range p.all {
			switch {
			case m.Host != host || slices.Contains(p.keep, m):
			case len(p.keep) < v.w.Mon.Count && (used[host] == 0 || v.w.Mon.AllowMultiple):
				p.keep = append(p.keep, m)
				used[host]++
			}
		}
	}

	for _, m := range p.all {
		if !slices.Contains(p.keep, m) {
			p.surplus = append(p.surplus, m)
		}
	}

	p.missing = v.w.Mon.Count - len(p.keep)
	p.spare = spareHosts(v, used)

	return p
}

// spareHosts lists the hosts that can take one more monitor, those with fewest first.
func spareHosts(v *view, used map[string]int) []string {
	var spare []string

	for round := 0; round < max(v.w.Mon.Count, 1); round++ {
		for _, host := range v.w.Mon.Hosts {
			_, ok := v.reached(host)
			if ok && used[host] == round && (round == 0 || v.w.Mon.AllowMultiple) {
				spare = append(spare, host)
				used[host]++
			}
		}
	}

	return spare
}

// monHostOf finds the host of a monitor: the one that has its store, or its address.
func (v *view) monHostOf(id string) string {
	if host := v.where(Daemon{RoleMon, id}); host != "" {
		return host
	}

	if v.s.Identity != nil && v.s.Identity.First[id].Host != "" && !v.s.Identity.Established {
		return v.s.Identity.First[id].Host
	}

	if host := v.s.Record.Mons[id].Host; host != "" {
		return host
	}

	addrs, _ := api.ParseAddrs(v.monmap[id])

	for _, h := range slices.Concat(v.w.Hosts, v.w.Former) {
		if slices.ContainsFunc(addrs, func(a api.Addr) bool { return a.Host == h.Address }) {
			return h.Name
		}
	}

	return ""
}

// failedMons are those out of quorum that nothing can be done for where they are.
func failedMons(v *view, all []Placed) []Placed {
	if v.s.Cluster == nil || len(v.quorum()) == 0 {
		return nil // without a quorum nobody knows
	}

	var failed []Placed

	for _, m := range all {
		if _, ok := v.reached(m.Host); !ok && !slices.Contains(v.quorum(), m.ID) {
			failed = append(failed, m)
		}
	}

	return failed
}

// firstMons chooses the monitors of the first monmap.
func firstMons(w *Wanted) map[string]MonPlace {
	first := map[string]MonPlace{}
	addrs := map[string]string{}

	for i := range w.Mon.Count {
		if len(w.Mon.Hosts) == 0 || i >= len(w.Mon.Hosts) && !w.Mon.AllowMultiple {
			break
		}

		name := w.Mon.Hosts[i%len(w.Mon.Hosts)]

		for _, h := range w.Hosts {
			if h.Name == name {
				id := letter(i + 1)
				addrs[id] = w.monAddr(h, addrs)
				first[id] = MonPlace{Host: name, Addr: addrs[id]}
			}
		}
	}

	return first
}

// monAddr is the address of one more monitor on a host. Each further one on the same
// address gets the next ports.
func (w *Wanted) monAddr(h HostSpec, taken map[string]string) string {
	for k := 0; ; k++ {
		addrs := api.Addrs{{Type: "v2", Host: h.Address, Port: w.Network.Msgr2 + k}}
		if !w.Network.RequireMsgr2 && !w.Network.Encryption && !w.Network.Compression {
			addrs = append(addrs, api.Addr{Type: "v1", Host: h.Address, Port: w.Network.Msgr1 + k})
		}

		if !clashes(addrs, taken) {
			return addrs.String()
		}
	}
}

func clashes(addrs api.Addrs, taken map[string]string) bool {
	for _, text := range taken {
		others, _ := api.ParseAddrs(text)

		for _, o := range others {
			if slices.ContainsFunc(addrs, func(a api.Addr) bool { return a.Host == o.Host && a.Port == o.Port }) {
				return true
			}
		}
	}

	return false
}
