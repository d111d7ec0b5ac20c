// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/agent"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// realIronic is the endpoint of a real Ironic. On a desk it may be missing, in CI never.
func realIronic(t *testing.T) string {
	t.Helper()

	endpoint := strings.TrimSuffix(strings.TrimRight(os.Getenv("METAL3_TEST_IRONIC"), "/"), "/v1")
	if testing.Short() {
		t.Skip("-short: no real parts")
	}

	if endpoint == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("METAL3_TEST_IRONIC is not set: CI must prove the machines on a real Ironic")
		}

		t.Skip("METAL3_TEST_IRONIC is not set: no real Ironic to stand behind")
	}

	return endpoint
}

// conductor speaks to the real Ironic about one node.
type conductor struct {
	t        *testing.T
	endpoint string
	version  string
	node     string
}

func newConductor(t *testing.T, node string) conductor {
	t.Helper()

	c := conductor{t: t, endpoint: realIronic(t), version: "1.81", node: node}

	var root struct{ Version struct{ Version string } }

	_, body := c.do(http.MethodGet, "/v1/", nil)
	if err := json.Unmarshal(body, &root); err != nil {
		t.Fatalf("%s is no Ironic: %v", c.endpoint, err)
	}

	c.version = root.Version.Version

	return c
}

func (c conductor) do(method, path string, body any) (int, []byte) {
	c.t.Helper()

	var reader io.Reader

	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			c.t.Fatal(err)
		}

		reader = bytes.NewReader(raw)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // also used by clean-up
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, c.endpoint+path, reader)
	if err != nil {
		c.t.Fatal(err)
	}

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-OpenStack-Ironic-API-Version", c.version)

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()

	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}

	return resp.StatusCode, raw
}

// must is do with the one answer that is right; a lock is waited for.
func (c conductor) must(want int, method, path string, body any) []byte {
	c.t.Helper()

	for range 20 {
		code, answer := c.do(method, path, body)
		if code == want {
			return answer
		}

		if code != http.StatusConflict {
			c.t.Fatalf("%s %s: %d %s", method, path, code, answer)
		}

		time.Sleep(time.Second)
	}

	c.t.Fatalf("%s %s: locked for ever", method, path)

	return nil
}

type seen struct {
	State  string `json:"provision_state"`
	Target string `json:"target_provision_state"`
	Error  string `json:"last_error"`
	Power  string `json:"power_state"`
}

func (c conductor) look() seen {
	c.t.Helper()

	var s seen

	raw := c.must(http.StatusOK, http.MethodGet, "/v1/nodes/"+c.node+"?fields=provision_state,target_provision_state,last_error,power_state", nil)
	if err := json.Unmarshal(raw, &s); err != nil {
		c.t.Fatal(err)
	}

	return s
}

// provision asks for a verb and waits for the state that it ends in.
func (c conductor) provision(verb, state string, more map[string]any) {
	c.t.Helper()

	began := time.Now()
	body := map[string]any{"target": verb}

	for k, v := range more {
		body[k] = v
	}

	c.must(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+c.node+"/states/provision", body)

	// A GET costs Ironic 6 ms of its one process: many who look often are all it does.
	rhythm := 300 * time.Millisecond

	for deadline := began.Add(6 * time.Minute); time.Now().Before(deadline); time.Sleep(rhythm) {
		rhythm = min(rhythm*5/4, 4*time.Second)

		switch s := c.look(); {
		case s.Target == "" && s.State == state:
			c.t.Logf("%s: %s after %s", verb, state, time.Since(began).Round(100*time.Millisecond))

			return
		case strings.HasSuffix(s.State, "failed") || s.State == "error":
			c.t.Fatalf("%s: %s: %s", verb, s.State, s.Error)
		case s.Target == "" && s.Error != "":
			c.t.Fatalf("%s: back in %s: %s", verb, s.State, s.Error)
		}
	}

	c.t.Fatalf("%s: still %+v", verb, c.look())
}

// forget removes the node whatever state it is in.
func (c conductor) forget() {
	if code, _ := c.do(http.MethodGet, "/v1/nodes/"+c.node, nil); code == http.StatusNotFound {
		return
	}

	c.do(http.MethodPut, "/v1/nodes/"+c.node+"/maintenance", map[string]string{"reason": "end of a test"})

	for range 30 {
		if code, _ := c.do(http.MethodDelete, "/v1/nodes/"+c.node, nil); code == http.StatusNoContent || code == http.StatusNotFound {
			return
		}

		time.Sleep(time.Second)
	}

	c.t.Errorf("node %s is left behind", c.node)
}

