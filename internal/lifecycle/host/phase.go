// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"maps"

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
func (j Journal) settled(w Wanted, goal Goal, n ironic.Node) bool {
	if goal == Deleted {
		return true
	}

	if j.Phase != PhaseOf(goal) || !j.Ours(w.OwnerID) {
		return false
	}

	want := j.settings(w)

	return j.Namespace == want.Namespace && j.Name == want.Name && j.FailureDomain == want.FailureDomain &&
		j.FabricMachineID == want.FabricMachineID && maps.Equal(j.Labels, want.Labels) && maps.Equal(j.Annotations, want.Annotations) &&
		(w.RebootTrigger == "" || j.RebootTrigger == w.RebootTrigger) && (w.InspectTrigger == "" || j.InspectTrigger == w.InspectTrigger) &&
		(n.ProvisionState != ironic.Active || goal != Provisioned || w.Reprovision.TriggersSHA256 == j.TriggersSHA256) && !j.Adopt
}

// settings returns the journal with the settings that w wants.
func (j Journal) settings(w Wanted) Journal {
	j.Version, j.ManagedBy, j.OwnerID = journalVersion, ManagedBy, w.OwnerID
	j.Namespace, j.Name = w.Namespace, w.Name
	j.Labels, j.Annotations = w.Labels, w.Annotations
	j.FailureDomain, j.FabricMachineID = w.FailureDomain, w.FabricMachineID

	return j
}

// finished returns the journal of a host that has reached its goal.
func (j Journal) finished(w Wanted, goal Goal) Journal {
	j = j.settings(w)
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
