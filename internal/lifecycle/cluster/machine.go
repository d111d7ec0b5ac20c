// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"fmt"
)

// Goal is where one machine is to come.
type Goal string

// The goals of a machine.
const (
	GoalRun    Goal = "run"    // deployed, and as far as the cluster waits
	GoalRemade Goal = "remade" // the same, from the present template, on the host that it has
	GoalGone   Goal = "gone"   // off its host, nothing claimed
)

// Sight is what a look shows of one machine.
type Sight string

// What can be seen.
const (
	SeenNothing  Sight = "not claimed"
	SeenClaimed  Sight = "claimed"       // the host has nothing of it yet
	SeenBusy     Sight = "in transition" // the host is on its way to or from a deployment
	SeenFailed   Sight = "failed"        // a deployment, or its end, failed
	SeenActive   Sight = "active"
	SeenHalf     Sight = "half remade" // another deployment over the first was cut short
	SeenReturned Sight = "returned"    // undeployed, and not offered yet
)

// vacant reports whether a machine has no host.
func (s Sight) vacant() bool { return s == SeenNothing || s == SeenReturned }

// Step is the one thing to do next for a machine.
type Step string

// The steps of a machine.
const (
	StepClaim    Step = "claim a host"
	StepDeploy   Step = "deploy"
	StepRemake   Step = "rebuild"
	StepPower    Step = "power on"
	StepJoin     Step = "wait for its node"
	StepDrain    Step = "drain"
	StepLeave    Step = "leave etcd"
	StepUndeploy Step = "undeploy"
	StepRelease  Step = "give the host back"
	StepDone     Step = "done"
)

// Facts is all that the table looks at.
type Facts struct {
	Sight Sight

	Off      bool // the machine is powered off
	Joined   bool // its node was found in this run, or none is waited for
	Drained  bool // its node is empty, or nobody wants that
	Left     bool // it is no member of etcd, or never was
	UpToDate bool

	Claims   bool   // this run may claim a host for it
	Excluded int    // hosts that failed it in this run
	Retries  int    // how many may
	Why      string // what the far side said last
}

// Next returns the step that brings a machine one step nearer to its goal. It is pure.
func Next(f Facts, goal Goal) (Step, error) {
	row, ok := table[f.Sight]
	if !ok {
		return "", fmt.Errorf("a machine that is %q: this provider does not know that; please report it", f.Sight)
	}

	return row[column(goal)](f)
}

// table is the whole machine of a cluster's machine: one row a sight, one column a goal. How a
// host gets from one provision state to the next is package host's table.
var table = map[Sight]row{
	//             run       remade    gone
	SeenNothing:  {claimed, claimed, done},
	SeenClaimed:  {deploy, deploy, release},
	SeenBusy:     {deploy, deploy, undeploy},
	SeenFailed:   {again, again, undeploy},
	SeenActive:   {join, remake, leave},
	SeenHalf:     {remakeHalf, remakeHalf, leave},
	SeenReturned: {claimed, claimed, done},
}

type row [3]cell

type cell func(Facts) (Step, error)

func column(g Goal) int {
	switch g {
	case GoalRun:
		return 0
	case GoalRemade:
		return 1
	default:
		return 2
	}
}

func done(Facts) (Step, error)     { return StepDone, nil }
func deploy(Facts) (Step, error)   { return StepDeploy, nil }
func undeploy(Facts) (Step, error) { return StepUndeploy, nil }
func release(Facts) (Step, error)  { return StepRelease, nil }

// claimed takes a host for a machine that has none. Where every host that could be had failed, the
// last one's words are the error.
func claimed(f Facts) (Step, error) {
	switch {
	case f.Excluded > f.Retries:
		return "", fmt.Errorf("%d hosts failed, the last one with: %s", f.Excluded, f.Why)
	case !f.Claims:
		return "", fmt.Errorf("it has no host: %s", cmp.Or(f.Why, "its claim is gone"))
	default:
		return StepClaim, nil
	}
}

// again goes on with a host on which a deployment failed in an earlier run. Ironic takes the verb
// again in place.
func again(Facts) (Step, error) { return StepDeploy, nil }

// join follows a deployment.
func join(f Facts) (Step, error) {
	switch {
	case f.Off:
		return StepPower, nil
	case f.Joined:
		return StepDone, nil
	default:
		return StepJoin, nil
	}
}

// remake brings the present template onto the same host.
func remake(f Facts) (Step, error) {
	switch {
	case f.UpToDate:
		return join(f)
	case !f.Drained:
		return StepDrain, nil
	case !f.Left:
		return StepLeave, nil
	default:
		return StepRemake, nil
	}
}

// remakeHalf ends what an earlier run began: what is on the disk is nobody's template.
func remakeHalf(Facts) (Step, error) { return StepRemake, nil }

// leave takes a machine that runs off its host, in the order that Cluster API has: drain, leave
// etcd, undeploy.
func leave(f Facts) (Step, error) {
	switch {
	case !f.Drained:
		return StepDrain, nil
	case !f.Left:
		return StepLeave, nil
	default:
		return StepUndeploy, nil
	}
}
