// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// askTimeout bounds what a refresh asks one host.
const askTimeout = 30 * time.Second

// ask looks at the devices on their hosts. A host that does not answer changes nothing: the
// fabric decides what there is.
func (r *gpuResource) ask(ctx context.Context, m model, devices []device.Record, diags *diag.Diagnostics) []device.Record {
	for _, h := range r.hosts(ctx, m, devices, true, diags) {
		if h.Node == nil {
			continue
		}

		r.askHost(ctx, h, devices, diags)
	}

	return devices
}

func (r *gpuResource) askHost(ctx context.Context, h device.Host, devices []device.Record, diags *diag.Diagnostics) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()

	for i, d := range devices {
		if !device.SameMachine(d.MachineID, h.MachineID) || d.State != device.Online && d.State != device.Attaching {
			continue
		}

		after, visible, err := h.Node.See(ctx, d)

		hidden := "the host does not show the device"

		if errors.Is(err, device.ErrNotVisible) { // the cluster was asked, and says so
			hidden, visible, err = err.Error(), false, nil
		}

		switch {
		case err != nil:
			diags.AddWarning("Devices of "+h.Label()+" could not be looked at", sentence(err)+" refresh_node = true asks for that; the values are kept as they were.")

			return
		case visible:
			after.State, after.Error = device.Online, ""
			devices[i] = after
		case d.State == device.Online:
			devices[i].State, devices[i].Error = device.Attaching, hidden
			diags.AddWarning("Device "+d.Label()+" is not seen on "+h.Label(), "The fabric says that the device is attached, and "+hidden+". The next apply waits for it.")
		}
	}
}
