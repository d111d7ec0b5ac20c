// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"

// The cells of the last column: how a host ends. That it is ours, and not protected, the
// guard has made sure of.

// end leads from a host with nothing on it to no record.
func end(f Facts) (Step, error) {
	switch {
	case f.Policy == PolicyDetach:
		return unclaimed(f)
	case f.PowerOffFirst && f.Power != ironic.PowerOff:
		return offBeforeDelete(f)
	default:
		return unclaimed(f)
	}
}

// offBeforeDelete powers the machine off, hard: nothing on it is wanted any more.
func offBeforeDelete(f Facts) (Step, error) {
	if f.PowerTarget != "" {
		return Wait, nil
	}

	if f.Power == "" && f.Tried[Off] == 0 {
		return unclaimed(f) // Ironic never knew its power: there is nothing that we switched on
	}

	step, err := press(f, Off)
	if err != nil && f.Force {
		return unclaimed(f)
	}

	return step, err
}

// unclaimed deletes a record, which Ironic refuses while a claim is on it.
func unclaimed(f Facts) (Step, error) {
	if f.Claim != ClaimNone && !f.Maintenance {
		return Unclaim, nil
	}

	return Remove, nil
}

// endActive ends a host that runs something. What nobody deployed is not undeployed.
func endActive(f Facts) (Step, error) {
	if f.External && f.Policy != PolicyDetach {
		return abandon(f)
	}

	return endBroken(f)
}

// endBroken ends a host of which a deployment or its end did not come to its end.
func endBroken(f Facts) (Step, error) {
	switch f.Policy {
	case PolicyDetach:
		return withMaintenance(f, Remove), nil
	case PolicyPowerOff:
		return abandon(f)
	default:
		return undeploy(f)
	}
}

// abandon powers a machine off and leaves what is on its disk.
func abandon(f Facts) (Step, error) {
	if f.PowerOffFirst && f.Power != ironic.PowerOff {
		if f.PowerTarget != "" {
			return Wait, nil
		}

		step, err := press(f, Off)
		if err == nil || !f.Force {
			return step, err
		}
	}

	return withMaintenance(f, Remove), nil
}

// abortClean ends a manual cleaning, or one that nobody asked for; automated cleaning after
// an undeploy goes on.
func abortClean(f Facts) (Step, error) {
	if f.Target == ironic.Manageable || f.CleaningDisabled {
		return Abort, nil
	}

	return withoutMaintenance(f, Wait), nil // see undeploy
}