func serveRack(t *testing.T, st *store.Store, o machine.Options) *httptest.Server {
	t.Helper()

	o.PowerDelay, o.BootDelay = 200*time.Millisecond, 300*time.Millisecond

	netboot := os.Getenv("METAL3_TEST_IRONIC_HTTP")
	if netboot == "" {
		netboot = "http://127.0.0.1:6180"
	}

	rack, err := agent.NewRack(st, o, agent.Options{
		Netboot: netboot, Heartbeat: 2 * time.Second, StepDelay: 200 * time.Millisecond,
	}, bmc.Options{})
	if err != nil {
		t.Fatal(err)
	}

	srv := httptest.NewServer(rack)
	t.Cleanup(func() { srv.Close(); rack.Close() })

	return srv
}

// enroll creates the node of machine i.
func (c conductor) enroll(bmcURL string, i int, more map[string]any) {
	c.t.Helper()

	c.forget() // of an earlier run that was killed

	node := map[string]any{
		"name": c.node, "driver": "redfish", "resource_class": "baremetal",
		"deploy_interface": "direct", "boot_interface": "redfish-virtual-media", "inspect_interface": "agent",
		"properties": map[string]string{"capabilities": "boot_mode:uefi"},
		"driver_info": map[string]string{
			"redfish_address": bmcURL, "redfish_system_id": "/redfish/v1/Systems/" + machine.ID(i),
			"redfish_username": "admin", "redfish_password": "password",
		},
	}
	for k, v := range more {
		node[k] = v
	}

	c.must(http.StatusCreated, http.MethodPost, "/v1/nodes", node)
	c.t.Cleanup(c.forget)
}

// image serves a disk image and returns the instance_info that asks for it.
func image(t *testing.T) (url string, patch []map[string]any) {
	t.Helper()

	content := bytes.Repeat([]byte("a disk "), 100_000)
	sum := sha256.Sum256(content)

	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image.raw", time.Time{}, bytes.NewReader(content))
	}))
	t.Cleanup(srv.Close)

	url = srv.URL + "/image.raw"
	for key, value := range map[string]string{
		"image_source": url, "image_os_hash_algo": "sha256", "image_os_hash_value": hex.EncodeToString(sum[:]), "image_disk_format": "raw",
	} {
		patch = append(patch, map[string]any{"op": "add", "path": "/instance_info/" + key, "value": value})
	}

	return url, patch
}

