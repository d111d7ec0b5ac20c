// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// order is the body of PUT /v1/nodes/{node}/states/provision.
type order struct {
	Target         string           `json:"target"`
	ConfigDrive    any              `json:"configdrive"`
	CleanSteps     []map[string]any `json:"clean_steps"`
	DeploySteps    []map[string]any `json:"deploy_steps"`
	ServiceSteps   []map[string]any `json:"service_steps"`
	RescuePassword string           `json:"rescue_password"`
	DisableRamdisk *bool            `json:"disable_ramdisk"`
	Runbook        string           `json:"runbook"`
}

var orderFields = []string{
	"target", "configdrive", "clean_steps", "deploy_steps", "service_steps", "rescue_password", "disable_ramdisk", "runbook",
}

func (c *call) provision() (answer, error) {
	o, err := c.order()
	if err != nil {
		return answer{}, err
	}

	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if verbSince[o.Target] > c.minor {
		return answer{}, notAcceptable()
	}

	verb := o.Target
	if long, ok := aliases[verb]; ok {
		verb = long
	}

	if (verb == verbActive || verb == verbRebuild) && n.Maintenance {
		return answer{}, inMaintenance("provisioning", n.UUID)
	}

	next, ok := accepts(n.ProvisionState, verb, c.Service.minor)
	if !ok {
		if host := n.reservedBy(c.Conductor); host != "" {
			return answer{}, lockedError(n.UUID, host)
		}

		return answer{}, badState(o.Target, n.UUID, n.ProvisionState)
	}

	if err := c.checkOrder(o, verb); err != nil {
		return answer{}, err
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	if err := c.checkConductor(n, verb); err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusAccepted, location: "nodes/" + c.r.PathValue("node") + "/states"}, c.start(n, verb, next, o)
}

func (c *call) order() (order, error) {
	var o order

	fields, err := c.decode("body")
	if err != nil {
		return o, err
	}

	for field := range fields {
		if !slices.Contains(orderFields, field) {
			return o, invalid("Unexpected arguments: %s", field)
		}
	}

	if err := json.Unmarshal(c.body, &o); err != nil {
		return o, invalid("%s", err)
	}

	if o.Target == "" {
		return o, invalid("Missing mandatory parameter: target")
	}

	return o, nil
}

// checkOrder refuses what the API refuses before it asks the conductor.
func (c *call) checkOrder(o order, verb string) error {
	deploys := verb == verbActive || verb == verbRebuild

	if err := c.checkDrive(o.ConfigDrive, deploys); err != nil {
		return err
	}

	// What a verb must bring, and what it may not.
	switch {
	case len(o.CleanSteps) > 0 && verb != verbClean:
		return invalid(`"clean_steps" is only valid when setting target provision state to clean`)
	case len(o.DeploySteps) > 0 && c.minor < 69:
		return refuse(http.StatusNotAcceptable, "Request not acceptable. The minimal required API version should be 1.69")
	case len(o.DeploySteps) > 0 && !deploys:
		return invalid(`"deploy_steps" is only valid when setting target provision state to active or rebuild`)
	case o.RescuePassword != "" && verb != verbRescue:
		return invalid(`"rescue_password" is only valid when setting target provision state to rescue`)
	case len(o.ServiceSteps) > 0 && verb != verbService:
		return invalid(`"service_steps" is only valid when setting target provision state to service`)
	case verb == verbClean && len(o.CleanSteps) == 0:
		return invalid(`"clean_steps" is required when setting target provision state to clean`)
	case verb == verbService && len(o.ServiceSteps) == 0:
		return invalid(`"service_steps" is required when setting target provision state to service`)
	case verb == verbRescue && strings.TrimSpace(o.RescuePassword) == "":
		return invalid(`A non-empty "rescue_password" is required when setting target provision state to rescue`)
	}

	return checkStepShapes(o)
}

func (c *call) checkDrive(v any, deploys bool) error {
	if !blank(v) && !deploys {
		return invalid("Adding a config drive is only supported when setting provision state to active, rebuild")
	}

	drive, ok := v.(map[string]any)

	switch {
	case !ok || len(drive) == 0:
		return nil
	case c.minor < 56:
		return invalid("Providing a JSON object for configdrive is only supported starting with API version 1.56")
	case drive["vendor_data"] != nil && c.minor < 59:
		return invalid("Providing vendor_data in configdrive is only supported starting with API version 1.59")
	}

	for key := range drive {
		if !slices.Contains([]string{"meta_data", "network_data", "user_data", "vendor_data"}, key) {
			return invalid("Invalid configdrive format: Additional properties are not allowed ('%s' was unexpected)", key)
		}
	}

	return nil
}

func checkStepShapes(o order) error {
	for _, steps := range [][]map[string]any{o.CleanSteps, o.ServiceSteps, o.DeploySteps} {
		for _, s := range steps {
			for _, key := range []string{"interface", "step"} {
				if text(s, key) == "" {
					return invalid("Schema error for steps: '%s' is a required property", key)
				}
			}
		}
	}

	for _, s := range o.DeploySteps {
		for _, key := range []string{"args", "priority"} {
			if _, ok := s[key]; !ok {
				return invalid("Schema error for steps: '%s' is a required property", key)
			}
		}
	}

	return nil
}

