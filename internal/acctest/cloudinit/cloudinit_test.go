// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cloudinit_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/cloudinit"
)

func TestConvert(t *testing.T) {
	t.Parallel()

	const data = `{"links": [{"id": "l0", "name": "prov0", "type": "phy", "mtu": 1500, "ethernet_mac_address": "00:11:22:33:44:55"}],
		"networks": [{"id": "n0", "link": "l0", "type": "ipv4", "ip_address": "192.0.2.9", "netmask": "255.255.255.0", "routes": []}], "services": []}`

	if plan := cloudinit.Convert(t, []byte(data)); !strings.Contains(plan, "192.0.2.9/24") || !strings.Contains(plan, "prov0:") {
		t.Errorf("it made this netplan:\n%s", plan)
	}

	nameless := strings.Replace(data, `"name": "prov0", `, "", 1)
	if plan, err := cloudinit.ConvertOn(t, []byte(nameless), map[string]string{"eth9": "00:11:22:33:44:99"}); err == nil {
		t.Errorf("a machine without the card was given\n%s", plan)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()

	cloudinit.Schema(t, []byte("#cloud-config\nhostname: n1\nwrite_files:\n- path: /etc/x\n  content: y\n  permissions: \"0600\"\n"))

	if err := cloudinit.CheckSchema(t, []byte("#cloud-config\nwrite_files: nothing\n")); err == nil || !strings.Contains(err.Error(), "write_files") {
		t.Errorf("it let files of the wrong type through: %v", err)
	}
}
