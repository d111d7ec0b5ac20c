// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"net/url"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// address is what a node's driver_info says of its BMC.
type address struct{ url, host, system, username, password string }

// bmcOf is the BMC of a node.
func bmcOf(n *record.Node) address {
	prefix := "redfish"
	if n.Driver == "ipmi" {
		prefix = "ipmi"
	}

	a := address{
		url: record.Text(n.DriverInfo, prefix+"_address"), system: record.Text(n.DriverInfo, "redfish_system_id"),
		username: record.Text(n.DriverInfo, prefix+"_username"), password: record.Text(n.DriverInfo, prefix+"_password"),
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

// Machine is the node's machine, or nil for a driver without a BMC. What keeps the conductor
// from it is a *[Broken] error in the words of the real driver.
func (c *Conductor) Machine(n *record.Node) (*machine.Machine, error) {
	if n.Simulated() {
		if n.BMCDead {
			return nil, broke("the power interface does not answer")
		}

		return nil, nil //nolint:nilnil // there is no machine, and that is no error
	}

	a := bmcOf(n)
	key := a.host + "|" + a.system

	m, ok := c.fleet[key]
	if !ok {
		found, exists, err := machine.ByAddress(c.Tx, a.host, a.system)
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
func reach(n *record.Node, a address, m *machine.Machine) error {
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
		return state.PowerOn
	}

	return state.PowerOff
}
