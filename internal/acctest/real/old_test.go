// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// TestReal_oldestIronic has the same life as far as its API goes, and clear
// words for what is beyond it.
func TestReal_oldestIronic(t *testing.T) {
	t.Parallel()

	r := acctest.IronicOld(t)
	l := newLife(t, r)

	mac := fmt.Sprintf("  boot_mac_address = %q\n", l.host.machine.MAC)
	l.with(t, func(h *host) { h.extra = mac + "  inspection_mode = \"disabled\"\n  disable_power_off = true" })
	l.fails(t, "disable_power_off", "1.95", "1.82")

	if n := l.node(t); n != nil {
		t.Errorf("something was registered: %v", n)
	}

	// Inspection by the agent came with 1.84: what is done instead is told.
	l.with(t, func(h *host) { h.extra = mac })

	if said := tfrun.Flat(l.apply(t)); !strings.Contains(said, "1.84") || !strings.Contains(said, "1.82") {
		t.Errorf("what is beyond the API is not said:\n%s", said)
	}

	l.is(t, "active")
	l.empty(t)

	url, sum := r.Image(t, "old-2.raw")
	l.with(t, func(h *host) {
		h.image = raw(url, sum)
		h.extra += "\n  labels = { of = \"old\" }\n  description = \"old\""
	})
	l.plans(t, "Disk of host "+l.host.name+" will be overwritten")
	l.apply(t)
	l.is(t, "active")
	l.empty(t)

	// As a change it fails as well, and the host stays as it is.
	l.with(t, func(h *host) { h.extra = mac + "  disable_power_off = true" })
	l.fails(t, "disable_power_off", "1.95", "1.82")
	l.with(t, func(h *host) { h.extra = mac })
	l.apply(t)
	l.empty(t)
	l.gone(t)
}

// TestReal_oldestIronicAsksTheBMC inspects out of band.
func TestReal_oldestIronicAsksTheBMC(t *testing.T) {
	t.Parallel()

	l := newLife(t, acctest.IronicOld(t), func(h *host) {
		h.image, h.extra = "", fmt.Sprintf("  inspection_mode = \"fast\"\n  boot_mac_address = %q", h.machine.MAC)
	})
	l.apply(t)
	l.is(t, "manageable") // Ironic's word for a host that is inspected and has no image
	l.empty(t)
	l.gone(t)
}

// TestReal_ipmi lives behind a real IPMI simulator: network boot, cipher suite 3.
func TestReal_ipmi(t *testing.T) {
	t.Parallel()

	r := acctest.Ironic(t)
	address := acctest.IPMI(t)

	w, f := newWorkspace(t, r), farSide(t, r)
	h := host{
		name: "ipmi", address: "ipmi://" + address, image: raw(r.ImageURL, r.ImageSHA256),
		extra: fmt.Sprintf("  boot_mac_address = %q", ipmiMAC(t)),
	}
	text := strings.Replace(h.hcl(), "    password_wo_version", "    driver_info = { ipmi_cipher_suite = \"3\" }\n    password_wo_version", 1)
	text = "variable \"bmc_password\" {\n  ephemeral = true\n  default   = \"password\"\n}\n" + text

	f.sweep(t, full("ipmi"))
	w.write(t, "main.tf", text)
	w.apply(t)

	n := f.node(t, full("ipmi"))
	if stateOf(n) != "active" || n.text("driver") != "ipmi" || n.text("power_state") != "power on" {
		t.Errorf("the node is %s, %s, %s", stateOf(n), n.text("driver"), n.text("power_state"))
	}

	w.empty(t)
	w.write(t, "main.tf", strings.Replace(text, "boot_mac_address", "online = false\n  boot_mac_address", 1))
	w.apply(t)
	w.empty(t)

	if n := f.node(t, full("ipmi")); n.text("power_state") != "power off" {
		t.Errorf("it is %s", n.text("power_state"))
	}

	w.destroy(t)

	if n := f.node(t, full("ipmi")); n != nil {
		t.Errorf("the record is still there: %v", n)
	}
}
