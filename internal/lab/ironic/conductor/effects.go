// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// effects are what the stages of a walk do, by the names that the walks use. They work on
// drivers without a machine too: there they change the node only.
var effects map[string]func(c *Conductor, n *record.Node, at time.Time) error

func init() { //nolint:gochecknoinits // the functions use the table
	effects = map[string]func(*Conductor, *record.Node, time.Time) error{
		"verify":                 (*Conductor).verify,
		"adopt":                  (*Conductor).adopt,
		"inspection":             (*Conductor).startInspection,
		"inspection ramdisk":     (*Conductor).inspectionRamdisk,
		"inspected from outside": (*Conductor).inspectedOutside,
		"inspected":              (*Conductor).inspected,
		"inspected without data": func(_ *Conductor, n *record.Node, at time.Time) error {
			n.InspectionFinishedAt, n.InspectionStartedAt = at, time.Time{}
			return nil
		},
		"no inspection": func(*Conductor, *record.Node, time.Time) error {
			return broke("Failed to inspect hardware: inspection is disabled")
		},
		"ramdisk":     (*Conductor).bootRamdisk,
		"ramdisk up":  (*Conductor).ramdiskUp,
		"check image": (*Conductor).checkImage,
		"write image": (*Conductor).writeImage,
		"iso":         (*Conductor).checkISO,
		"booted iso":  (*Conductor).bootISO,
		"deployed":    (*Conductor).bootDisk,
		"boot":        (*Conductor).bootDisk,
		"undeploy":    (*Conductor).undeploy,
		"erase":       (*Conductor).erase,
		"check steps": (*Conductor).checkSteps,
		"step":        (*Conductor).doStep,
		"steps done":  (*Conductor).stepsDone,
		"callback timeout": func(_ *Conductor, n *record.Node, _ time.Time) error {
			return broke("Timeout reached while waiting for callback for node %s", n.UUID)
		},
		"fail": (*Conductor).failAs,
	}
}

// Change loads the node's machine, changes it and saves it. Without a machine it does nothing.
func (c *Conductor) Change(n *record.Node, f func(m *machine.Machine) error) error {
	m, err := c.Machine(n)
	if err != nil || m == nil {
		return err
	}

	if err := f(m); err != nil {
		return err
	}

	n.PowerState = powerWord(m)

	return machine.Save(c.Tx, *m)
}

// press is a power request of the conductor to a machine.
func press(n *record.Node, m *machine.Machine, kind string, at time.Time) error {
	if m.Faults.FailPower {
		return broke("HTTP POST %s/Actions/ComputerSystem.Reset returned code 500. Base.1.8.InternalError: power control failed",
			bmcOf(n).path())
	}

	m.SetPower(kind, at, 0)

	if m.Faults.StuckPower {
		return broke("Failed to change power state: timed out waiting for the machine %s", m.Name)
	}

	return nil
}

// eject takes all virtual media out of a machine.
func eject(m *machine.Machine) {
	for slot := range m.Media {
		m.Media[slot] = machine.Medium{}
	}
}

// start switches a machine on from what it is told to boot, and says what then runs.
func start(n *record.Node, m *machine.Machine, target, source, running string, at time.Time) error {
	if err := press(n, m, "ForceOff", at); err != nil {
		return err
	}

	eject(m)

	if target == "Cd" {
		m.Media["Cd"] = machine.Medium{Image: source}
	}

	m.Boot.Target, m.Boot.Enabled = target, "Once"

	if err := press(n, m, "On", at); err != nil {
		return err
	}

	// What the machine finds at its next boot is ours to say: the ramdisk, the image.
	m.Booting, m.BootAt, m.Booted, m.Source, m.Running = "", time.Time{}, target, source, running

	return nil
}

// bootTarget is how a node's boot interface boots a ramdisk.
func bootTarget(n *record.Node) string {
	switch iface := n.Interfaces["boot"]; {
	case strings.Contains(iface, "virtual-media"):
		return "Cd"
	case iface == "redfish-https":
		return "UefiHttp"
	default:
		return "Pxe"
	}
}

// inWords wraps what went wrong with the machine in the words of the walk it went wrong in.
func inWords(n *record.Node, err error) error {
	var why *Broken
	if !AsBroken(err, &why) {
		return err
	}

	switch n.Walk.Verb {
	case state.VerbActive, state.VerbRebuild:
		return broke("Failed to prepare to deploy. Exception: %s", why.Text)
	case state.VerbInspect:
		return broke("Failed to inspect hardware. Reason: %s", why.Text)
	case state.VerbClean, state.VerbProvide, state.VerbDeleted:
		return broke("Failed to prepare node %s for cleaning: %s", n.UUID, why.Text)
	case state.VerbService:
		return broke("Failed to prepare node %s for service: %s", n.UUID, why.Text)
	default:
		return err
	}
}
