// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "strings"

// The types of conditions, as near to Cluster API's as they can be.
const (
	ConditionReady          = "Ready"
	ConditionClaimed        = "HostsClaimed"
	ConditionInfrastructure = "BaremetalInfrastructureReady"
	ConditionInitialized    = "ControlPlaneInitialized"
	ConditionControlPlane   = "ControlPlaneReady"
	ConditionWorkers        = "WorkersReady"
	ConditionNodes          = "NodesReady"
	ConditionUpToDate       = "UpToDate"
)

// conditions say how the cluster is, each with the machines that are in the way.
func (w *worker) conditions(r *Record, bad []string) []Condition {
	var unclaimed, undeployed, masters, workers, unready, outdated, running []string

	for _, name := range sortedKeys(r.Machines) {
		m := r.Machines[name]

		if m.HostID == "" {
			unclaimed = append(unclaimed, name)
		}

		if !m.Runs() {
			undeployed = append(undeployed, name)
		} else if m.Role == ControlPlane {
			running = append(running, name)
		}

		switch {
		case m.Healthy:
		case m.Role == ControlPlane:
			masters = append(masters, name)
		default:
			workers = append(workers, name)
		}

		if m.NodeReady == nil || !*m.NodeReady {
			unready = append(unready, name)
		}

		if !m.UpToDate {
			outdated = append(outdated, name)
		}
	}

	out := []Condition{
		condition(ConditionReady, bad, "AllMachinesReady", "MachinesNotReady"),
		condition(ConditionClaimed, unclaimed, "AllHostsClaimed", "HostsMissing"),
		condition(ConditionInfrastructure, undeployed, "Provisioned", "NotProvisioned"),
		condition(ConditionControlPlane, masters, "MachinesReady", "MachinesNotReady"),
		condition(ConditionWorkers, workers, "MachinesReady", "MachinesNotReady"),
		condition(ConditionUpToDate, outdated, "UpToDate", "RolloutNeeded"),
	}

	if len(w.controlPlane()) > 0 {
		initialized := Condition{ConditionInitialized, "False", "NotInitialized", ""}
		if len(running) > 0 {
			initialized = Condition{ConditionInitialized, "True", "Initialized", ""}
		}

		out = append(out, initialized)
	}

	return append(out, w.nodesCondition(unready))
}

// nodesCondition says whether the Nodes are Ready.
func (w *worker) nodesCondition(unready []string) Condition {
	switch {
	case !w.joins():
		return Condition{ConditionNodes, "Unknown", "NotWatched", "nothing says how to reach the cluster's API server, or wait.level is below registered"}
	case len(unready) == 0:
		return Condition{ConditionNodes, "True", "NodesReady", ""}
	default:
		return Condition{ConditionNodes, "False", "NodesNotReady", strings.Join(unready, ", ")}
	}
}

func condition(kind string, against []string, good, bad string) Condition {
	if len(against) == 0 {
		return Condition{kind, "True", good, ""}
	}

	return Condition{kind, "False", bad, strings.Join(against, ", ")}
}
