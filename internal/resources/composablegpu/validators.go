// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// modelName refuses what no fabric can have as a model. Fabrics compare models letter by
// letter, so a blank that was copied along would find nothing.
func modelName() validator.String {
	return value.Check("Invalid model", "the model as the fabric spells it, without blanks around it", func(s string) error {
		switch {
		case strings.TrimSpace(s) == "":
			return errors.New("the model is empty")
		case strings.TrimSpace(s) != s:
			return errors.New("the model has blanks around it; the fabric would not find it")
		default:
			return nil
		}
	})
}

// machineID refuses what is no id of a machine.
func machineID() validator.String {
	return value.Check("Invalid machine id", "the id of a machine in the fabric", func(s string) error {
		switch id := fabric.MachineID(s); {
		case id == "":
			return errors.New("the id of the machine is empty")
		case strings.ContainsAny(id, " \t\r\n"):
			return errors.New("the id of a machine has no blanks")
		default:
			return nil
		}
	})
}

// hasMachine refuses a host without a machine id. One that is not known yet may have one.
type hasMachine struct{}

func (hasMachine) Description(context.Context) string               { return "machine_id is required" }
func (h hasMachine) MarkdownDescription(ctx context.Context) string { return h.Description(ctx) }

func (hasMachine) ValidateObject(_ context.Context, req validator.ObjectRequest, resp *validator.ObjectResponse) {
	if !value.Known(req.ConfigValue) {
		return
	}

	if id := req.ConfigValue.Attributes()["machine_id"]; id == nil || id.IsNull() {
		resp.Diagnostics.AddAttributeError(req.Path.AtName("machine_id"), "Host without a machine id", noMachine)
	}
}

// noMachine says where the id of a machine comes from.
const noMachine = "machine_id is required: without it the fabric cannot be asked for the machine. A metal3_baremetal_host exposes it as fabric_machine_id: the system UUID that an " +
	"inspection told, or what its configuration says. The data source metal3_fabric_machines lists all."
