// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// Facts is all that the table looks at.
type Facts struct {
	State, Target      ironic.State
	LastError          string
	Fault              string
	Maintenance        bool
	Power, PowerTarget ironic.Power
	PowerError         string // why the last power request of this run failed
	Pressing           bool   // Ironic may not have begun with it yet

	Protected, Retired             bool
	ProtectedReason, RetiredReason string

	Claim    ClaimKind
	ClaimID  string
	Consumed bool   // somebody else deploys on this host
	NotOurs  string // why nothing may be destroyed; empty: it is proved to be ours
	Stranger string // why not even settings may be written

	InSync           bool   // settings and journal are as wanted
	Differs          string // names of the settings that are not
	VerifyBMC        bool   // credentials were just written and have to be tried
	NeedsInspection  bool
	NeedsExamination bool // an inventory is there and was not taken over yet
	CleaningDisabled bool

	WasDeployed bool   // the record was made anew for a machine that runs
	Unmanaged   bool   // runs an operating system that is not ours, and nobody asked to overwrite it
	AsWanted    bool   // runs what is wanted
	Difference  string // what of the deployment differs
	Consent     bool   // the plan said that the disk will be overwritten
	Rebuild     bool   // re-image by Ironic's rebuild
	External    bool   // nothing of ours is deployed on it

	WantOn, PowerIgnored, RebootWanted bool

	Policy        string
	Force         bool
	PowerOffFirst bool

	Tenant bool // what is deployed belongs to a machine of a cluster, all else to whoever registered the host

	Tried    map[Step]int // how often this run did each step
	Attempts int          // deployments that one run may begin
}

// The deletion policies.
const (
	PolicyDeprovision = "deprovision"
	PolicyPowerOff    = "power_off"
	PolicyDetach      = "detach"
)

// ClaimKind says whose a host's claim is.
type ClaimKind int

// Whose a claim is.
const (
	ClaimNone ClaimKind = iota
	ClaimOurs
	ClaimForeign
)

// resting are the states in which Ironic takes changes of a record and nothing is under way.
var resting = []ironic.State{
	ironic.Enroll, ironic.Manageable, ironic.Available, ironic.Active, ironic.InspectFailed, ironic.CleanFailed,
	ironic.DeployFailed, ironic.Error, ironic.AdoptFailed, ironic.RescueFailed, ironic.UnrescueFailed, ironic.ServiceFailed,
	ironic.Rescue,
}

// Resting reports whether nothing is under way in a state.
func Resting(s ironic.State) bool { return slices.Contains(resting, s) }

// memory is what one run adds to what is seen.
type memory struct {
	tried       map[Step]int
	powerError  string
	pressing    bool // the last power request may not have begun
	rewritten   bool // driver_info was sent again
	verified    bool // the BMC's credentials were tried after they were written
	provedOwned bool // this run made the record
}

// Observe turns a look into facts.
func Observe(s Seen, w Wanted, goal Goal, differs []string, m memory) Facts {
	n, j := s.Node, s.Journal

	f := Facts{
		State: n.ProvisionState, Target: n.TargetProvisionState, LastError: n.LastError, Fault: n.Fault,
		Maintenance: n.Maintenance, Power: n.PowerState, PowerTarget: n.TargetPowerState, PowerError: m.powerError, Pressing: m.pressing,
		Protected: n.Protected && n.ProtectedReason != ProtectedReason, ProtectedReason: n.ProtectedReason,
		Retired: n.Retired, RetiredReason: n.RetiredReason,
		Claim: s.claim(w), ClaimID: n.InstanceUUID,
		VerifyBMC:        (w.BMC.Rewrite || m.rewritten) && !w.BMC.Untried && !m.verified && m.tried[VerifyBMC] == 0 && n.ProvisionState != ironic.Enroll,
		CleaningDisabled: w.CleaningMode == "disabled",
		WasDeployed:      j.Adopt, External: !s.Deployed(),
		Consent: w.Reprovision.Consent, Rebuild: w.Reprovision.Method == "rebuild" && w.Image != nil && w.Image.Format != image.LiveISO,
		WantOn: w.Online, PowerIgnored: w.OnlineIgnored,
		RebootWanted: s.rebootWanted(w, goal, m),
		Policy:       w.Deletion.Policy, Force: w.Deletion.Force, PowerOffFirst: w.Deletion.PowerOff,
		Tried: m.tried, Attempts: w.ProvisionAttempts,
	}

	f.Consumed = s.consumed(w, goal)
	f.InSync, f.Differs = len(differs) == 0 && s.settled(w, goal, m), strings.Join(differs, ", ")
	f.NotOurs, f.Stranger = s.ownership(w, m)
	f.NeedsInspection, f.NeedsExamination = s.inspection(w)

	if n.ProvisionState == ironic.Active {
		diff := Differences(s.Applied(), j.TriggersSHA256, w)
		f.AsWanted, f.Difference = len(diff) == 0, strings.Join(diff, ", ")
		f.Unmanaged = f.External && !slices.Contains(diff, "reprovision_triggers")

		if w.Reprovision.Record {
			f.AsWanted, f.Unmanaged = true, false
		}
	}

	if w.Tenancy != nil {
		f = f.asTenant(s, w)
	}

	return f
}

