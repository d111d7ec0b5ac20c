// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"slices"
	"strings"
	"time"
)

// walk is a transition under way: the stages that a verb goes through, and where it is.
type walk struct {
	Verb    string        `json:"verb"`
	Target  string        `json:"target"`
	Started time.Time     `json:"started"`
	Pace    time.Duration `json:"pace"`
	Stages  []stage       `json:"stages"`
	At      int           `json:"at"`
	Until   time.Time     `json:"until,omitzero"` // when the stage ends; zero: not by itself

	Steps []map[string]any `json:"steps,omitempty"` // of clean, service, or a custom deploy
	Begun bool             `json:"begun,omitempty"` // a step has begun: failing now sets a fault
	Fail  *Failure         `json:"fail,omitempty"`  // what a test asked for
}

// stage is a part of a walk: a state, how long it lasts, and what happens on entering it.
type stage struct {
	State  string `json:"state"`
	Paces  int    `json:"paces"`            // 0: passed through at once; -1: until it is moved on
	Locked bool   `json:"locked,omitempty"` // the conductor works and holds the lock
	Do     string `json:"do,omitempty"`     // an effect, by its name in effects
	Step   string `json:"step,omitempty"`   // what clean_step, deploy_step or service_step show
	Power  string `json:"power,omitempty"`  // target_power_state
	Index  int    `json:"index,omitempty"`  // of the step in the walk's Steps
}

func (w *walk) stage() stage { return w.Stages[w.At] }

// Stages of the same kind, so that the tables below read like Ironic's own states.
func busy(state, do string) stage    { return stage{State: state, Paces: 1, Locked: true, Do: do} }
func waiting(state, do string) stage { return stage{State: state, Paces: 2, Do: do} }
func end(state, do string) stage     { return stage{State: state, Do: do} }
func (s stage) step(name string) stage {
	s.Step = name

	return s
}

func (s stage) powering(target string) stage {
	s.Power = target

	return s
}

const (
	powerOn  = "power on"
	powerOff = "power off"
)

// walkOf is what a verb goes through on this node.
func (s *Service) walkOf(n *node, verb string, steps []map[string]any) (target string, stages []stage) {
	hardware := !n.simulated()

	switch verb {
	case verbManage:
		return manageable, []stage{busy(verifying, ""), end(manageable, "verify")}
	case verbInspect:
		return manageable, inspection(n)
	case verbProvide:
		return available, s.cleaning(n, hardware)
	case verbClean:
		return manageable, stepped(cleaning, cleanWait, manageable, steps, hardware)
	case verbAdopt:
		return active, []stage{busy(adopting, ""), end(active, "adopt")}
	case verbActive, verbRebuild:
		return active, deployment(n, hardware)
	case verbDeleted:
		if n.Retired {
			return manageable, append([]stage{busy(deleting, "").powering(powerOff)}, s.undeployed(n, hardware)...)
		}

		return available, append([]stage{busy(deleting, "").powering(powerOff)}, s.undeployed(n, hardware)...)
	case verbService:
		return active, stepped(servicing, serviceWait, active, steps, hardware)
	case verbRescue:
		return rescue, []stage{
			busy(rescuing, "ramdisk").powering(powerOn), waiting(rescueWait, "ramdisk up"), busy(rescuing, ""), end(rescue, ""),
		}
	case verbUnrescue:
		return active, []stage{busy(unrescuing, "").powering(powerOn), end(active, "boot")}
	}

	return "", nil
}

// inspection is in band (a ramdisk posts the inventory) or out of band (read from the BMC).
func inspection(n *node) []stage {
	switch iface := n.Interfaces["inspect"]; {
	case n.Driver == "fake-hardware" && iface == "fake":
		return []stage{busy(inspecting, "inspection"), end(manageable, "inspected without data")}
	case iface == "agent":
		return []stage{
			busy(inspecting, "inspection").powering(powerOn), waiting(inspectWait, "inspection ramdisk"),
			busy(inspecting, ""), end(manageable, "inspected"),
		}
	case strings.HasSuffix(iface, "redfish"):
		return []stage{busy(inspecting, "inspection"), busy(inspecting, ""), end(manageable, "inspected from outside")}
	default:
		return []stage{busy(inspecting, "inspection"), end(manageable, "no inspection")}
	}
}

// automatedClean tells whether a node is cleaned on its way to "available".
func (s *Service) automatedClean(n *node) bool {
	if n.AutomatedClean != nil {
		return *n.AutomatedClean
	}

	return !s.NoAutomatedClean
}

// cleaning is automated cleaning; the word shows even where nothing is cleaned.
func (s *Service) cleaning(n *node, hardware bool) []stage {
	if !s.automatedClean(n) || !hardware {
		return []stage{busy(cleaning, ""), end(available, "cleaned")}
	}

	return []stage{
		busy(cleaning, "ramdisk").powering(powerOn), waiting(cleanWait, "ramdisk up").step("erase_devices_metadata"),
		busy(cleaning, "erase").powering(powerOff), end(available, "cleaned"),
	}
}

func (s *Service) undeployed(n *node, hardware bool) []stage {
	stages := slices.Clone(s.cleaning(n, hardware))
	stages[0].Do = strings.TrimPrefix(stages[0].Do+",undeploy", ",")

	if n.Retired { // a retired node goes no further
		stages[len(stages)-1].State = manageable
	}

	return stages
}

func deployment(n *node, hardware bool) []stage {
	switch iface := n.Interfaces["deploy"]; {
	case !hardware:
		return []stage{busy(deploying, ""), busy(deploying, "").step("deploy"), end(active, "deployed")}
	case iface == "ramdisk":
		return []stage{
			busy(deploying, "iso").powering(powerOn), busy(deploying, "").step("deploy"), end(active, "booted iso"),
		}
	default:
		write := "write_image"
		if iface == "custom-agent" {
			write = "custom"
		}

		return []stage{
			busy(deploying, "check image").powering(powerOff), waiting(waitCallBack, "ramdisk up").step(write),
			busy(deploying, "write image").step("prepare_instance_boot"),
			busy(deploying, "").step("boot_instance").powering(powerOn), end(active, "deployed"),
		}
	}
}

// stepped is manual cleaning, or servicing: the ramdisk boots once and does one step after
// the other. The steps "hold" and "power_off"/"power_on" are the conductor's own.
func stepped(work, wait, last string, steps []map[string]any, hardware bool) []stage {
	boot := busy(work, "check steps")
	if hardware {
		boot.Do, boot.Power = "ramdisk", powerOn
	}

	stages := []stage{boot}

	for i, step := range steps {
		name := text(step, "step")
		did := busy(work, "step").step(name)
		did.Index = i

		switch {
		case name == "hold":
			stages = append(stages, stage{State: strings.TrimSuffix(wait, "wait") + "hold", Paces: -1, Step: name})
		case !hardware:
			stages = append(stages, did)
		default:
			stages = append(stages, waiting(wait, "ramdisk up").step(name), did)
		}
	}

	return append(stages, end(last, "steps done"))
}
