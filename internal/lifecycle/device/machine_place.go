// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// Candidate is a host as placement sees it.
type Candidate struct {
	Host    Host
	State   fabric.State
	Power   fabric.Power
	Status  string
	Kept    int             // devices of ours that stay
	Extra   []fabric.Device // of the kind, there, and nobody's that we know
	Free    fabric.FreeInfo
	Claimed string   // id of another resource with devices of the kind there
	Models  []string // of all devices on the machine
	Problem string   // why it cannot be used, found before; empty: nothing
}

// Placement is what is added where.
type Placement struct {
	Host  int // index of the candidate
	Adopt []fabric.Device
	Add   int
}

// PlaceError says why no host, or not enough hosts, can take what is wanted.
type PlaceError struct {
	Want    int
	Reasons []string // one a host, in order
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("%d device(s) have no place: %s", e.Want, strings.Join(e.Reasons, "; "))
}

// Is makes errors.Is(err, ErrNoHost) true.
func (e *PlaceError) Is(target error) bool { return target == ErrNoHost }

// StrangersError lists devices that are there and that are not known to be ours.
type StrangersError struct {
	Host    Host
	Devices []fabric.Device
}

func (e *StrangersError) Error() string {
	return fmt.Sprintf("%s has %d device(s) of this kind that this resource does not know: %s", e.Host.Label(), len(e.Devices), ids(e.Devices))
}

// Is makes errors.Is(err, ErrExisting) true.
func (e *StrangersError) Is(target error) bool { return target == ErrExisting }

// keep splits what there is into what stays and what goes whatever the size: devices of
// another kind or on a host that is not wanted, and under samenode those beside the one host.
func keep(w Wanted, have []Record) (kept, wrong []Record) {
	home := home(w, have)

	for _, r := range have {
		fits := strings.EqualFold(r.Type, w.Type) && r.Model == w.Model && r.State != Missing
		listed := slices.ContainsFunc(w.Hosts, func(h Host) bool { return SameMachine(h.MachineID, r.MachineID) })

		switch {
		case !fits || !listed, w.Policy == SameNode && !SameMachine(r.MachineID, home):
			wrong = append(wrong, r)
		case w.Policy == DifferentNode && slices.ContainsFunc(kept, func(k Record) bool { return SameMachine(k.MachineID, r.MachineID) }):
			wrong = append(wrong, r)
		default:
			kept = append(kept, r)
		}
	}

	return kept, wrong
}

// home is the machine of a samenode resource: the first listed host that has devices of it.
func home(w Wanted, have []Record) string {
	for _, h := range w.Hosts {
		if slices.ContainsFunc(have, func(r Record) bool { return r.State != Missing && SameMachine(r.MachineID, h.MachineID) }) {
			return h.MachineID
		}
	}

	return ""
}

// victims picks n devices to go: those that the user named, then those that are of no use,
// then idle ones, then the oldest. Idle has only devices whose host could tell.
func victims(w Wanted, kept []Record, n int, idle map[string]bool) []Record {
	sorted := slices.Clone(kept)

	rank := func(r Record) int {
		switch free, told := idle[r.FabricID]; {
		case slices.ContainsFunc(w.DetachFirst, func(id string) bool { return strings.EqualFold(id, r.FabricID) || fabric.SameID(id, r.DeviceID) }):
			return 0
		case r.State == Missing || r.State == Failed:
			return 1
		case r.Health == fabric.HealthCritical:
			return 2
		case r.State != Online: // the host does not show it
			return 3
		case told && free:
			return 4
		case !told:
			return 5
		default:
			return 6
		}
	}

	slices.SortStableFunc(sorted, func(a, b Record) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.AttachedAt.Compare(b.AttachedAt), cmp.Compare(a.FabricID, b.FabricID))
	})

	return sorted[:min(n, len(sorted))]
}

// place finds hosts for need devices. It examines no host when there is nothing to place.
func place(w Wanted, all []Candidate, need int) ([]Placement, error) {
	switch {
	case need <= 0:
		return nil, nil
	case w.Policy == DifferentNode:
		return spread(w, all, need)
	default:
		return together(w, all, need)
	}
}