func blank(v any) bool {
	m, isMap := v.(map[string]any)

	return v == nil || v == "" || isMap && len(m) == 0
}

// busyWords are the verbs that a node in maintenance refuses, and what the conductor calls
// them. "manage", "provide", "inspect", "adopt" and "deleted" go through.
var busyWords = map[string]string{
	verbActive: "provisioning", verbRebuild: "provisioning", verbClean: "cleaning", verbService: "service",
	verbRescue: "rescuing", verbUnrescue: "unrescuing",
}

// checkConductor refuses what the conductor refuses while it holds the lock.
func (c *call) checkConductor(n *node, verb string) error {
	if word, ok := busyWords[verb]; ok && n.Maintenance {
		return inMaintenance(word, n.UUID)
	}

	switch verb {
	case verbActive, verbRebuild:
		if verb == verbRebuild && n.Protected {
			return protectedError(n)
		}

		if why := deployProblem(n); why != "" {
			return invalid("Failed to validate deploy or power info for node %s: %s", n.UUID, why)
		}
	case verbDeleted:
		if n.Protected {
			return protectedError(n)
		}
	case verbRescue:
		if n.Interfaces["rescue"] == "no-rescue" {
			return refuse(http.StatusInternalServerError, "Failed to rescue instance None for node %s: Validation failed: %s",
				n.UUID, unsupported(n.Driver, "rescue"))
		}
	case verbProvide:
		if n.Retired {
			return invalid("The providing operation can't be performed on node %s because it is retired.", n.UUID)
		}
	case verbInspect, verbClean, verbService:
		if why := powerProblem(n); why != "" {
			return invalid("%s", why)
		}
	}

	return nil
}

// deployProblem is what the validation of the deploy interface finds.
func deployProblem(n *node) string {
	switch n.Interfaces["deploy"] {
	case "direct":
		if text(n.InstanceInfo, "image_source") == "" {
			return "Node " + n.UUID + " failed to validate deploy image info. Some parameters were missing. " +
				"Missing are: ['instance_info.image_source']"
		}

		sum, _ := checksum(n)
		if sum == "" && !strings.HasPrefix(text(n.InstanceInfo, "image_source"), "oci://") {
			return `image_source's "image_checksum", or "image_os_hash_algo" and "image_os_hash_value" must be provided in instance_info ` +
				"for node " + n.UUID
		}
	case "ramdisk":
		if text(n.InstanceInfo, "boot_iso") == "" && text(n.InstanceInfo, "ramdisk") == "" {
			return "Cannot validate image information for node " + n.UUID + " because one or more parameters are missing from its " +
				"instance_info and insufficient information is present to boot from a remote volume. Missing are: ['kernel', 'ramdisk']"
		}
	}

	return powerProblem(n)
}

// powerProblem is what the validation of the power interface finds: missing driver_info.
func powerProblem(n *node) string {
	if n.simulated() || n.bmc().url != "" {
		return ""
	}

	if n.Driver == "ipmi" {
		return "Missing the following IPMI credentials in node's driver_info: ['ipmi_address']."
	}

	return "Missing the following Redfish properties in node's driver_info: ['redfish_address']"
}

// start does a verb that was accepted: at once, or as a walk.
func (c *call) start(n *node, verb, next string, o order) error {
	switch {
	case verb == verbAbort:
		return c.abort(n, next)
	case verb == verbUnhold:
		return c.unhold(n, next)
	case verb == verbManage && next == manageable:
		n.halt()
		n.set(manageable, "", c.now)

		return c.save(n)
	}

	steps := slices.Concat(o.CleanSteps, o.ServiceSteps)
	if verb == verbActive || verb == verbRebuild {
		steps = o.DeploySteps

		delete(n.InstanceInfo, "configdrive") // each request brings its own

		if !blank(o.ConfigDrive) {
			n.InstanceInfo["configdrive"] = o.ConfigDrive
		}
	}

	return c.begin(n, verb, steps)
}

// abortTexts is what an abort leaves in last_error; nothing where Ironic leaves nothing.
var abortTexts = map[string]string{
	inspectWait: "Inspection was aborted by request.",
	cleanWait:   "By request, the clean operation was aborted",
	cleanHold:   "By request, the clean operation was aborted",
	rescueWait:  "By request, the rescue operation was aborted.",
}

func (c *call) abort(n *node, next string) error {
	why, target := abortTexts[n.ProvisionState], n.TargetProvisionState
	if next == active {
		target = ""
	}

	n.halt()
	n.set(next, target, c.now)
	n.LastError = why
	n.InspectionStartedAt = time.Time{}

	if why != "" {
		if err := c.record(n, "aborted", why, c.now); err != nil {
			return err
		}
	}

	return c.save(n)
}

// unhold goes on with the walk that a step "hold" stopped.
func (c *call) unhold(n *node, next string) error {
	n.set(next, n.TargetProvisionState, c.now)

	if n.Walk == nil {
		return c.save(n)
	}

	n.Walk.Until = c.now.Add(n.Walk.Pace)

	return c.settle(n)
}
