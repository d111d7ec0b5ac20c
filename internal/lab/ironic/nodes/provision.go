// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
)

var orderFields = []string{
	"target", "configdrive", "clean_steps", "deploy_steps", "service_steps", "rescue_password", "disable_ramdisk", "runbook",
}

func provision(c *api.Call) (api.Answer, error) {
	o, err := order(c)
	if err != nil {
		return api.Answer{}, err
	}

	n, err := c.Target(0)
	if err != nil {
		return api.Answer{}, err
	}

	if state.VerbSince[o.Target] > c.Minor {
		return api.Answer{}, fault.NotAcceptable()
	}

	verb := o.Target
	if long, ok := state.Aliases[verb]; ok {
		verb = long
	}

	if (verb == state.VerbActive || verb == state.VerbRebuild) && n.Maintenance {
		return api.Answer{}, fault.InMaintenance("provisioning", n.UUID)
	}

	next, ok := state.Accepts(n.ProvisionState, verb, c.Newest)
	if !ok {
		if host := n.ReservedBy(c.Host); host != "" {
			return api.Answer{}, fault.Locked(n.UUID, host)
		}

		return api.Answer{}, fault.BadState(o.Target, n.UUID, n.ProvisionState)
	}

	if err := checkOrder(c, o, verb); err != nil {
		return api.Answer{}, err
	}

	if err := c.Lock(n); err != nil {
		return api.Answer{}, err
	}

	if err := conductor.Check(n, verb); err != nil {
		return api.Answer{}, err
	}

	return api.Answer{Status: http.StatusAccepted, Location: statesPath(c)}, c.Do(n, verb, next, o)
}

func order(c *api.Call) (conductor.Order, error) {
	var o conductor.Order

	fields, err := c.Decode("body")
	if err != nil {
		return o, err
	}

	for field := range fields {
		if !slices.Contains(orderFields, field) {
			return o, fault.Invalid("Unexpected arguments: %s", field)
		}
	}

	if err := c.Read(&o); err != nil {
		return o, err
	}

	if o.Target == "" {
		return o, fault.Invalid("Missing mandatory parameter: target")
	}

	return o, nil
}

// checkOrder refuses what the API refuses before it asks the conductor.
func checkOrder(c *api.Call, o conductor.Order, verb string) error {
	deploys := verb == state.VerbActive || verb == state.VerbRebuild

	if err := checkDrive(c, o.ConfigDrive, deploys); err != nil {
		return err
	}

	// What a verb must bring, and what it may not.
	switch {
	case len(o.CleanSteps) > 0 && verb != state.VerbClean:
		return fault.Invalid(`"clean_steps" is only valid when setting target provision state to clean`)
	case len(o.DeploySteps) > 0 && c.Minor < 69:
		return fault.Refuse(http.StatusNotAcceptable, "Request not acceptable. The minimal required API version should be 1.69")
	case len(o.DeploySteps) > 0 && !deploys:
		return fault.Invalid(`"deploy_steps" is only valid when setting target provision state to active or rebuild`)
	case o.RescuePassword != "" && verb != state.VerbRescue:
		return fault.Invalid(`"rescue_password" is only valid when setting target provision state to rescue`)
	case len(o.ServiceSteps) > 0 && verb != state.VerbService:
		return fault.Invalid(`"service_steps" is only valid when setting target provision state to service`)
	case verb == state.VerbClean && len(o.CleanSteps) == 0:
		return fault.Invalid(`"clean_steps" is required when setting target provision state to clean`)
	case verb == state.VerbService && len(o.ServiceSteps) == 0:
		return fault.Invalid(`"service_steps" is required when setting target provision state to service`)
	case verb == state.VerbRescue && strings.TrimSpace(o.RescuePassword) == "":
		return fault.Invalid(`A non-empty "rescue_password" is required when setting target provision state to rescue`)
	}

	return checkStepShapes(o)
}

func checkDrive(c *api.Call, v any, deploys bool) error {
	if !conductor.Blank(v) && !deploys {
		return fault.Invalid("Adding a config drive is only supported when setting provision state to active, rebuild")
	}

	drive, ok := v.(map[string]any)

	switch {
	case !ok || len(drive) == 0:
		return nil
	case c.Minor < 56:
		return fault.Invalid("Providing a JSON object for configdrive is only supported starting with API version 1.56")
	case drive["vendor_data"] != nil && c.Minor < 59:
		return fault.Invalid("Providing vendor_data in configdrive is only supported starting with API version 1.59")
	}

	for key := range drive {
		if !slices.Contains([]string{"meta_data", "network_data", "user_data", "vendor_data"}, key) {
			return fault.Invalid("Invalid configdrive format: Additional properties are not allowed ('%s' was unexpected)", key)
		}
	}

	return nil
}

func checkStepShapes(o conductor.Order) error {
	for _, steps := range [][]map[string]any{o.CleanSteps, o.ServiceSteps, o.DeploySteps} {
		for _, s := range steps {
			for _, key := range []string{"interface", "step"} {
				if record.Text(s, key) == "" {
					return fault.Invalid("Schema error for steps: '%s' is a required property", key)
				}
			}
		}
	}

	for _, s := range o.DeploySteps {
		for _, key := range []string{"args", "priority"} {
			if _, ok := s[key]; !ok {
				return fault.Invalid("Schema error for steps: '%s' is a required property", key)
			}
		}
	}

	return nil
}
