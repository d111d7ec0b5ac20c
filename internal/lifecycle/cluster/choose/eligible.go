// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Request is what one machine asks of its host.
type Request struct {
	Machine      string
	Cluster      string // namespace/name, as holds name it
	ClaimID      string
	Pool         string // name of the worker pool
	ControlPlane bool

	HostIDs   []string // with HostNames: the hosts that may be taken. Both nil: any; empty: none
	HostNames []string // a host's name, or its node's: namespace~name
	Selectors []Selector
	Pinned    string // id of the only host that will do

	Min           Hardware
	ResourceClass string
	Traits        []string

	Domain         string   // the failure domain that is asked for
	Domains        []string // without Domain: those that are; empty: all that hosts name
	DomainRequired bool     // refuse hosts elsewhere, rather than prefer the others
	Spread         bool     // balance the pool over failure domains; a control plane always is

	Selection string // see [Ordered]
}

// Hardware is the least that a host must have; zero values ask for nothing.
type Hardware struct {
	CPUs, MemoryMiB, RootGiB, NICs int
	Arch                           string
}

// The orders in which hosts are chosen among equals.
const (
	Ordered = "ordered"  // by name, node-2 before node-10; the default
	Random  = "random"   // by chance
	BestFit = "best_fit" // the least memory that suffices
)

// reason is the kind of a refusal.
type reason int

const (
	fits reason = iota
	notAvailable
	inMaintenance
	faulty
	retired
	claimed
	powerUnknown
	unhealthy
	held
	notPinned
	notListed
	notSelected
	fewCPUs
	littleMemory
	smallDisk
	otherArch
	fewNICs
	otherClass
	noTrait
	otherDomain
	gone // taken by another machine of the same run
)

// check returns the first reason for which a host is not eligible.
func (w *wish) check(v *view, now time.Time) reason {
	if r := usable(v); r != fits {
		return r
	}

	if r := w.owned(v, now); r != fits {
		return r
	}

	if r := w.named(v); r != fits {
		return r
	}

	if w.unselected(v) != nil {
		return notSelected
	}

	return w.suits(v)
}

// usable looks at what is the same for all machines.
func usable(v *view) reason {
	switch n := &v.Node; {
	case !v.Offered():
		return notAvailable
	case n.Maintenance:
		return inMaintenance
	case n.Fault != "":
		return faulty
	case n.Retired:
		return retired
	case n.PowerState == "":
		return powerUnknown
	case v.Journal.UnhealthyReason() != "":
		return unhealthy
	default:
		return fits
	}
}

// owned looks at whose the host is.
func (w *wish) owned(v *view, now time.Time) reason {
	switch {
	case v.Node.InstanceUUID != "" && v.Node.InstanceUUID != w.ClaimID:
		return claimed
	case v.held && !v.hold.Expired(now) && !v.hold.Of(w.Cluster, w.Machine):
		return held
	default:
		return fits
	}
}

// named looks at which hosts were meant.
func (w *wish) named(v *view) reason {
	switch {
	case w.Pinned != "" && !equalIDs(w.Pinned, v.Node.UUID):
		return notPinned
	case !w.lists(v):
		return notListed
	default:
		return fits
	}
}

// suits looks at what the host is.
func (w *wish) suits(v *view) reason {
	switch m := &w.Min; {
	case m.CPUs > 0 && v.cpus < m.CPUs:
		return fewCPUs
	case m.MemoryMiB > 0 && v.memoryMiB < m.MemoryMiB:
		return littleMemory
	case m.RootGiB > 0 && v.rootGiB < m.RootGiB:
		return smallDisk
	case w.archKey != "" && w.archKey != v.archKey:
		return otherArch
	case m.NICs > len(v.Ports):
		return fewNICs
	case w.ResourceClass != "" && v.Node.ResourceClass != w.ResourceClass:
		return otherClass
	case w.misses(v) != "":
		return noTrait
	case w.DomainRequired && !w.inDomain(v):
		return otherDomain
	default:
		return fits
	}
}

// Refusal returns the first reason for which a host cannot become a machine now, as a
// sentence about the host without an end; empty where it is eligible.
func Refusal(r Request, s host.Seen, now time.Time) string {
	w, v := newWish(r), look(s, len(r.Selectors) > 0)

	return w.words(w.check(&v, now), &v)
}
