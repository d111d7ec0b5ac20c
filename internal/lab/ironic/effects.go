// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"errors"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// effects are what the stages of a walk do, by the names that the walks use. They work on
// drivers without a machine too: there they change the node only.
var effects map[string]func(c *call, n *node, at time.Time) error

func init() { //nolint:gochecknoinits // the functions use the table
	effects = map[string]func(*call, *node, time.Time) error{
		"verify":                 (*call).verify,
		"adopt":                  (*call).adopt,
		"inspection":             (*call).startInspection,
		"inspection ramdisk":     (*call).inspectionRamdisk,
		"inspected from outside": (*call).inspectedOutside,
		"inspected":              (*call).inspected,
		"inspected without data": func(_ *call, n *node, at time.Time) error {
			n.InspectionFinishedAt, n.InspectionStartedAt = at, time.Time{}
			return nil
		},
		"no inspection": func(*call, *node, time.Time) error {
			return broke("Failed to inspect hardware: inspection is disabled")
		},
		"ramdisk":     (*call).bootRamdisk,
		"ramdisk up":  (*call).ramdiskUp,
		"check image": (*call).checkImage,
		"write image": (*call).writeImage,
		"iso":         (*call).checkISO,
		"booted iso":  (*call).bootISO,
		"deployed":    (*call).bootDisk,
		"boot":        (*call).bootDisk,
		"undeploy":    (*call).undeploy,
		"erase":       (*call).erase,
		"cleaned":     (*call).cleaned,
		"check steps": (*call).checkSteps,
		"step":        (*call).doStep,
		"steps done":  (*call).stepsDone,
		"callback timeout": func(_ *call, n *node, _ time.Time) error {
			return broke("Timeout reached while waiting for callback for node %s", n.UUID)
		},
		"fail": (*call).failAs,
	}
}

func asBroken(err error, b **broken) bool { return errors.As(err, b) }

// change loads the node's machine, changes it and saves it. Without a machine it does nothing.
func (c *call) change(n *node, f func(m *machine.Machine) error) error {
	m, err := c.machine(n)
	if err != nil || m == nil {
		return err
	}

	if err := f(m); err != nil {
		return err
	}

	n.PowerState = powerWord(m)

	return machine.Save(c.tx, *m)
}

// press is a power request of the conductor to a machine.
func press(n *node, m *machine.Machine, kind string, at time.Time) error {
	if m.Faults.FailPower {
		return broke("HTTP POST %s/Actions/ComputerSystem.Reset returned code 500. Base.1.8.InternalError: power control failed",
			n.bmc().path())
	}

	m.SetPower(kind, at, 0)

	if m.Faults.StuckPower {
		return broke("Failed to change power state: timed out waiting for the machine %s", m.Name)
	}

	return nil
}

