// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"maps"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// Phase is a stage of a host's life, in the spelling of the baremetal-operator's
// status.provisioning.state.
type Phase string

// The phases.
const (
	PhaseRegistering           Phase = "registering"
	PhaseInspecting            Phase = "inspecting"
	PhasePreparing             Phase = "preparing"
	PhaseAvailable             Phase = "available"
	PhaseProvisioning          Phase = "provisioning"
	PhaseProvisioned           Phase = "provisioned"
	PhaseExternallyProvisioned Phase = "externally provisioned"
	PhaseDeprovisioning        Phase = "deprovisioning"
	PhasePoweringOff           Phase = "powering off before delete"
	PhaseDeleting              Phase = "deleting"
)

// Phases lists all phases in the order of a host's life.
var Phases = []Phase{
	PhaseRegistering, PhaseInspecting, PhasePreparing, PhaseAvailable, PhaseProvisioning, PhaseProvisioned,
	PhaseExternallyProvisioned, PhaseDeprovisioning, PhasePoweringOff, PhaseDeleting,
}

// PhaseOf is the phase in which a host rests that has reached a goal.
func PhaseOf(g Goal) Phase {
	switch g {
	case Provisioned:
		return PhaseProvisioned
	case Available:
		return PhaseAvailable
	case ExternallyProvisioned:
		return PhaseExternallyProvisioned
	default:
		return PhaseDeleting
	}
}

// Finished reports whether a phase is one in which an apply ends.
func (p Phase) Finished() bool {
	return p == PhaseAvailable || p == PhaseProvisioned || p == PhaseExternallyProvisioned
}

// ends reports whether a phase is one of a delete.
func (p Phase) ends() bool {
	return p == PhaseDeprovisioning || p == PhasePoweringOff || p == PhaseDeleting
}

// phaseOfStep is the phase that a step enters; empty for steps that belong to any phase.
func phaseOfStep(s Step) Phase {
	switch s {
	case Register, Manage:
		return PhaseRegistering
	case Inspect:
		return PhaseInspecting
	case Deploy, Rebuild, Provide:
		return PhaseProvisioning
	case Undeploy:
		return PhaseDeprovisioning
	case Unclaim, Remove:
		return PhaseDeleting
	default:
		return ""
	}
}

// settled reports whether the journal says what a host that has reached its goal says.
func (s Seen) settled(w Wanted, goal Goal, m memory) bool {
	j := s.Journal

	switch {
	case goal == Deleted:
		return true
	case !j.Ours(w.OwnerID) || !j.hasSettings(w):
		return false
	case s.consumed(w, goal):
		return true // phase and deployment are the consumer's
	case s.rebootWanted(w, goal, m):
		w.RebootTrigger = j.RebootTrigger // noted once the machine was rebooted
	}

	return j.Phase == PhaseOf(goal) && !j.Adopt &&
		(w.RebootTrigger == "" || j.RebootTrigger == w.RebootTrigger) && (w.InspectTrigger == "" || j.InspectTrigger == w.InspectTrigger) &&
		(s.Node.ProvisionState != ironic.Active || goal != Provisioned || w.Reprovision.TriggersSHA256 == j.TriggersSHA256)
}

func (j Journal) hasSettings(w Wanted) bool {
	want := j.settings(w)

	return j.Namespace == want.Namespace && j.Name == want.Name && j.FailureDomain == want.FailureDomain &&
		j.FabricMachineID == want.FabricMachineID && maps.Equal(j.Labels, want.Labels) && maps.Equal(j.Annotations, want.Annotations)
}

// settings returns the journal with the settings that w wants.
func (j Journal) settings(w Wanted) Journal {
	j.Version, j.ManagedBy, j.OwnerID = journalVersion, ManagedBy, w.OwnerID
	j.Namespace, j.Name = w.Namespace, w.Name
	j.Labels, j.Annotations = w.Labels, w.Annotations
	j.FailureDomain, j.FabricMachineID = w.FailureDomain, w.FabricMachineID

	return j
}

// finished returns the journal of a host that has reached its goal at a time.
func (s Seen) finished(w Wanted, goal Goal, m memory, at time.Time) Journal {
	if s.rebootWanted(w, goal, m) {
		w.RebootTrigger = s.Journal.RebootTrigger // noted once the machine was rebooted
	}

	j := s.Journal.settings(w)
	if j.Phase != PhaseOf(goal) {
		j.PhaseStarted = stamp(at)
	}

	j.Phase, j.Adopt, j.InspectBefore = PhaseOf(goal), false, ""
	j.Fingerprint = w.Fingerprint()
	j.RebootTrigger, j.InspectTrigger = w.RebootTrigger, w.InspectTrigger

	switch goal {
	case Provisioned:
		j.TriggersSHA256 = w.Reprovision.TriggersSHA256
		if w.Reprovision.Record {
			j.Applied = WantedApplied(w)
		}
	case Available:
		// What had been deployed is gone; a later deployment starts from nothing.
		j.Applied, j.TriggersSHA256 = Applied{}, ""
	default: // what was deployed by others is not ours to note
	}

	return j
}
