// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const image = "http://images.lab/debian-12.qcow2"

// look is the machine that a node is.
func look(t *testing.T, st *store.Store, name string) machine.Machine {
	t.Helper()

	var m machine.Machine

	err := st.View(func(tx store.Tx) (err error) {
		m, _, err = machine.Load(tx, name)

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return m
}

// fault tells a machine to misbehave, from the start.
func fault(t *testing.T, st *store.Store, name string, f machine.Faults) {
	t.Helper()

	err := st.Update(func(tx store.Tx) error {
		if err := machine.Ensure(tx, machine.Options{}); err != nil {
			return err
		}

		m, _, err := machine.Load(tx, name)
		if err != nil {
			return err
		}

		m.Faults = f

		return machine.Save(tx, m)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLife_everyFamily(t *testing.T) {
	t.Parallel()

	for name, f := range map[string]family{
		"redfish, virtual media": {"redfish", "redfish-virtual-media", redfish(1)},
		"redfish, iPXE":          {"redfish", "ipxe", redfish(2)},
		"redfish, UEFI HTTP":     {"redfish", "redfish-https", redfish(1)},
		"iDRAC, virtual media":   {"idrac", "idrac-redfish-virtual-media", redfish(1)},
		"IPMI": {"ipmi", "", map[string]any{
			"ipmi_address": "node-1.lab", "ipmi_port": "623", "ipmi_username": "admin", "ipmi_password": "password",
		}},
		"no system id": {"redfish", "redfish-virtual-media", map[string]any{
			"redfish_address": "http://node-1.lab", "redfish_username": "admin", "redfish_password": "password",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := store.New("")
			r := rigOn(t, st, ironic.Options{})
			r.node("n", f)
			r.verb("manage", "")

			if n := r.rest("manageable"); n["power_state"] != "power off" {
				t.Errorf("power: %v", n["power_state"])
			}

			r.verb("inspect", "")
			r.rest("manageable")

			inventory := r.must(http.StatusOK, http.MethodGet, "/v1/nodes/n/inventory", nil)["inventory"].(map[string]any)
			if len(inventory["disks"].([]any)) == 0 {
				t.Error("no disks in the inventory")
			}

			ports := r.must(http.StatusOK, http.MethodGet, "/v1/ports?node=n", nil)["ports"].([]any)
			if len(ports) != 2 {
				t.Errorf("%d ports", len(ports))
			}

			r.verb("provide", "")
			r.rest("available")
			r.image(image, "http://images.lab/SHA256SUMS")
			r.verb("active", `,"configdrive":{"user_data":"x"}`)
			r.rest("active")

			host := machine.Name(1)
			if name == "redfish, iPXE" {
				host = machine.Name(2)
			}

			if m := look(t, st, host); m.Image != image || m.Running != machine.Disk || m.Power != machine.On {
				t.Errorf("the machine runs %q, has %q, is %s", m.Running, m.Image, m.Power)
			}

			r.verb("deleted", "")
			r.rest("available")

			if m := look(t, st, host); m.Image != "" || m.Power != machine.Off {
				t.Errorf("after cleaning the machine has %q and is %s", m.Image, m.Power)
			}

			r.must(http.StatusNoContent, http.MethodDelete, "/v1/nodes/n", nil)
		})
	}
}

func TestLife_inspectionThroughRedfish(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.edit("n", map[string]any{"provision_state": "manageable"})
	r.must(http.StatusOK, http.MethodPatch, "/v1/nodes/n", `[{"op":"add","path":"/inspect_interface","value":"redfish"}]`)
	r.verb("inspect", "")
	r.rest("manageable")

	body := r.must(http.StatusOK, http.MethodGet, "/v1/nodes/n/inventory", nil)
	if found := body["inventory"].(map[string]any); found["hostname"] != nil || len(found["interfaces"].([]any)) != 2 {
		t.Errorf("inventory: %v", found)
	}

	if len(body["plugin_data"].(map[string]any)) != 0 {
		t.Errorf("plugin_data: %v", body["plugin_data"])
	}
}

func TestLife_liveISO(t *testing.T) {
	t.Parallel()

	st := store.New("")
	r := rigOn(t, st, ironic.Options{NoAutomatedClean: true})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.verb("manage", "")
	r.rest("manageable")
	r.verb("provide", "")
	r.rest("available")
	r.must(http.StatusOK, http.MethodPatch, "/v1/nodes/n",
		`[{"op":"add","path":"/deploy_interface","value":"ramdisk"},{"op":"add","path":"/instance_info/boot_iso","value":"http://images.lab/live.iso"}]`)
	r.verb("active", "")
	r.rest("active")

	if m := look(t, st, "node-0"); m.Running != machine.ISO || m.Media["Cd"].Image != "http://images.lab/live.iso" {
		t.Errorf("the machine runs %q, medium %q", m.Running, m.Media["Cd"].Image)
	}
}

func TestLife_customDeploy(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{Pace: 2 * time.Millisecond})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.edit("n", map[string]any{"provision_state": "available"})
	r.must(http.StatusOK, http.MethodPatch, "/v1/nodes/n", `[{"op":"add","path":"/deploy_interface","value":"custom-agent"}]`)

	if code := r.verb("active", `,"deploy_steps":[{"interface":"deploy","step":"install_coreos","args":{},"priority":80}]`); code != http.StatusAccepted {
		t.Fatalf("status %d", code)
	}

	r.rest("active")
}

func TestLife_badImages(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ url, sum, why string }{
		"no such image":      {"http://images.lab/missing.qcow2", images.Sum("a", "sha256"), "Got HTTP code 404"},
		"unreachable server": {"http://elsewhere.example/a.qcow2", images.Sum("a", "sha256"), "Failed to establish a new connection"},
		"wrong checksum":     {image, images.Sum("other", "sha256"), "failed to verify against checksum"},
		"wrong MD5 checksum": {image, images.Sum("other", "md5"), "failed to verify against checksum"},
		"no such checksums":  {image, "http://images.lab/nothing.txt", "Got HTTP code 404"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := newRig(t, ironic.Options{})
			r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
			r.edit("n", map[string]any{"provision_state": "available"})
			r.image(c.url, c.sum)
			r.verb("active", "")

			n := r.rest("deploy failed")
			if why, _ := n["last_error"].(string); !strings.Contains(why, c.why) || n["target_provision_state"] != "active" {
				t.Errorf("last_error %q, want %q; target %v", why, c.why, n["target_provision_state"])
			}

			// The way out: another image, and "active" again.
			r.image(image, images.Sum("debian-12.qcow2", "sha256"))
			r.verb("active", "")
			r.rest("active")
		})
	}
}

func TestLife_machineFaults(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		faults            machine.Faults
		from, verb, more  string
		end, target, text string
		fault             any
	}{
		"wrong password":        {machine.Faults{Password: "other"}, "enroll", "manage", "", "enroll", "", "returned code 401", nil},
		"BMC down":              {machine.Faults{Unreachable: true}, "enroll", "manage", "", "enroll", "", "returned code 503", nil},
		"inspection error":      {machine.Faults{InspectError: "no disks"}, "manageable", "inspect", "", "inspect failed", "manageable", "no disks", nil},
		"no power":              {machine.Faults{FailPower: true}, "available", "active", "", "deploy failed", "active", "returned code 500", nil},
		"silent agent":          {machine.Faults{NoAgent: true}, "available", "active", "", "deploy failed", "active", "Timeout reached", nil},
		"no virtual media":      {machine.Faults{FailMedia: true}, "available", "active", "", "deploy failed", "active", "virtual media", nil},
		"image cannot be taken": {machine.Faults{FailSteps: map[string]string{"write_image": "disk full"}}, "available", "active", "", "deploy failed", "active", "disk full", nil},
		"clean step fails": {
			machine.Faults{FailSteps: map[string]string{"erase_devices": "disk is frozen"}},
			"manageable", "clean",
			extras["clean"], "clean failed", "manageable", "disk is frozen", "clean failure",
		},
		"automated cleaning fails": {
			machine.Faults{FailSteps: map[string]string{"erase_devices_metadata": "disk is frozen"}},
			"manageable", "provide", "",
			"clean failed", "available", "disk is frozen", "clean failure",
		},
		"service step fails": {
			machine.Faults{FailSteps: map[string]string{"factory_reset": "no"}},
			"active", "service", extras["service"],
			"service failed", "active", "no", "service failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			st := store.New("")
			fault(t, st, "node-0", c.faults)

			r := rigOn(t, st, ironic.Options{CallbackTimeout: 5 * time.Millisecond})
			r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
			r.edit("n", map[string]any{"provision_state": c.from})
			r.image(image, "http://images.lab/SHA256SUMS")

			if code := r.verb(c.verb, c.more); code != http.StatusAccepted {
				t.Fatalf("status %d", code)
			}

			if c.end == c.from {
				time.Sleep(20 * time.Millisecond)
			}

			n := r.rest(c.end)
			why, _ := n["last_error"].(string)

			if !strings.Contains(why, c.text) || c.target != "" && n["target_provision_state"] != c.target || n["fault"] != c.fault {
				t.Errorf("last_error %q, target %v, fault %v", why, n["target_provision_state"], n["fault"])
			}
		})
	}
}