// together puts all on one host: the one that has devices, else the first that fits.
func together(w Wanted, all []Candidate, need int) ([]Placement, error) {
	var reasons []string

	for i, c := range all {
		if slices.ContainsFunc(all, func(o Candidate) bool { return o.Kept > 0 }) && c.Kept == 0 {
			continue // devices of one resource are never on two hosts
		}

		p := Placement{Host: i}

		why, err := fits(w, c, need, &p, c.Free.Count)
		if err != nil {
			return nil, err
		}

		if why == "" {
			return []Placement{p}, nil
		}

		reasons = append(reasons, c.Host.Label()+": "+why)
	}

	return nil, &PlaceError{need, reasons}
}

// spread puts one on each host. Hosts of one pool share what it has.
func spread(w Wanted, all []Candidate, need int) ([]Placement, error) {
	var (
		out     []Placement
		reasons []string
		used    = map[string]int{}
	)

	for i, c := range all {
		if len(out) == need {
			break
		}

		if c.Kept > 0 {
			reasons = append(reasons, c.Host.Label()+": has its device")

			continue
		}

		p := Placement{Host: i}

		why, err := fits(w, c, 1, &p, c.Free.Count-used[c.Free.FabricID])
		if err != nil {
			return nil, err
		}

		if why != "" {
			reasons = append(reasons, c.Host.Label()+": "+why)

			continue
		}

		used[c.Free.FabricID] += p.Add
		out = append(out, p)
	}

	if len(out) < need && (w.OnPartial != PartialKeep || len(out) == 0) {
		return nil, &PlaceError{need - len(out), reasons}
	}

	return out, nil
}

// fits tells why a host cannot take n devices; empty: it can, and p says how.
func fits(w Wanted, c Candidate, n int, p *Placement, free int) (why string, err error) {
	if why = unusable(w, c); why != "" {
		return why, nil
	}

	if len(c.Extra) > 0 {
		switch w.Existing {
		case ExistingAdopt:
			p.Adopt = c.Extra[:min(n, len(c.Extra))]
		case ExistingIgnore:
		default:
			return "", &StrangersError{c.Host, c.Extra}
		}
	}

	p.Add = n - len(p.Adopt)

	switch {
	case p.Add > 0 && len(c.Free.Models) > 0 && !slices.Contains(c.Free.Models, w.Model):
		return fmt.Sprintf("the manager offers it no model %q, only %s", w.Model, strings.Join(c.Free.Models, ", ")), nil
	case p.Add == 0 || !c.Free.Known || free >= p.Add:
	case w.OnPartial == PartialKeep && free+len(p.Adopt) > 0:
		// As many as there are: the run says what is missing.
	case c.Free.HasLimits:
		return fmt.Sprintf("needs %d more, and the machine's specification leaves %d (at most %d, %d there)", p.Add, max(free, 0), c.Free.Max, c.Free.Current), nil
	default:
		return fmt.Sprintf("needs %d more, and the pool has %d free", p.Add, max(free, 0)), nil
	}

	return "", nil
}

// unusable tells why a host cannot take any device.
func unusable(w Wanted, c Candidate) string {
	switch {
	case c.Problem != "":
		return c.Problem
	case c.State == fabric.Gone, c.State == fabric.Leaving, c.State == fabric.Failed:
		return "is not ready (machine status " + c.Status + ")"
	case c.Claimed != "":
		return "another resource of this configuration has devices of this type and model on it (" + c.Claimed + ")"
	}

	for _, m := range w.Exclusive {
		if m != w.Model && slices.Contains(c.Models, m) {
			return "has a device of model " + m + ", which exclusive_models keeps apart"
		}
	}

	return lacks(w.OtherSpec, c.Host.Capacity)
}

// lacks tells what a host has too little of.
func lacks(s *Spec, have *Capacity) string {
	switch {
	case s == nil:
		return ""
	case have == nil:
		return "its capacity is not given, which other_spec needs"
	case have.CPUMillis < s.MilliCPU:
		return fmt.Sprintf("has %d millicores, other_spec asks for %d", have.CPUMillis, s.MilliCPU)
	case have.MemoryBytes < s.Memory:
		return fmt.Sprintf("has %d bytes of memory, other_spec asks for %d", have.MemoryBytes, s.Memory)
	case have.StorageBytes < s.EphemeralStorage:
		return fmt.Sprintf("has %d bytes of storage, other_spec asks for %d", have.StorageBytes, s.EphemeralStorage)
	default:
		return ""
	}
}
