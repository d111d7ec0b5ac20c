// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// The cells of the table, in the order in which a host's life meets them.

func always(s Step) cell { return func(Facts) (Step, error) { return s, nil } }

var (
	await    = always(Wait)
	register = always(Register)
	abort    = always(Abort)
)

// inspect looks at the machine's hardware again.
func inspect(f Facts) (Step, error) { return withoutMaintenance(f, Inspect), nil }

func stop(Facts) (Step, error) { return Stop, nil }

// guard answers what holds in every state, before the table is asked.
func guard(f Facts, goal Goal) (Step, error) {
	if err := tenantGuard(f, goal); err != nil {
		return "", err
	}

	switch {
	case f.State == "":
		return "", nil
	case f.Stranger != "" && goal != Deleted:
		return "", &StuckError{f.State, goal, f.Stranger}
	case f.NotOurs != "" && goal == Deleted:
		return "", &StuckError{f.State, goal, f.NotOurs}
	case f.Protected && goal == Deleted:
		return "", &StuckError{f.State, goal, "the node is protected in Ironic (" + f.ProtectedReason + "); unset that first, the provider never does"}
	case f.Consumed && goal == Deleted && !f.Force:
		return "", &StuckError{f.State, goal, "the node is claimed by instance " + f.ClaimID + ", which is not this host's; remove that consumer first"}
	case f.Consumed && goal == Provisioned && (f.State != ironic.Active || !f.AsWanted):
		return "", &StuckError{f.State, goal, "the node is claimed by instance " + f.ClaimID + ", which is not this host's; remove that consumer first"}
	case f.Consumed && goal == Available:
		return consumed(f)
	case f.Fault == faultPower && (goal != Deleted || f.Policy != PolicyDetach && !f.Force):
		// Ironic mends this by itself once the BMC answers again; the wait has a bound.
		return Wait, nil
	default:
		return "", nil
	}
}

// consumed is a host on which somebody else deploys: only its inventory is kept here.
func consumed(f Facts) (Step, error) {
	switch {
	case f.InSync:
		return Stop, nil
	case Resting(f.State):
		return configure(f)
	default:
		return Wait, nil
	}
}

// manage brings a host under management. A host that fell back to enroll was refused by its BMC.
func manage(f Facts) (Step, error) {
	if f.State == ironic.Enroll && f.Tried[Manage] > 0 && RefusedCredentials(f.LastError) {
		return "", &FailedError{Step: Manage, State: f.State, LastError: f.LastError, Attempts: f.Tried[Manage]}
	}

	return withoutMaintenance(f, Manage), nil
}

// inspected is the rest of a host that is to be available: managed, with an inventory.
func inspected(f Facts) (Step, error) {
	if f.WasDeployed {
		return adopt(f) // it runs; only an active host can be undeployed and cleaned
	}

	if f.NeedsInspection {
		return withoutMaintenance(f, Inspect), nil
	}

	if f.NeedsExamination {
		return Examine, nil
	}

	return rest(f)
}

// prepared leads from a managed host towards a deployment.
func prepared(f Facts) (Step, error) {
	// A host that had been deployed and whose record was lost and made anew is adopted:
	// inspecting it would boot a ramdisk on a machine that runs, providing it clean its disk.
	if f.WasDeployed {
		return adopt(f)
	}

	if f.NeedsInspection || f.NeedsExamination {
		return inspected(f)
	}

	if f.Retired {
		return retired(f)
	}

	return withoutMaintenance(f, Provide), nil
}

func retired(f Facts) (Step, error) {
	return "", &StuckError{f.State, Provisioned, "the node is retired (" + f.RetiredReason + "), and Ironic provides no retired node; unset that first"}
}

// offered is the rest of a host that Ironic offers for deployments.
func offered(f Facts) (Step, error) {
	if f.NeedsInspection {
		return withoutMaintenance(f, Manage), nil
	}

	if f.NeedsExamination {
		return Examine, nil
	}

	return rest(f)
}

