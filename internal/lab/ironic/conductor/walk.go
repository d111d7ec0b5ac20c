// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// busy is a stage in which the conductor works and holds the lock.
func busy(in, do string) record.Stage {
	return record.Stage{State: in, Paces: 1, Locked: true, Do: do}
}

// waiting is a stage in which it waits for a ramdisk.
func waiting(in, do string) record.Stage { return record.Stage{State: in, Paces: 2, Do: do} }

// end is the stage that a walk ends with.
func end(in, do string) record.Stage { return record.Stage{State: in, Do: do} }

// walkOf is what a verb goes through on this node.
func (c *Conductor) walkOf(n *record.Node, verb string, steps []map[string]any) (target string, stages []record.Stage) {
	hardware := !n.Simulated()

	switch verb {
	case state.VerbManage:
		return state.Manageable, []record.Stage{busy(state.Verifying, ""), end(state.Manageable, "verify")}
	case state.VerbInspect:
		return state.Manageable, inspection(n)
	case state.VerbProvide:
		return state.Available, c.cleaning(n)
	case state.VerbClean:
		return state.Manageable, stepped(state.Cleaning, state.CleanWait, state.Manageable, steps, hardware)
	case state.VerbAdopt:
		return state.Active, []record.Stage{busy(state.Adopting, ""), end(state.Active, "adopt")}
	case state.VerbActive, state.VerbRebuild:
		return state.Active, deployment(n, hardware)
	case state.VerbDeleted:
		return c.undeployment(n)
	case state.VerbService:
		return state.Active, stepped(state.Servicing, state.ServiceWait, state.Active, steps, hardware)
	case state.VerbRescue:
		return state.Rescue, []record.Stage{
			busy(state.Rescuing, "ramdisk").Powers(state.PowerOn), waiting(state.RescueWait, "ramdisk up"), busy(state.Rescuing, ""), end(state.Rescue, ""),
		}
	case state.VerbUnrescue:
		return state.Active, []record.Stage{busy(state.Unrescuing, "").Powers(state.PowerOn), end(state.Active, "boot")}
	}

	return "", nil
}

// inspection is in band (a ramdisk posts the inventory) or out of band (read from the BMC).
func inspection(n *record.Node) []record.Stage {
	switch iface := n.Interfaces["inspect"]; {
	case n.Driver == "fake-hardware" && iface == "fake":
		return []record.Stage{busy(state.Inspecting, "inspection"), end(state.Manageable, "inspected without data")}
	case iface == "agent":
		return []record.Stage{
			busy(state.Inspecting, "inspection").Powers(state.PowerOn), waiting(state.InspectWait, "inspection ramdisk"),
			busy(state.Inspecting, ""), end(state.Manageable, "inspected"),
		}
	case strings.HasSuffix(iface, "redfish"):
		return []record.Stage{busy(state.Inspecting, "inspection"), busy(state.Inspecting, ""), end(state.Manageable, "inspected from outside")}
	default:
		return []record.Stage{busy(state.Inspecting, "inspection"), end(state.Manageable, "no inspection")}
	}
}

// cleans tells whether a ramdisk cleans a node on its way to "available".
func (c *Conductor) cleans(n *record.Node) bool { return c.automated(n) && !n.Simulated() }

// automated tells whether automated cleaning is on for a node.
func (c *Conductor) automated(n *record.Node) bool {
	if n.AutomatedClean != nil {
		return *n.AutomatedClean
	}

	return !c.NoAutomatedClean
}

// cleaning is automated cleaning; the word shows even where nothing is cleaned.
func (c *Conductor) cleaning(n *record.Node) []record.Stage {
	if !c.cleans(n) {
		return []record.Stage{busy(state.Cleaning, ""), end(state.Available, "")}
	}

	return []record.Stage{
		busy(state.Cleaning, "ramdisk").Powers(state.PowerOn), waiting(state.CleanWait, "ramdisk up").Shows("erase_devices_metadata"),
		busy(state.Cleaning, "erase").Powers(state.PowerOff), end(state.Available, ""),
	}
}

// undeployment is followed by automated cleaning, which is where the node is set free. A
// retired node goes no further than "manageable", except where the cleaning is skipped: only
// its end looks at the mark (conductor/cleaning.py, the same in 21.4 and 29.0).
func (c *Conductor) undeployment(n *record.Node) (target string, stages []record.Stage) {
	stages = append([]record.Stage{busy(state.Deleting, "").Powers(state.PowerOff)}, c.cleaning(n)...)
	stages[1].Do = strings.TrimPrefix(stages[1].Do+",undeploy", ",")

	if n.Retired && c.automated(n) {
		stages[len(stages)-1].State = state.Manageable
	}

	return stages[len(stages)-1].State, stages
}

func deployment(n *record.Node, hardware bool) []record.Stage {
	switch iface := n.Interfaces["deploy"]; {
	case !hardware:
		return []record.Stage{busy(state.Deploying, ""), busy(state.Deploying, "").Shows("deploy"), end(state.Active, "deployed")}
	case iface == "ramdisk":
		return []record.Stage{
			busy(state.Deploying, "iso").Powers(state.PowerOn), busy(state.Deploying, "").Shows("deploy"), end(state.Active, "booted iso"),
		}
	default:
		write := "write_image"
		if iface == "custom-agent" {
			write = "custom"
		}

		return []record.Stage{
			busy(state.Deploying, "check image").Powers(state.PowerOff), waiting(state.WaitCallBack, "ramdisk up").Shows(write),
			busy(state.Deploying, "write image").Shows("prepare_instance_boot"),
			busy(state.Deploying, "").Shows("boot_instance").Powers(state.PowerOn), end(state.Active, "deployed"),
		}
	}
}

// stepped is manual cleaning, or servicing: the ramdisk boots once and does one step after
// the other. The steps "hold" and "power_off"/"power_on" are the conductor's own.
func stepped(work, wait, last string, steps []map[string]any, hardware bool) []record.Stage {
	boot := busy(work, "check steps")
	if hardware {
		boot.Do, boot.Power = "ramdisk", state.PowerOn
	}

	stages := []record.Stage{boot}

	for i, step := range steps {
		name := record.Text(step, "step")
		did := busy(work, "step").Shows(name)
		did.Index = i

		switch {
		case name == "hold":
			stages = append(stages, record.Stage{State: strings.TrimSuffix(wait, "wait") + "hold", Paces: -1, Step: name})
		case !hardware:
			stages = append(stages, did)
		default:
			stages = append(stages, waiting(wait, "ramdisk up").Shows(name), did)
		}
	}

	return append(stages, end(last, "steps done"))
}
