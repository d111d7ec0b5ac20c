// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// untaint is what the message of a failed create advises; it checks that it does.
func (l *life) untaint(t *testing.T, said string) {
	t.Helper()

	if !strings.Contains(said, "terraform untaint") {
		t.Errorf("the way on is not said: %s", said)
	}

	if in := l.state(t)[l.host.name]; in.Status != "tainted" {
		t.Fatalf("the state has %q, not a tainted host", in.Status)
	}

	l.must(t, "untaint", "metal3_baremetal_host.h")
}

// heals applies again and checks that the node is the same one, deployed.
func (l *life) heals(t *testing.T, id string) {
	t.Helper()
	l.apply(t)

	if n := l.is(t, "active"); id != "" && n.text("uuid") != id {
		t.Errorf("there is another node: %s instead of %s", n.text("uuid"), id)
	}

	l.empty(t)
}

func TestReal_wrongBMCPasswordIsMendedInPlace(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t))
	l.set("TF_VAR_bmc_password", "S3cret&+wrong")

	said := l.fails(t, "RegistrationError", "401", "bmc.password_wo")
	if strings.Contains(said, "S3cret") {
		t.Errorf("the password is in the output: %s", said)
	}

	id := l.node(t).text("uuid")
	l.untaint(t, said)

	l.set("TF_VAR_bmc_password", "password")
	l.with(t, func(h *host) { h.version = 2 })
	l.heals(t, id)
	l.gone(t)
}

func TestReal_rotatedBMCPassword(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	before := resets(t, l.host.machine)

	// Bad: refused on the attribute, the state keeps the version that works.
	l.set("TF_VAR_bmc_password", "S3cret&+wrong")
	l.with(t, func(h *host) { h.version = 2 })

	said := l.fails(t, "401", "bmc.password_wo")
	if strings.Contains(said, "S3cret") {
		t.Errorf("the password is in the output: %s", said)
	}

	l.plans(t, "password_wo_version")

	// Good.
	l.host.machine.Faults(t, map[string]any{"password": "rotated"})
	l.set("TF_VAR_bmc_password", "rotated")
	l.with(t, func(h *host) { h.version = 3 })
	l.heals(t, id)

	if now := resets(t, l.host.machine); now != before {
		t.Errorf("the machine was reset %v times", now-before)
	}

	l.gone(t)
}

func TestReal_missingImage(t *testing.T) {
	t.Parallel()

	r := someIronic(t)
	l := newLife(t, r, func(h *host) {
		h.image, h.extra = raw(r.HTTPURL+"/no-such.raw", strings.Repeat("0", 64)), "  provisioning_attempts = 1"
	})
	said := l.fails(t, "no-such.raw", "image")
	id := l.node(t).text("uuid")

	l.untaint(t, said)
	l.with(t, func(h *host) { h.image = raw(r.ImageURL, r.ImageSHA256) })
	l.heals(t, id)
	l.gone(t)
}

func TestReal_wrongChecksumFailsEachTime(t *testing.T) {
	t.Parallel()

	// The ramdisk's words when what it wrote is not what it should be.
	const words = "Image failed to verify against checksum"

	l := newLife(t, someIronic(t))
	l.host.machine.Faults(t, map[string]any{"fail_steps": map[string]string{"write_image": words}})

	said := l.fails(t, "ProvisioningError", words, "did not succeed in 2 attempts", "image.checksum")
	id := l.node(t).text("uuid")

	l.untaint(t, said)
	l.host.machine.Faults(t, map[string]any{})
	l.heals(t, id)

	// A redeployment that fails never taints.
	l.host.machine.Faults(t, map[string]any{"fail_steps": map[string]string{"write_image": words}})

	url, sum := l.far.Image(t, "checksum-2.raw")
	l.with(t, func(h *host) { h.image = raw(url, sum) })
	l.fails(t, words)

	if in := l.state(t)[l.host.name]; in.Status != "" || in.Attributes["id"] != id {
		t.Errorf("the state has %v %s", in.Attributes["id"], in.Status)
	}

	l.host.machine.Faults(t, map[string]any{})
	l.heals(t, id)
	l.gone(t)
}