func TestPower_deadBMC(t *testing.T) {
	t.Parallel()

	r := newRig(t, ironic.Options{})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.edit("n", map[string]any{"provision_state": "available", "power_state": "power off"})

	if err := r.KillBMC("n"); err != nil {
		t.Fatal(err)
	}

	if n := r.get("n"); n["power_state"] != nil || n["fault"] != "power failure" || n["maintenance"] != true {
		t.Errorf("power %v, fault %v, maintenance %v", n["power_state"], n["fault"], n["maintenance"])
	}

	if err := r.HealBMC("n"); err != nil {
		t.Fatal(err)
	}

	if n := r.get("n"); n["power_state"] != "power off" || n["fault"] != nil || n["maintenance"] != false {
		t.Errorf("healed: power %v, fault %v, maintenance %v", n["power_state"], n["fault"], n["maintenance"])
	}
}

func TestPower_silentBMC(t *testing.T) {
	t.Parallel()

	st := store.New("")
	r := rigOn(t, st, ironic.Options{PowerSync: 5 * time.Millisecond})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.edit("n", map[string]any{"provision_state": "active", "power_state": "power on"})
	fault(t, st, "node-0", machine.Faults{Unreachable: true})

	if n := r.get("n"); n["fault"] != nil || n["power_state"] != "power on" {
		t.Errorf("at the first failed sync: power %v, fault %v", n["power_state"], n["fault"])
	}

	time.Sleep(20 * time.Millisecond)

	if n := r.get("n"); n["fault"] != "power failure" || n["power_state"] != nil || n["provision_state"] != "active" {
		t.Errorf("after three: power %v, fault %v, state %v", n["power_state"], n["fault"], n["provision_state"])
	}
}

func TestPower_someonePressedTheButton(t *testing.T) {
	t.Parallel()

	st := store.New("")
	r := rigOn(t, st, ironic.Options{})
	r.node("n", family{"redfish", "redfish-virtual-media", redfish(0)})
	r.edit("n", map[string]any{"provision_state": "available"})

	err := st.Update(func(tx store.Tx) error {
		m, _, err := machine.Load(tx, "node-0")
		if err != nil {
			return err
		}

		m.SetPower("On", time.Now(), 0)

		return machine.Save(tx, m)
	})
	if err != nil {
		t.Fatal(err)
	}

	if n := r.get("n"); n["power_state"] != "power on" {
		t.Errorf("power: %v", n["power_state"])
	}
}