// deploy puts the wanted image on an available host.
func deploy(f Facts) (Step, error) {
	switch {
	case f.NeedsInspection:
		return withoutMaintenance(f, Manage), nil
	case f.NeedsExamination:
		return Examine, nil
	default:
		return withoutMaintenance(f, Deploy), nil
	}
}

// deployAgain follows a failed deployment: Ironic takes the verb again in place, so neither
// the claim nor the config drive is lost to an undeploy in between.
func deployAgain(f Facts) (Step, error) { return withoutMaintenance(f, Deploy), nil }

// deployed is the rest of a host that runs the wanted image.
func deployed(f Facts) (Step, error) {
	switch {
	case f.Unmanaged:
		return "", &StuckError{f.State, Provisioned, "the host runs an operating system that this provider did not put there; " +
			"set externally_provisioned = true to leave it alone, or change reprovision_triggers to overwrite it"}
	case f.AsWanted:
		return rest(f)
	case !f.Consent:
		return "", &StuckError{f.State, Provisioned, "the disk would have to be overwritten (" + f.Difference + "), and the plan did not say so; plan again"}
	case f.Protected:
		return undeploy(f) // says so
	case f.Retired && !f.Rebuild:
		// The way from here leads over provide, which Ironic refuses: the host would be wiped and stay so.
		return retired(f)
	case f.Rebuild:
		return withoutMaintenance(f, Rebuild), nil
	default:
		return undeploy(f)
	}
}

// vacate undeploys a host of which the image was taken out of the configuration.
func vacate(f Facts) (Step, error) {
	if !f.Consent {
		return "", &StuckError{f.State, Available, "something runs on the host, and the plan did not say that it would be wiped; plan again"}
	}

	return undeploy(f)
}

// undeploy undeploys what is proved to be ours.
func undeploy(f Facts) (Step, error) {
	switch {
	case f.NotOurs != "":
		return "", &StuckError{f.State, Deleted, f.NotOurs}
	case f.Protected:
		return "", &StuckError{f.State, Deleted, "the node is protected in Ironic (" + f.ProtectedReason + "); unset that first, the provider never does"}
	case f.Maintenance && f.Fault != faultPower && !f.CleaningDisabled && f.Tried[Undeploy] == 0:
		// Ironic takes the verb in maintenance, but then hears no heartbeat of the ramdisk: the
		// cleaning would wait for ever.
		return Unmaintain, nil
	default:
		return Undeploy, nil
	}
}

// rest is a state in which the host stays: settings and power are brought in line.
func rest(f Facts) (Step, error) {
	switch {
	case f.VerifyBMC && f.InSync:
		return VerifyBMC, nil
	case f.Tried[Reboot] > 0 && (f.Pressing || f.PowerTarget != ""):
		return Wait, nil
	case f.Tried[Reboot] > 0 && f.Tried[On] == 0 && f.Power == ironic.PowerOn && f.PowerError != "":
		return "", &FailedError{Step: Reboot, State: f.State, LastError: f.PowerError, Attempts: f.Tried[Reboot]}
	case !f.InSync:
		return configure(f)
	default:
		return power(f)
	}
}

// configure writes settings a few times: a far side that keeps something else than it was
// sent would be written to for ever.
func configure(f Facts) (Step, error) {
	const most = 6

	if f.Tried[Configure] >= most {
		return "", &StuckError{f.State, Available, "the node does not keep the settings that were written (" + f.Differs + ")"}
	}

	return Configure, nil
}

