// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Machine is a simulated machine behind a real Ironic that one test has for
// itself until it ends.
type Machine struct {
	// Index counts from 1.
	Index int
	// SystemID is the path of the machine in its BMC.
	SystemID string
	// Address is the BMC's address as a host's configuration spells it.
	Address string
	// Username and Password are the BMC's.
	Username, Password string
	// MAC is the address of the first network card, which boots.
	MAC string

	control string
}

// Machine hands out a machine that nobody else has in this run: packages are
// tested by processes of their own, which share the machines. It is switched
// off and has no faults.
func (r Real) Machine(t *testing.T) Machine {
	t.Helper()

	first, count := number(t, "METAL3_TEST_FIRST"), number(t, "METAL3_TEST_MACHINES")

	base, err := url.Parse(r.BMC)
	if err != nil || base.Host == "" {
		t.Fatalf("there are no machines behind %s", r.Endpoint)
	}

	claims := filepath.Join(part(t, "METAL3_TEST_DIR"), "claims-"+base.Port())
	if err := os.MkdirAll(claims, 0o755); err != nil {
		t.Fatalf("claims: %v", err)
	}

	for i := first; i < first+count; i++ {
		claim := filepath.Join(claims, strconv.Itoa(i))

		file, err := os.OpenFile(claim, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if os.IsExist(err) {
			continue
		}

		if err != nil {
			t.Fatalf("claim: %v", err)
		}

		_, _ = file.WriteString(t.Name() + "\n")
		_ = file.Close()

		t.Cleanup(func() { _ = os.Remove(claim) })

		return newMachine(t, r.BMC, i)
	}

	t.Fatalf("all %d machines of %s are taken (see %s)", count, r.BMC, claims)

	return Machine{}
}

func number(t *testing.T, variable string) int {
	t.Helper()

	n, err := strconv.Atoi(part(t, variable))
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}

	return n
}

func newMachine(t *testing.T, base string, i int) Machine {
	t.Helper()

	system := fmt.Sprintf("/redfish/v1/Systems/6d6f636b-0000-4000-8000-%012d", i)
	m := Machine{
		Index:    i,
		SystemID: system,
		Address:  "redfish-virtualmedia+" + base + system,
		Username: "admin",
		Password: "password",
		MAC:      fmt.Sprintf("52:54:00:5a:%02x:%02x", i/256, i%256),
		control:  fmt.Sprintf("%s/sim/machines/%d", base, i),
	}

	m.Faults(t, map[string]any{})
	m.Press(t, "Off")

	return m
}

// Faults makes the machine misbehave from now on: an object of the lab's
// control API, such as {"fail_power": true}. An empty one ends all faults.
func (m Machine) Faults(t *testing.T, faults map[string]any) {
	t.Helper()
	m.put(t, "faults", faults)
}

// Press is somebody at the machine's power button: "On" or "Off".
func (m Machine) Press(t *testing.T, state string) {
	t.Helper()
	m.put(t, "power", map[string]any{"state": state})
}

// View is what the machine says of itself: power, boot, media, events.
func (m Machine) View(t *testing.T) map[string]any {
	t.Helper()

	return m.ask(t, http.MethodGet, "", nil)
}

func (m Machine) put(t *testing.T, what string, body map[string]any) {
	t.Helper()
	m.ask(t, http.MethodPut, "/"+what, body)
}

// ask speaks to the control API. It has a deadline of its own, because it is
// also called when the test's context has ended.
func (m Machine) ask(t *testing.T, method, what string, body map[string]any) map[string]any {
	t.Helper()

	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	defer cancel()

	content, err := json.Marshal(body)
	if err != nil {
		t.Fatalf("machine %d: %v", m.Index, err)
	}

	req, err := http.NewRequestWithContext(ctx, method, m.control+what, bytes.NewReader(content))
	if err != nil {
		t.Fatalf("machine %d: %v", m.Index, err)
	}

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("machine %d: %v", m.Index, err)
	}
	defer resp.Body.Close()

	var answer map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("machine %d: %s %s: %s (%v)", m.Index, method, what, resp.Status, err)
	}

	return answer
}
