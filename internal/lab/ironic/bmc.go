// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// address is what a node's driver_info says of its BMC.
type address struct{ url, host, system, username, password string }

func (n *node) bmc() address {
	prefix := "redfish"
	if n.Driver == "ipmi" {
		prefix = "ipmi"
	}

	a := address{
		url: text(n.DriverInfo, prefix+"_address"), system: text(n.DriverInfo, "redfish_system_id"),
		username: text(n.DriverInfo, prefix+"_username"), password: text(n.DriverInfo, prefix+"_password"),
	}
	a.host = a.url

	if u, err := url.Parse(a.url); err == nil && u.Host != "" {
		a.host = u.Host
	}

	return a
}

// path is the system's resource as it shows in errors.
func (a address) path() string {
	if a.system == "" {
		return a.url + machine.SystemPath
	}

	return strings.TrimSuffix(a.url, "/") + a.system
}

// simulated tells whether the node's driver talks to no BMC at all.
func (n *node) simulated() bool {
	return n.Driver == "fake-hardware" || n.Driver == "manual-management"
}

// machine is the node's machine, or nil for a driver without a BMC. What keeps the conductor
// from it is a *broken error in the words of the real driver.
func (c *call) machine(n *node) (*machine.Machine, error) {
	if n.simulated() {
		if n.BMCDead {
			return nil, broke("the power interface does not answer")
		}

		return nil, nil //nolint:nilnil // there is no machine, and that is no error
	}

	a := n.bmc()
	key := a.host + "|" + a.system

	m, ok := c.fleet[key]
	if !ok {
		found, exists, err := machine.ByAddress(c.tx, a.host, a.system)
		if err != nil {
			return nil, err
		}

		if exists {
			m = &found
			c.fleet[key] = m
		}
	}

	return m, reach(n, a, m)
}

// reach tells why a BMC cannot be used; nil where it can.
func reach(n *node, a address, m *machine.Machine) error {
	if n.Driver == "ipmi" {
		if m == nil || n.BMCDead || m.Faults.Unreachable || !m.Accepts(a.username, a.password) {
			return broke("IPMI call failed: power status.")
		}

		return nil
	}

	switch {
	case a.url == "":
		return broke("Missing the following Redfish properties in node's driver_info: ['redfish_address']")
	case m == nil && strings.HasSuffix(strings.ToLower(strings.Split(a.host, ":")[0]), "."+machine.Domain) && a.system != "":
		return broke("Redfish exception occurred. Error: Resource %s not found", a.path())
	case m == nil, n.BMCDead:
		return broke("Redfish connection failed for node %s: Unable to connect to %s/redfish/v1/. Error: HTTPConnectionPool(host='%s'): "+
			"Max retries exceeded with url: /redfish/v1/ (Caused by NewConnectionError('Failed to establish a new connection: "+
			"[Errno 111] ECONNREFUSED'))", n.UUID, strings.TrimSuffix(a.url, "/"), a.host)
	case m.Faults.Unreachable:
		return broke("Redfish exception occurred. Error: HTTP GET %s returned code 503. Base.1.8.ServiceTemporarilyUnavailable: "+
			"the BMC is not available", a.path())
	case !m.Accepts(a.username, a.password):
		return broke("Redfish exception occurred. Error: HTTP GET %s returned code 401. Base.1.8.NoValidSession: authentication required "+
			"Extended information: [{'Message': 'authentication required', 'MessageArgs': [], 'MessageId': 'Base.1.8.NoValidSession', "+
			"'Resolution': 'None', 'Severity': 'Critical'}]", a.path())
	}

	return nil
}

// powerWord is a machine's power in Ironic's words.
func powerWord(m *machine.Machine) string {
	if m.Power == machine.On {
		return powerOn
	}

	return powerOff
}

// syncsToLose is how many power syncs must fail in a row before the node gets its fault.
const syncsToLose = 3

// syncPower is the node's power state as the conductor's power sync would have left it. A
// silent BMC becomes a fault, and the fault goes away when the BMC is back.
func (c *call) syncPower(n *node) (string, error) {
	if n.UUID == "" || n.ProvisionState == enroll || n.ProvisionState == verifying || c.down {
		return n.PowerState, nil
	}

	if n.simulated() && !n.BMCDead && n.Fault != powerFault {
		return n.PowerState, nil
	}

	m, err := c.machine(n)

	var silent *broken

	switch {
	case err != nil && !asBroken(err, &silent):
		return "", err
	case silent != nil:
		return c.losePower(n, silent.text)
	}

	if !n.Lost.IsZero() || n.Fault == powerFault {
		return c.regainPower(n, m)
	}

	if m == nil {
		return n.PowerState, nil
	}

	return powerWord(m), nil
}

const powerFault = "power failure"

func (c *call) losePower(n *node, why string) (string, error) {
	if n.Maintenance { // a node in maintenance is not synced
		return n.PowerState, nil
	}

	if !c.write {
		return "", errReadOnly
	}

	if n.Lost.IsZero() {
		n.Lost = c.now
	}

	if c.now.Sub(n.Lost) < syncsToLose*c.PowerSync && !n.BMCDead {
		return n.PowerState, c.save(n)
	}

	n.LastError = fmt.Sprintf("During sync_power_state, max retries exceeded for node %s, node state None does not match expected state '%s'. "+
		"Updating DB state to 'None' Switching node to maintenance mode. Error: %s", n.UUID, n.PowerState, why)
	n.PowerState, n.Fault, n.Maintenance, n.MaintenanceReason, n.UpdatedAt = "", powerFault, true, n.LastError, c.now

	if err := c.record(n, "monitoring", n.LastError, c.now); err != nil {
		return "", err
	}

	return "", c.save(n)
}

func (c *call) regainPower(n *node, m *machine.Machine) (string, error) {
	if !c.write {
		return "", errReadOnly
	}

	n.Lost = time.Time{}
	if n.Fault == powerFault {
		n.Fault, n.Maintenance, n.MaintenanceReason, n.UpdatedAt = "", false, "", c.now
	}

	n.PowerState = powerOff
	if m != nil {
		n.PowerState = powerWord(m)
	}

	return n.PowerState, c.save(n)
}
