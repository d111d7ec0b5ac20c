// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

func TestHost_withoutImageBecomesAvailable(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.wants(Map{
			"provisioning_state": "available", "operational_status": "OK", "powered_on": true, "hardware.cpu.arch": "x86_64",
			"node_name": "metal3~node-0", "bmc.password_wo": nil, "endpoint": lab.Endpoint,
		})
		w.destroy()
	})
}

func TestHost_withImageIsProvisioned(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, disk(image), Map{"user_data": "#cloud-config\n{}\n"}))
		w.wants(Map{"provisioning_state": "provisioned", "ironic_state": "active", "powered_on": true, "applied.image.url": image})
		w.destroy()

		if m := w.Machine(w.t, "node-0"); m.Power != "Off" {
			w.t.Errorf("the machine is %s", m.Power)
		}
	})
}