func TestReal_powerFails(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t))
	l.host.machine.Faults(t, map[string]any{"fail_power": true})

	said := l.fails(t, "500")
	id := l.node(t).text("uuid")

	l.untaint(t, said)
	l.host.machine.Faults(t, map[string]any{})
	l.heals(t, id)

	l.host.machine.Faults(t, map[string]any{"fail_power": true})
	l.with(t, func(h *host) { h.extra = "  online = false" })
	l.fails(t, "power off")
	l.plans(t, "~ online")

	l.host.machine.Faults(t, map[string]any{})
	l.heals(t, id)
	l.gone(t)
}

func TestReal_OBMH05_silentAgent(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t), func(h *host) { h.extra = "  phase_timeouts = { inspect = \"15s\" }" })
	l.host.machine.Faults(t, map[string]any{"no_agent": true})
	l.fails(t, "InspectionError", "inspect", "phase_timeouts.inspect = 15s")

	// The node still waits for the agent, for minutes: a destroy aborts that and goes on.
	l.gone(t)
}

func TestReal_inspectionError(t *testing.T) {
	t.Parallel()

	const words = "no disk is large enough"

	l := newLife(t, someIronic(t))
	l.host.machine.Faults(t, map[string]any{"inspect_error": words})

	said := l.fails(t, "InspectionError", words)
	id := l.node(t).text("uuid")

	l.untaint(t, said)
	l.host.machine.Faults(t, map[string]any{})
	l.heals(t, id)
	l.gone(t)
}

func TestReal_cleaningFailsAndRecovers(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	l.host.machine.Faults(t, map[string]any{"fail_steps": map[string]string{"erase_devices_metadata": "disk is frozen"}})

	url, sum := l.far.Image(t, "cleaning-2.raw")
	l.with(t, func(h *host) { h.image = raw(url, sum) })

	r := l.start(t, "apply", "-auto-approve")
	if !l.far.watch().until(full(l.host.name), r.Done, verbLimit, func(n node) bool { return n.text("fault") == "clean failure" }) {
		t.Fatalf("the cleaning did not fail:\n%s", r.Wait().Out)
	}

	l.host.machine.Faults(t, map[string]any{})

	if r.Wait(); r.Code != 0 {
		t.Fatalf("apply: %d\n%s", r.Code, r.Out)
	}

	n := l.is(t, "active")
	if n.text("uuid") != id || n["maintenance"] != false {
		t.Errorf("node %s, maintenance %v", n.text("uuid"), n["maintenance"])
	}

	l.empty(t)

	// And on the way out.
	l.host.machine.Faults(t, map[string]any{"fail_steps": map[string]string{"erase_devices_metadata": "disk is frozen"}})
	l.gone(t)
}

func TestReal_maintenanceByHand(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	l.far.ask(t, http.MethodPut, "/nodes/"+id+"/maintenance", map[string]any{"reason": "Fan is changed"})

	said := l.empty(t)
	if !strings.Contains(tfrun.Flat(said), "Fan is changed") {
		t.Errorf("the plan does not warn:\n%s", said)
	}

	// Settings and power need no end of it; a deployment does, and says so.
	l.with(t, func(h *host) { h.extra += "\n  labels = { a = \"b\" }" })
	l.apply(t)

	if n := l.is(t, "active"); n["maintenance"] != true {
		t.Error("a label ended the maintenance")
	}

	url, sum := l.far.Image(t, "maintenance-2.raw")
	l.with(t, func(h *host) { h.image = raw(url, sum) })

	said = l.apply(t)
	if !strings.Contains(tfrun.Flat(said), "was in maintenance") {
		t.Errorf("the end of the maintenance is not told:\n%s", said)
	}

	l.is(t, "active")
	l.empty(t)

	// A host in maintenance can be destroyed.
	l.far.ask(t, http.MethodPut, "/nodes/"+id+"/maintenance", map[string]any{"reason": "again"})
	l.gone(t)
}

