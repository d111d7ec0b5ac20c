// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

// Order is a verb and what it brings: the body of PUT /v1/nodes/{node}/states/provision.
type Order struct {
	Target         string           `json:"target"`
	ConfigDrive    any              `json:"configdrive"`
	CleanSteps     []map[string]any `json:"clean_steps"`
	DeploySteps    []map[string]any `json:"deploy_steps"`
	ServiceSteps   []map[string]any `json:"service_steps"`
	RescuePassword string           `json:"rescue_password"`
	DisableRamdisk *bool            `json:"disable_ramdisk"`
	Runbook        string           `json:"runbook"`
}

// Blank tells whether a config drive is none.
func Blank(v any) bool {
	m, isMap := v.(map[string]any)

	return v == nil || v == "" || isMap && len(m) == 0
}

// busyWords are the verbs that a node in maintenance refuses, and what the conductor calls
// them. "manage", "provide", "inspect", "adopt" and "deleted" go through.
var busyWords = map[string]string{
	state.VerbActive: "provisioning", state.VerbRebuild: "provisioning", state.VerbClean: "cleaning", state.VerbService: "service",
	state.VerbRescue: "rescuing", state.VerbUnrescue: "unrescuing",
}

// Check refuses what the conductor refuses while it holds the lock.
func Check(n *record.Node, verb string) error {
	if word, ok := busyWords[verb]; ok && n.Maintenance {
		return fault.InMaintenance(word, n.UUID)
	}

	if n.Protected && (verb == state.VerbRebuild || verb == state.VerbDeleted) {
		return fault.Protected(n.UUID)
	}

	switch verb {
	case state.VerbActive, state.VerbRebuild:
		if why := DeployProblem(n); why != "" {
			return fault.Invalid("Failed to validate deploy or power info for node %s: %s", n.UUID, why)
		}
	case state.VerbRescue:
		if n.Interfaces["rescue"] == "no-rescue" {
			return fault.Refuse(http.StatusInternalServerError, "Failed to rescue instance None for node %s: Validation failed: %s",
				n.UUID, fault.Unsupported(n.Driver, "rescue"))
		}
	case state.VerbProvide:
		if n.Retired {
			return fault.Invalid("The providing operation can't be performed on node %s because it is retired.", n.UUID)
		}
	case state.VerbInspect, state.VerbClean, state.VerbService:
		if why := PowerProblem(n); why != "" {
			return fault.Invalid("%s", why)
		}
	}

	return nil
}

// Do does a verb that was accepted: at once, or as a walk.
func (c *Conductor) Do(n *record.Node, verb, next string, o Order) error {
	switch {
	case verb == state.VerbAbort:
		return c.abort(n, next)
	case verb == state.VerbUnhold:
		return c.unhold(n, next)
	case verb == state.VerbManage && next == state.Manageable:
		n.Halt()
		n.Set(state.Manageable, "", c.Now)

		return c.SaveNode(n)
	}

	steps := slices.Concat(o.CleanSteps, o.ServiceSteps)
	if verb == state.VerbActive || verb == state.VerbRebuild {
		steps = o.DeploySteps

		delete(n.InstanceInfo, "configdrive") // each request brings its own

		if !Blank(o.ConfigDrive) {
			n.InstanceInfo["configdrive"] = o.ConfigDrive
		}
	}

	return c.begin(n, verb, steps)
}

// abortTexts is what an abort leaves in last_error; nothing where Ironic leaves nothing.
var abortTexts = map[string]string{
	state.InspectWait: "Inspection was aborted by request.",
	state.CleanWait:   "By request, the clean operation was aborted",
	state.CleanHold:   "By request, the clean operation was aborted",
	state.RescueWait:  "By request, the rescue operation was aborted.",
}

func (c *Conductor) abort(n *record.Node, next string) error {
	why, target := abortTexts[n.ProvisionState], n.TargetProvisionState
	if next == state.Active {
		target = ""
	}

	n.Halt()
	n.Set(next, target, c.Now)
	n.LastError = why
	n.InspectionStartedAt = time.Time{}

	if why != "" {
		if err := c.Note(n, "aborted", why, c.Now); err != nil {
			return err
		}
	}

	return c.SaveNode(n)
}

// unhold goes on with the walk that a step "hold" stopped.
func (c *Conductor) unhold(n *record.Node, next string) error {
	n.Set(next, n.TargetProvisionState, c.Now)

	if n.Walk == nil {
		return c.SaveNode(n)
	}

	n.Walk.Until = c.Now.Add(n.Walk.Pace)

	return c.settle(n)
}
