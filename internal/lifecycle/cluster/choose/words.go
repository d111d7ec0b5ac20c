// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"fmt"
	"strings"
)

func equalIDs(a, b string) bool { return strings.EqualFold(a, b) }

// words says why a host is refused, with what was found.
func (w *wish) words(r reason, v *view) string {
	switch n := &v.Node; r {
	case fits:
		return ""
	case notAvailable:
		return v.notAvailable()
	case inMaintenance:
		return "it is in maintenance" + because(cmp.Or(n.MaintenanceReason, n.Fault))
	case faulty:
		return "Ironic found a fault: " + n.Fault
	case retired:
		return "it is retired" + because(n.RetiredReason)
	case claimed:
		return "somebody else claims it (instance_uuid " + n.InstanceUUID + ")"
	case powerUnknown:
		return "Ironic does not know its power state"
	case unhealthy:
		return "it is marked unhealthy: " + v.Journal.UnhealthyReason()
	case held:
		return "it is " + v.hold.String()
	case notPinned:
		return "the machine is bound to host " + w.Pinned
	case notListed:
		return "it is none of the hosts that the host pool lists"
	case notSelected:
		if s := w.unselected(v); s != nil {
			return s.Why(v.labels)
		}

		return ""
	default:
		return w.unsuited(r, v)
	}
}

// notAvailable tells of a claim, too: it is what keeps most hosts from being available.
func (v *view) notAvailable() string {
	text := fmt.Sprintf("its provision state is %q, not \"available\"", v.Node.ProvisionState)
	if v.Node.InstanceUUID != "" {
		text += "; instance " + v.Node.InstanceUUID + " is on it"
	}

	return text
}

func (w *wish) unsuited(r reason, v *view) string {
	switch r {
	case fewCPUs:
		return lacks("processors", "cpus", v.cpus, w.Min.CPUs)
	case littleMemory:
		return lacks("MiB of memory", "memory_mb", v.memoryMiB, w.Min.MemoryMiB)
	case smallDisk:
		return lacks("GiB of root disk", "local_gb", v.rootGiB, w.Min.RootGiB)
	case otherArch:
		if v.arch == "" {
			return "its architecture is not known (cpu_arch of its properties), and " + w.Min.Arch + " is wanted"
		}

		return "its architecture is " + v.arch + ", not " + w.Min.Arch
	case fewNICs:
		return lacks("network ports", "", len(v.Ports), w.Min.NICs)
	case otherClass:
		return fmt.Sprintf("its resource class is %q, not %q", v.Node.ResourceClass, w.ResourceClass)
	case noTrait:
		return "it does not have the trait " + w.misses(v)
	default:
		return w.elsewhere(v)
	}
}

func (w *wish) elsewhere(v *view) string {
	wanted := fmt.Sprintf("%q", w.Domain)
	if w.Domain == "" {
		wanted = "one of " + quotedList(w.Domains)
	}

	if v.Journal.FailureDomain == "" {
		return "it is in no failure domain, and " + wanted + " is required"
	}

	return fmt.Sprintf("its failure domain is %q, not %s", v.Journal.FailureDomain, wanted)
}

func lacks(what, property string, have, want int) string {
	if have < 0 {
		return fmt.Sprintf("%s: it is not known how many it has (%s of its properties; an inspection finds out), and %d are wanted", what, property, want)
	}

	return fmt.Sprintf("%s: it has %d, and %d are wanted", what, have, want)
}

func because(why string) string {
	if why == "" {
		return ""
	}

	return " (" + why + ")"
}

// kinds say in general what [wish.words] says of one host, for many that differ in detail.
var kinds = map[reason]string{
	notAvailable:  "they are not available",
	inMaintenance: "they are in maintenance",
	faulty:        "Ironic found a fault",
	retired:       "they are retired",
	claimed:       "somebody else claims them",
	powerUnknown:  "Ironic does not know their power state",
	unhealthy:     "they are marked unhealthy",
	held:          "they are held for other machines",
	notPinned:     "the machine is bound to another host",
	notListed:     "the host pool does not list them",
	notSelected:   "the selectors do not match",
	fewCPUs:       "they have too few processors",
	littleMemory:  "they have too little memory",
	smallDisk:     "their root disks are too small",
	otherArch:     "they are of another architecture",
	fewNICs:       "they have too few network ports",
	otherClass:    "they are of another resource class",
	noTrait:       "they do not have all traits",
	otherDomain:   "they are in other failure domains",
	gone:          "they become other machines",
}