func TestReal_OBMH04_lockedNode(t *testing.T) {
	t.Parallel()

	l, id := running(t)

	// A slow BMC makes the conductor hold its lock for a while.
	l.host.machine.Faults(t, map[string]any{"http_delay_ms": 2500})
	l.far.ask(t, http.MethodPut, "/nodes/"+id+"/states/power", map[string]any{"target": "rebooting"})

	if !l.far.watch().until(full(l.host.name), nil, 10*time.Second, moving) {
		t.Fatal("Ironic has not begun")
	}

	status, answer := l.far.try(http.MethodPatch, "/nodes/"+id, []map[string]any{{"op": "add", "path": "/description", "value": "by hand"}})
	t.Logf("a change by hand at this moment: %d %s", status, answer)

	l.with(t, func(h *host) { h.extra += "\n  description = \"changed while locked\"" })
	l.apply(t)
	l.host.machine.Faults(t, map[string]any{})
	l.is(t, "active")
	l.empty(t)
	l.gone(t)
}

func TestReal_deafBMC(t *testing.T) {
	t.Parallel()

	l := newLife(t, someIronic(t))
	l.host.machine.Faults(t, map[string]any{"unreachable": true})

	said := l.fails(t, "RegistrationError", "503", "bmc.address")
	id := l.node(t).text("uuid")

	l.untaint(t, said)
	l.host.machine.Faults(t, map[string]any{})

	// And for some seconds in the middle of a deployment.
	r := l.start(t, "apply", "-auto-approve")
	l.far.watch().until(full(l.host.name), r.Done, verbLimit, at("wait call-back"))
	l.host.machine.Faults(t, map[string]any{"unreachable": true})
	time.Sleep(4 * time.Second)
	l.host.machine.Faults(t, map[string]any{})

	if r.Wait(); r.Code != 0 {
		t.Fatalf("apply: %d\n%s", r.Code, r.Out)
	}

	l.heals(t, id)
	l.gone(t)
}

func TestReal_undeployedByHand(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	l.far.provision(t, id, "deleted")
	l.far.watch().until(full(l.host.name), nil, verbLimit, func(n node) bool { return at("available")(n) && n.text("target_provision_state") == "" })

	l.plans(t, "Host "+l.host.name+" will be deployed", "its disk is overwritten")
	l.heals(t, id)

	// Destroyed while somebody undeploys it.
	l.far.provision(t, id, "deleted")
	l.gone(t)
}

func TestReal_duplicateName(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	other := &life{far: l.far, workspace: newWorkspace(t, l.far.Real), host: l.host}
	other.host.machine = l.far.Machine(t)
	other.configure(t, other.host)
	other.fails(t, "already", id, "name =")

	if all := other.state(t); len(all) != 0 {
		t.Errorf("the second has a state: %v", all)
	}

	// The very same host in a second workspace: it is finished, and long enough ago it is nobody's to resume.
	other.destroy(t)
	l.is(t, "active")
	l.empty(t)
	l.gone(t)
}

func TestReal_OBMH03_MACOfAnotherNode(t *testing.T) {
	t.Parallel()

	l, id := running(t)
	other := newLife(t, l.far.Real, func(h *host) { h.name += "-b" })
	other.with(t, func(h *host) { h.extra = fmt.Sprintf("  boot_mac_address = %q", l.host.machine.MAC) })
	other.fails(t, l.host.machine.MAC, id, "boot_mac_address")
	other.destroy(t)

	if n := other.node(t); n != nil {
		t.Errorf("a record was left: %v", n)
	}

	l.is(t, "active")
	l.empty(t)
	l.gone(t)
}
