// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// What a host must have before a cluster is made on it.
const (
	minFree      = 1 << 30 // bytes, for a monitor's store
	minFreeShare = 0.05
	// maxSkew in nanoseconds: monitors warn at 0.05 s (mon_clock_drift_allowed); a fifth of that is left.
	maxSkew  = 40_000_000
	oldest   = 16 // major versions that were tried
	youngest = 20
)

// programs are what a host with a role needs.
func programs(roles []string) []string {
	all := []string{"ceph"}

	for _, role := range roles {
		switch role {
		case RoleMon:
			all = append(all, "ceph-mon", "monmaptool")
		case RoleMgr:
			all = append(all, "ceph-mgr")
		case RoleOSD:
			all = append(all, "ceph-osd", "ceph-bluestore-tool")
		}
	}

	return all
}

// MissingPrograms lists by host what packages have to bring.
func MissingPrograms(w *Wanted, s *Seen) map[string][]string {
	out := map[string][]string{}

	for _, h := range w.Hosts {
		seen, ok := s.Hosts[h.Name]
		if !ok || seen.Err != nil {
			continue
		}

		for _, p := range programs(h.Roles) {
			if seen.Programs[p] == "" {
				out[h.Name] = append(out[h.Name], p)
			}
		}
	}

	return out
}

// Problems lists everything that stands in the way, of all hosts at once. At the creation a
// host that does not answer is one; later what can be done without it is done.
func Problems(w *Wanted, s *Seen, create bool) []string {
	var out []string

	if n := len(w.Mon.Hosts); w.Mon.Count > n && !w.Mon.AllowMultiple && w.External == nil {
		out = append(out, fmt.Sprintf("cannot start %d mons on %d node(s) when allow_multiple_per_host is false", w.Mon.Count, n))
	}

	for _, h := range w.Hosts {
		seen := s.Hosts[h.Name]
		if seen.Err != nil {
			if create || seen.Odd {
				out = append(out, h.Name+": "+seen.Err.Error())
			}

			continue
		}

		for _, p := range hostProblems(w, h, seen.Facts) {
			out = append(out, h.Name+": "+p)
		}
	}

	out = append(out, versionProblems(w, s, create)...)
	out = append(out, skew(w, s)...)

	for _, p := range s.Choice.Problems {
		out = append(out, p.Error())
	}

	return out
}

func hostProblems(w *Wanted, h HostSpec, f Facts) []string {
	var out []string

	if !strings.EqualFold(f.Hostname, h.Name) {
		out = append(out, fmt.Sprintf("the host calls itself %q (uname -n): the key in hosts must be that name, because Ceph uses it in the CRUSH map", f.Hostname))
	}

	var missing []string

	for _, p := range programs(h.Roles) {
		if f.Programs[p] == "" {
			missing = append(missing, p)
		}
	}

	if len(missing) > 0 {
		out = append(out, "these programs are missing: "+strings.Join(missing, ", ")+". Install the packages that have them, or set packages = \"install\"")
	}

	if f.Closed != "" {
		out = append(out, fmt.Sprintf("the daemons' user ceph cannot enter %s, which is above data_dir: give it the x permission there, or choose another data_dir", f.Closed))
	}

	if slices.Contains(h.Roles, RoleMon) && f.Total > 0 && (f.Free < minFree || float64(f.Free) < minFreeShare*float64(f.Total)) {
		out = append(out, fmt.Sprintf("%d MiB of %d MiB are free where %s is: a monitor needs 1 GiB and 5 %%", f.Free>>20, f.Total>>20, w.Dir))
	}

	for _, p := range f.Ports {
		if !p.Ours && slices.Contains(w.Mon.Hosts, h.Name) {
			by := ""
			if p.Process != "" {
				by = " by " + p.Process
			}

			out = append(out, fmt.Sprintf("port %d is taken%s: end that, or choose other network.ports", p.Port, by))
		}
	}

	return append(out, leftoverProblems(w, f)...)
}

func leftoverProblems(w *Wanted, f Facts) []string {
	if w.Takeover.WipeForeignData {
		return nil
	}

	var out []string

	for _, l := range f.Leftovers {
		whose := "of an unknown cluster"
		if l.FSID != "" {
			whose = "of cluster " + l.FSID
		}

		out = append(out, fmt.Sprintf("%s holds the %s %s: nothing of it is touched. Move it away, choose another data_dir, or set takeover.wipe_foreign_data to have it deleted", l.Path, l.What, whose))
	}

	return out
}

// versionProblems compares what the hosts have with each other and with the constraint. Once
// a cluster runs, hosts may differ: that is an upgrade on its way.
func versionProblems(w *Wanted, s *Seen, create bool) []string {
	var (
		out  []string
		seen = map[string][]string{}
	)

	limit, err := api.ParseConstraint(w.Version)
	if err != nil {
		return []string{"ceph_version: " + err.Error()}
	}

	for _, h := range w.Hosts {
		f := s.Hosts[h.Name]
		if f.Err != nil || f.Version == "" {
			continue
		}

		v, err := api.ParseVersion(f.Version)
		if err != nil {
			out = append(out, h.Name+": "+err.Error())

			continue
		}

		seen[v.String()] = append(seen[v.String()], h.Name)

		switch {
		case !limit.Allows(v):
			out = append(out, fmt.Sprintf("%s: Ceph is %s, and ceph_version asks for %s", h.Name, v, w.Version))
		case (v.Major < oldest || v.Major > youngest) && !w.AllowUnsupported:
			out = append(out, fmt.Sprintf("%s: allow_unsupported_version must be set to true to run with this version %q", h.Name, v))
		}
	}

	if create && len(seen) > 1 {
		var words []string
		for _, v := range sortedKeys(seen) {
			words = append(words, v+" on "+strings.Join(seen[v], ", "))
		}

		out = append(out, "the hosts have different versions of Ceph: "+strings.Join(words, "; "))
	}

	return out
}

// skew compares the clocks of all hosts of monitors; only what is certain counts.
func skew(w *Wanted, s *Seen) []string {
	var out []string

	for i, a := range w.Mon.Hosts {
		for _, b := range w.Mon.Hosts[i+1:] {
			x, y := s.Hosts[a], s.Hosts[b]
			if x.Err != nil || y.Err != nil || x.Hostname == "" || y.Hostname == "" {
				continue
			}

			off := x.Clock - y.Clock
			if abs(off) > x.ClockBy+y.ClockBy+maxSkew {
				out = append(out, fmt.Sprintf("the clocks of %s and %s are %s apart: monitors need less than 0.05 s; start a time service on both", a, b, abs(off).Round(1_000_000)))
			}
		}
	}

	return out
}

func abs[T ~int64](d T) T {
	if d < 0 {
		return -d
	}

	return d
}