// power brings the power state in line; what is neither on nor off means "keep waiting".
func power(f Facts) (Step, error) {
	if f.PowerIgnored || f.PowerTarget != "" {
		if f.PowerTarget != "" && !f.PowerIgnored {
			return Wait, nil
		}

		return Stop, nil
	}

	switch {
	case f.NotOurs != "" && (f.RebootWanted || !f.WantOn && f.Power != ironic.PowerOff):
		return "", &StuckError{f.State, Available, f.NotOurs}
	case f.RebootWanted && f.Power == ironic.PowerOn && f.WantOn:
		return Reboot, nil
	case f.WantOn && f.Power == ironic.PowerOn, !f.WantOn && f.Power == ironic.PowerOff:
		return Stop, nil
	case f.WantOn:
		return press(f, On)
	case f.Tried[SoftOff] == 0 && f.Power == ironic.PowerOn:
		return SoftOff, nil
	case f.Tried[SoftOff] > 0 && f.PowerError == "" && f.Tried[Off] == 0:
		return Wait, nil // the soft request is still with the operating system
	default:
		return press(f, Off)
	}
}

// press asks once, waits while the state is unknown, and asks again only after a failure.
func press(f Facts, s Step) (Step, error) {
	switch {
	case f.Tried[s] == 0:
		return s, nil
	case f.PowerError == "":
		return Wait, nil
	case f.Tried[s] >= powerAttempts:
		return "", &FailedError{Step: s, State: f.State, LastError: f.PowerError, Attempts: f.Tried[s]}
	default:
		return s, nil
	}
}

// powerAttempts is how often one run asks for a power state that fails.
const powerAttempts = 3

// adopt makes Ironic treat the host as deployed, without touching its disk. Nothing is
// inspected before: the machine runs, and an inspection boots a ramdisk.
func adopt(f Facts) (Step, error) { return withoutMaintenance(f, Adopt), nil }

func adoptAgain(f Facts) (Step, error) {
	if f.WasDeployed || f.External {
		return adopt(f)
	}

	return manage(f)
}

// cleanAgain cleans a host once more that was to be offered.
func cleanAgain(f Facts) (Step, error) {
	if f.Tried[Provide] >= provideAttempts {
		return "", &FailedError{Step: Provide, State: f.State, LastError: f.LastError, Attempts: f.Tried[Provide]}
	}

	return recoverClean(f)
}

// recoverClean takes a host out of clean failed. Maintenance survives manage and would
// block the next cleaning, so it goes first.
func recoverClean(f Facts) (Step, error) { return withoutMaintenance(f, Manage), nil }

// abortService brings a host back to active whose servicing failed.
func abortService(f Facts) (Step, error) { return withoutMaintenance(f, Abort), nil }

// broken is a failed deployment on a host that is said to run what somebody else put on it.
func broken(f Facts) (Step, error) {
	return "", &StuckError{f.State, ExternallyProvisioned, "an externally provisioned host is never undeployed; undeploy it in Ironic, or take externally_provisioned out of the configuration"}
}

// held is a host that an operator holds at a step: it goes on when the operator says so.
func held(Facts) (Step, error) { return Wait, nil }

// rescued is a host that somebody works on.
func rescued(f Facts) (Step, error) {
	return "", &StuckError{f.State, Provisioned, "the host is in rescue; unrescue it first, the provider does not end somebody's repair"}
}

// withoutMaintenance puts the end of maintenance before a verb that Ironic refuses in maintenance.
func withoutMaintenance(f Facts, s Step) Step {
	if f.Maintenance {
		return Unmaintain
	}

	return s
}

// withMaintenance puts maintenance before the removal of a record in a state that forbids it.
func withMaintenance(f Facts, s Step) Step {
	if !f.Maintenance {
		return Maintain
	}

	return s
}

// faultPower is Ironic's fault of a machine whose power state cannot be read.
const faultPower = "power failure"

// RefusedCredentials reports whether Ironic's words say that a BMC refused the user or the
// password: trying again would only lock the account. A bare number is not enough: it may
// be part of a UUID.
func RefusedCredentials(lastError string) bool {
	l := strings.ToLower(lastError)

	return strings.Contains(l, "code 401") || strings.Contains(l, "code 403") || strings.Contains(l, "unauthorized") ||
		strings.Contains(l, "authentication") || strings.Contains(l, "password") || strings.Contains(l, "credential")
}