func load(t *testing.T, st *store.Store, i int) machine.Machine {
	t.Helper()

	var m machine.Machine

	err := st.View(func(tx store.Tx) (err error) {
		m, _, err = machine.Load(tx, machine.Name(i))

		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	return m
}

// TestReal_wholeLife is the life of machines on a real Ironic: its real conductor drives the
// real Redfish driver, and boots our agents from the ISOs that it made.
func TestReal_wholeLife(t *testing.T) {
	t.Parallel()
	realIronic(t)

	machines := 2
	if n, err := strconv.Atoi(os.Getenv("METAL3_TEST_REAL_LIVES")); err == nil {
		machines = n // to see how many are fine
	}

	st := store.New("")
	bmcs := serveRack(t, st, machine.Options{First: firstLife, Count: machines})
	url, patch := image(t)

	for i := firstLife; i < firstLife+machines; i++ {
		t.Run(fmt.Sprintf("of machine %d", i), func(t *testing.T) {
			t.Parallel()
			live(t, st, bmcs.URL, i, url, patch)
		})
	}
}

// firstLife is far up: MAC addresses are unique in Ironic, and other tests are on it too.
const firstLife = 910

func live(t *testing.T, st *store.Store, bmcURL string, i int, url string, patch []map[string]any) {
	t.Helper()

	c := newConductor(t, fmt.Sprintf("labbmc-life-%d", i))
	c.enroll(bmcURL, i, nil)

	c.provision("manage", "manageable", nil)
	c.provision("inspect", "manageable", nil)

	var inventory struct {
		Inventory struct{ Interfaces []map[string]any }
	}

	raw := c.must(http.StatusOK, http.MethodGet, "/v1/nodes/"+c.node+"/inventory", nil)
	if err := json.Unmarshal(raw, &inventory); err != nil || len(inventory.Inventory.Interfaces) != 2 {
		t.Errorf("the inventory that Ironic kept is %.200s (%v)", raw, err)
	}

	c.provision("clean", "manageable", map[string]any{"clean_steps": []any{
		map[string]any{"interface": "deploy", "step": "erase_devices_metadata"},
	}})
	c.provision("provide", "available", nil)

	c.must(http.StatusOK, http.MethodPatch, "/v1/nodes/"+c.node, patch)
	c.provision("active", "active", map[string]any{"configdrive": map[string]any{
		"meta_data": map[string]string{"name": "life"}, "network_data": map[string]any{}, "user_data": "#cloud-config\n{}\n",
	}})

	// The last boot may still be under way when Ironic is content.
	for deadline := time.Now().Add(10 * time.Second); load(t, st, i).Running != machine.Disk && time.Now().Before(deadline); {
		time.Sleep(100 * time.Millisecond)
	}

	if m := load(t, st, i); m.Running != machine.Disk || m.Image != url || m.Power != machine.On {
		t.Errorf("the deployed machine is %s, runs %q from %q; it did\n%s", m.Power, m.Running, m.Image, strings.Join(m.Events, "\n"))
	}

	c.provision("deleted", "available", nil)
	c.must(http.StatusNoContent, http.MethodDelete, "/v1/nodes/"+c.node, nil)

	if m := load(t, st, i); m.Power != machine.Off {
		t.Errorf("the machine is %s after its life", m.Power)
	}
}

// TestReal_networkBoot: the kernel parameters come from what Ironic's iPXE interface wrote.
func TestReal_networkBoot(t *testing.T) {
	t.Parallel()

	const i = 904

	c := newConductor(t, "labbmc-netboot")
	st := store.New("")
	c.enroll(serveRack(t, st, machine.Options{First: i, Count: 1}).URL, i, map[string]any{"boot_interface": "ipxe"})

	var node struct{ UUID string }
	if err := json.Unmarshal(c.must(http.StatusOK, http.MethodGet, "/v1/nodes/"+c.node, nil), &node); err != nil {
		t.Fatal(err)
	}

	c.must(http.StatusCreated, http.MethodPost, "/v1/ports", map[string]any{
		"node_uuid": node.UUID, "address": load(t, st, i).MACs[0], "pxe_enabled": true,
	})
	c.provision("manage", "manageable", nil)
	c.provision("inspect", "manageable", nil)

	if events := strings.Join(load(t, st, i).Events, "\n"); !strings.Contains(events, "boots Pxe") || !strings.Contains(events, "inventory accepted") {
		t.Errorf("the machine did\n%s", events)
	}
}

// TestReal_settings changes what only the BMC holds: BIOS settings, RAID and firmware.
func TestReal_settings(t *testing.T) {
	t.Parallel()

	const i = 902

	c := newConductor(t, "labbmc-settings")
	st := store.New("")
	// BIOS needs a ramdisk's look-up, which needs a port.
	c.enroll(serveRack(t, st, machine.Options{First: i, Count: 1}).URL, i, map[string]any{
		"bios_interface": "redfish", "raid_interface": "redfish", "firmware_interface": "redfish",
	})

	c.provision("manage", "manageable", nil)
	c.provision("inspect", "manageable", nil)
	c.provision("clean", "manageable", map[string]any{"clean_steps": []any{map[string]any{
		"interface": "bios", "step": "apply_configuration",
		"args": map[string]any{"settings": []any{map[string]string{"name": "SriovGlobalEnable", "value": "Enabled"}}},
	}}})

	if v := load(t, st, i).BIOS["SriovGlobalEnable"]; v != "Enabled" {
		t.Errorf("SriovGlobalEnable is %v", v)
	}

	c.must(http.StatusNoContent, http.MethodPut, "/v1/nodes/"+c.node+"/states/raid", map[string]any{"logical_disks": []any{
		map[string]any{"size_gb": 100, "raid_level": "1", "is_root_volume": true},
	}})
	c.provision("clean", "manageable", map[string]any{"clean_steps": []any{
		map[string]string{"interface": "raid", "step": "delete_configuration"},
		map[string]string{"interface": "raid", "step": "create_configuration"},
	}})

	if n := len(load(t, st, i).Volumes); n != 1 {
		t.Errorf("%d volumes", n)
	}

	c.provision("clean", "manageable", map[string]any{"clean_steps": []any{map[string]any{
		"interface": "firmware", "step": "update",
		"args": map[string]any{"settings": []any{map[string]string{"component": "bios", "url": "http://127.0.0.1:9/bios-2.2.0.bin"}}},
	}}})

	if v := load(t, st, i).Firmware["BIOS"]; v != "2.2.0" {
		t.Errorf("BIOS firmware %s", v)
	}
}

// TestReal_wrongPassword: Ironic says 401, and with the right password all is well.
func TestReal_wrongPassword(t *testing.T) {
	t.Parallel()

	const i = 903

	c := newConductor(t, "labbmc-password")
	srv := serveRack(t, store.New(""), machine.Options{First: i, Count: 1})
	c.enroll(srv.URL, i, nil)

	control := func(faults string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, fmt.Sprintf("%s/sim/machines/%d/faults", srv.URL, i), strings.NewReader(faults))
		if err != nil {
			t.Fatal(err)
		}

		resp, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()

		if resp.StatusCode != http.StatusOK {
			t.Fatalf("faults: %s", resp.Status)
		}
	}

	control(`{"password": "rotated"}`)
	c.must(http.StatusAccepted, http.MethodPut, "/v1/nodes/"+c.node+"/states/provision", map[string]string{"target": "manage"})

	var s seen
	for range 100 {
		if s = c.look(); s.Target == "" && s.Error != "" {
			break
		}

		time.Sleep(200 * time.Millisecond)
	}

	if s.State != "enroll" || !strings.Contains(s.Error, "401") {
		t.Fatalf("after a wrong password the node is %+v", s)
	}

	control(`{}`)
	c.provision("manage", "manageable", nil)
}