// consumed reports whether somebody else deploys on the host. One without an image here on
// which something runs that no plan spoke of is somebody else's, also where no claim says so.
func (s Seen) consumed(w Wanted, goal Goal) bool {
	return s.claim(w) == ClaimForeign || (goal == Available && Running(s.Node.ProvisionState) && !w.Reprovision.Consent)
}

// Running reports whether something that was deployed is on a host in this state.
func Running(s ironic.State) bool {
	switch s {
	case ironic.Active, ironic.Servicing, ironic.ServiceWait, ironic.ServiceHold, ironic.ServiceFailed, ironic.Rescuing, ironic.RescueWait,
		ironic.Rescue, ironic.RescueFailed, ironic.Unrescuing, ironic.UnrescueFailed:
		return true
	default:
		return false
	}
}

// rebootWanted reports whether a new reboot_trigger asks for a reboot that did not happen
// yet. A machine that is off, or will be, needs none.
func (s Seen) rebootWanted(w Wanted, goal Goal, m memory) bool {
	j := s.Journal

	return w.RebootTrigger != "" && w.RebootTrigger != j.RebootTrigger && m.tried[Reboot] == 0 && j.Known() && goal != Deleted && j.Phase == PhaseOf(goal) &&
		w.Online && !w.OnlineIgnored && s.Node.PowerState != ironic.PowerOff
}

// claim says whose the host's claim is.
func (s Seen) claim(w Wanted) ClaimKind {
	switch s.Node.InstanceUUID {
	case "":
		return ClaimNone
	case w.claim():
		return ClaimOurs
	case s.Journal.Applied.InstanceUUID:
		if w.Tenancy != nil {
			return ClaimForeign // the host's own
		}

		return ClaimOurs
	default:
		return ClaimForeign
	}
}

// ownership says why nothing may be destroyed, and why not even settings may be written.
func (s Seen) ownership(w Wanted, m memory) (notOurs, stranger string) {
	switch {
	case m.provedOwned || s.Journal.Ours(w.OwnerID):
		return "", ""
	case !s.Journal.Known():
		return "the node carries no mark of this provider; run `terraform apply` once, which records that it belongs to this configuration, " +
			"or take it out of the state with `terraform state rm`", ""
	default:
		why := "the node belongs to owner_id " + quoted(s.Journal.OwnerID) + ", and this provider's owner_id is " + quoted(w.OwnerID)

		return why, why
	}
}

func quoted(s string) string { return `"` + s + `"` }

// inspection says whether the machine has to be inspected, or an inventory to be taken over.
func (s Seen) inspection(w Wanted) (needs, examine bool) {
	n, j := s.Node, s.Journal
	if w.InspectionMode == "disabled" || w.External || j.Adopt || n.ProvisionState == ironic.Active {
		return false, false
	}

	finished := stamp(n.InspectionFinishedAt)
	if finished == "" || (j.Phase == PhaseInspecting && j.InspectBefore == finished) {
		return true, false
	}

	if w.InspectTrigger != "" && w.InspectTrigger != j.InspectTrigger && j.Known() && j.InspectedAt == finished {
		return true, false
	}

	return false, j.InspectedAt != finished
}

// stamp writes a time of the far side as the journal keeps it; zero is empty.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}

	return t.UTC().Format(time.RFC3339Nano)
}