// start switches a machine on from what it is told to boot, and says what then runs.
func start(n *node, m *machine.Machine, target, source, running string, at time.Time) error {
	if err := press(n, m, "ForceOff", at); err != nil {
		return err
	}

	for slot := range m.Media {
		m.Media[slot] = machine.Medium{}
	}

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
func bootTarget(n *node) string {
	switch iface := n.Interfaces["boot"]; {
	case strings.Contains(iface, "virtual-media"):
		return "Cd"
	case iface == "redfish-https":
		return "UefiHttp"
	default:
		return "Pxe"
	}
}

func (c *call) verify(n *node, at time.Time) error {
	m, err := c.machine(n)
	if err != nil {
		var why *broken
		if !asBroken(err, &why) {
			return err
		}

		n.TargetProvisionState = ""

		return broke("Failed to get power state for node %s. Error: %s", n.UUID, why.text)
	}

	if m == nil {
		return nil
	}

	n.PowerState = powerWord(m)

	if n.Driver != "ipmi" {
		n.BootMode = "uefi"
		secure := m.SecureBoot
		n.SecureBoot = &secure
		n.Properties["vendor"] = "Simulated"
	}

	return c.readFirmware(n, *m, at)
}

func (c *call) adopt(n *node, _ time.Time) error {
	if n.simulated() {
		return nil
	}

	// With local boot nothing of the image is validated: a node without one is adopted.
	_, err := c.machine(n)

	return err
}

func (c *call) bootRamdisk(n *node, at time.Time) error {
	err := c.change(n, func(m *machine.Machine) error {
		if bootTarget(n) == "Cd" && m.Faults.FailMedia {
			return broke("Failed to insert virtual media: HTTP POST returned code 400")
		}

		return start(n, m, bootTarget(n), c.ramdiskURL(n), machine.Agent, at)
	})

	return c.named(n, err)
}

// ramdiskURL is what shows in the BMC's virtual media slot while the ramdisk runs.
func (c *call) ramdiskURL(n *node) string {
	return "http://" + c.Conductor + "/redfish/boot-" + n.UUID + ".iso"
}

// named wraps what went wrong with the machine in the words of the walk it went wrong in.
func (c *call) named(n *node, err error) error {
	var why *broken
	if err == nil || !asBroken(err, &why) {
		return err
	}

	switch n.Walk.Verb {
	case verbActive, verbRebuild:
		return broke("Failed to prepare to deploy. Exception: %s", why.text)
	case verbInspect:
		return broke("Failed to inspect hardware. Reason: %s", why.text)
	case verbClean, verbProvide, verbDeleted:
		return broke("Failed to prepare node %s for cleaning: %s", n.UUID, why.text)
	case verbService:
		return broke("Failed to prepare node %s for service: %s", n.UUID, why.text)
	default:
		return err
	}
}

// ramdiskUp is the wait for a ramdisk: for ever, up to the time-out, if the agent is silent.
func (c *call) ramdiskUp(n *node, at time.Time) error {
	n.Walk.Begun = true

	m, err := c.machine(n)
	if err != nil {
		return c.named(n, err)
	}

	if m != nil && m.Faults.NoAgent {
		w := n.Walk
		w.Until = at.Add(c.CallbackTimeout)
		w.Stages = append(w.Stages[:w.At+1:w.At+1], stage{State: n.ProvisionState, Locked: true, Do: "callback timeout"})
	}

	return nil
}

func (c *call) undeploy(n *node, _ time.Time) error {
	n.InstanceInfo = map[string]any{}
	n.InstanceUUID, n.InstanceName = "", ""

	if n.AllocationUUID != "" {
		if err := c.tx.Delete(allocationsBucket, n.AllocationUUID); err != nil {
			return err
		}

		n.AllocationUUID = ""
	}

	if n.automated(c.Service) {
		return nil // the ramdisk for cleaning runs
	}

	return c.change(n, func(m *machine.Machine) error { return press(n, m, "ForceOff", c.now) })
}

func (n *node) automated(s *Service) bool { return s.automatedClean(n) && !n.simulated() }

func (c *call) erase(n *node, at time.Time) error {
	return c.named(n, c.change(n, func(m *machine.Machine) error {
		if why, ok := m.Faults.FailStep("clean.execute_clean_step:erase_devices_metadata", "erase_devices_metadata", "clean.execute_clean_step"); ok {
			return broke("Clean step erase_devices_metadata failed on node %s: %s", n.UUID, why)
		}

		m.Image = ""

		for slot := range m.Media {
			m.Media[slot] = machine.Medium{}
		}

		return press(n, m, "ForceOff", at)
	}))
}

func (c *call) cleaned(*node, time.Time) error { return nil }

func (c *call) bootDisk(n *node, at time.Time) error {
	if n.simulated() {
		return nil
	}

	return c.change(n, func(m *machine.Machine) error {
		if err := start(n, m, "Hdd", "", machine.Disk, at); err != nil {
			return err
		}

		m.Boot.Enabled, m.Boot.Target = "Continuous", "Hdd"

		return nil
	})
}

func (c *call) checkISO(n *node, _ time.Time) error {
	if url := text(n.InstanceInfo, "boot_iso"); url != "" {
		if _, err := images.Resolve(url); err != nil {
			return imageError(url, err)
		}
	}

	_, err := c.machine(n)

	return c.named(n, err)
}

func (c *call) bootISO(n *node, at time.Time) error {
	return c.change(n, func(m *machine.Machine) error {
		return start(n, m, bootTarget(n), text(n.InstanceInfo, "boot_iso"), machine.ISO, at)
	})
}

func imageError(url string, err error) error {
	reason := "Got HTTP code 404 instead of 200 in response to HEAD request."
	if !errors.Is(err, images.ErrNotFound) {
		reason = "Max retries exceeded (Caused by NewConnectionError('Failed to establish a new connection: [Errno 111] ECONNREFUSED'))"
	}

	return broke("Failed to prepare to deploy: Validation of image href %s failed, reason: %s", url, reason)
}
