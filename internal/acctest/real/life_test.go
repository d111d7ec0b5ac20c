// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReal_liveISO(t *testing.T) {
	t.Parallel()

	r := someIronic(t)
	url, _ := r.Image(t, "live.iso")
	l := newLife(t, r, func(h *host) { h.image = fmt.Sprintf("    url    = %q\n    format = \"live-iso\"", url) })

	l.apply(t)

	if n := l.is(t, "active"); n.text("deploy_interface") != "ramdisk" {
		t.Errorf("deploy interface %q", n.text("deploy_interface"))
	}

	l.empty(t)
	l.gone(t)
}

func TestReal_rebuildKeepsTheClaim(t *testing.T) {
	t.Parallel()

	r := someIronic(t)
	l := newLife(t, r, func(h *host) { h.extra = "  reprovision_method = \"rebuild\"" })
	l.apply(t)

	before := l.is(t, "active")
	url, sum := r.Image(t, "rebuild.raw")
	l.with(t, func(h *host) { h.image = raw(url, sum) })
	l.plans(t, "Disk of host "+l.host.name+" will be overwritten", "rebuild")
	l.apply(t)
	l.empty(t)

	after := l.is(t, "active")
	if after.text("instance_uuid") != before.text("instance_uuid") || after.text("uuid") != before.text("uuid") {
		t.Error("the node or its claim is another")
	}

	view := l.host.machine.View(t)
	if view["image"] != url {
		t.Errorf("the machine runs %v", view["image"])
	}

	if events := fmt.Sprint(view["events"]); strings.Contains(events[strings.LastIndex(events, "write_image"):], "erase") {
		t.Errorf("a rebuild cleaned the disk: %s", events)
	}

	l.gone(t)
}

func TestReal_onlineSwitchesTheMachine(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t))
	l.apply(t)
	l.is(t, "active")

	l.with(t, func(h *host) { h.extra = "  online = false" })
	l.apply(t)
	l.empty(t)

	if n := l.is(t, "active"); n.text("power_state") != "power off" || l.host.machine.View(t)["power"] != "Off" {
		t.Errorf("it is %s", n.text("power_state"))
	}

	// Somebody presses the button; Ironic's own look at it is a minute away, so it is told.
	l.far.ask(t, http.MethodPut, "/nodes/"+full(l.host.name)+"/states/power", map[string]any{"target": "power on"})
	l.far.watch().until(full(l.host.name), nil, verbLimit, func(n node) bool {
		return n.text("power_state") == "power on" && n.text("target_power_state") == ""
	})
	l.plans(t, "~ online")

	l.with(t, func(h *host) { h.extra = "" })
	l.empty(t)
	l.gone(t)
}

func TestReal_externallyProvisionedLeavesTheDisk(t *testing.T) {
	t.Parallel()

	r := someIronic(t)

	// A machine that runs what somebody else put there.
	first := newLife(t, r, func(h *host) { h.extra = "  deletion_policy = \"detach\"" })
	first.apply(t)
	first.gone(t)

	m, before := first.host.machine, resets(t, first.host.machine)
	image := m.View(t)["image"]

	if image != r.ImageURL || m.View(t)["power"] != "On" {
		t.Fatalf("detached, the machine is %v with %v", m.View(t)["power"], image)
	}

	l := newLife(t, r, func(h *host) {
		h.name, h.machine, h.image = "external", m, ""
		h.extra = "  externally_provisioned = true"
	})
	l.apply(t)
	l.is(t, "active")
	l.empty(t)

	if now := resets(t, m); now != before {
		t.Errorf("the machine was reset %v times", now-before)
	}

	l.gone(t)

	if view := m.View(t); view["image"] != image || view["power"] != "Off" {
		t.Errorf("after destroy the machine is %v with %v", view["power"], view["image"])
	}
}

// running deploys a host and forgets it, as a lost state does.
func running(t *testing.T) (l *life, id string) {
	t.Helper()

	l = newLife(t, someIronic(t), func(h *host) { h.extra = "  user_data = \"#cloud-config\\n{}\\n\"" })
	l.apply(t)
	id = l.is(t, "active").text("uuid")

	return l, id
}

func TestReal_importOfARunningHost(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	before := resets(t, l.host.machine)
	l.must(t, "state", "rm", "metal3_baremetal_host.h")

	// By hand: only what the user alone knows may differ, and nothing moves.
	l.must(t, "import", "metal3_baremetal_host.h", "metal3/"+l.host.name)
	l.apply(t)
	l.is(t, "active")
	l.empty(t)

	// With generated configuration the plan is empty at once.
	l.must(t, "state", "rm", "metal3_baremetal_host.h")
	l.write(t, "main.tf", fmt.Sprintf("import {\n  to = metal3_baremetal_host.h\n  id = %q\n}\n", id))

	said := l.must(t, "plan", "-generate-config-out=generated.tf")
	if !strings.Contains(said, "1 to import, 0 to add, 0 to change, 0 to destroy") {
		t.Errorf("the generated configuration changes something:\n%s", said)
	}

	l.apply(t)
	l.is(t, "active")
	l.empty(t)

	if now := resets(t, l.host.machine); now != before {
		t.Errorf("the machine was reset %v times", now-before)
	}

	if err := os.Remove(filepath.Join(l.dir, "generated.tf")); err != nil {
		t.Error(err)
	}

	l.with(t)
	l.gone(t)
}

func TestReal_adoptsAMachineWhoseRecordIsLost(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	before := resets(t, l.host.machine)

	l.far.ask(t, http.MethodPut, "/nodes/"+id+"/maintenance", map[string]any{"reason": "by mistake"})
	l.far.ask(t, http.MethodDelete, "/nodes/"+id, nil)

	l.plans(t, "Host "+l.host.name+" will be enrolled again", "the disk is not touched")
	l.apply(t)

	if n := l.is(t, "active"); n.text("uuid") != id {
		t.Errorf("enrolled under %s instead of %s", n.text("uuid"), id)
	}

	l.empty(t)

	if view := l.host.machine.View(t); resets(t, l.host.machine) != before || view["image"] != l.far.ImageURL || view["power"] != "On" {
		t.Errorf("the machine was reset %v times, is %v with %v", resets(t, l.host.machine)-before, view["power"], view["image"])
	}

	l.gone(t)
}

func TestReal_networkBoot(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t), func(h *host) {
		h.address = strings.Replace(h.machine.Address, "redfish-virtualmedia+", "redfish+", 1)
		h.extra = fmt.Sprintf("  boot_mac_address = %q", h.machine.MAC)
	})
	l.apply(t)

	if n := l.is(t, "active"); n.text("boot_interface") != "ipxe" {
		t.Errorf("boot interface %q", n.text("boot_interface"))
	}

	l.empty(t)
	l.gone(t)
}
