// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// TestOBMH10_oddTypesDoNoHarm reads a node in which most fields have a type that nobody expects.
func TestOBMH10_oddTypesDoNoHarm(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/v1/nodes/", 1, 200, `{
		"uuid":"`+someNode+`", "name":7, "provision_state":"active", "power_state":{"is":"on"}, "maintenance":"True", "protected":1,
		"properties":[], "driver_info":"******", "extra":{"metal3":{"v":1}}, "traits":["A",null,3,{"x":1}], "boot_interface":"ipxe",
		"deploy_interface":null, "raid_interface":{}, "automated_clean":"maybe", "inspection_finished_at":"yesterday",
		"provision_updated_at":"2026-01-02T03:04:05.678901+00:00", "inspection_started_at":"2026-01-02T03:04:05", "last_error":null,
		"instance_info":null, "deploy_step":{"step":"x"}, "health":"OK", "something_new":[[[]]]}`)

	n, err := f.client(t).Node(t.Context(), someNode)
	if err != nil {
		t.Fatal(err)
	}

	if n.Name != "7" || n.ProvisionState != ironic.Active || n.PowerState != "" || !n.Maintenance || !n.Protected || n.Health != "OK" {
		t.Errorf("got %+v", n)
	}

	if n.Properties != nil || n.DriverInfo != nil || n.InstanceInfo != nil || n.Extra["metal3"] == nil || n.DeployStep["step"] != "x" {
		t.Errorf("got %+v", n)
	}

	if strings.Join(n.Traits, ",") != "A,3" || len(n.Interfaces) != 1 || n.AutomatedClean != nil {
		t.Errorf("got %+v", n)
	}

	if !n.InspectionFinishedAt.IsZero() || n.ProvisionUpdatedAt.Nanosecond() != 678901000 || n.InspectionStartedAt != time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) {
		t.Errorf("got %s, %s, %s", n.InspectionFinishedAt, n.ProvisionUpdatedAt, n.InspectionStartedAt)
	}
}

func TestNodes_anOddOneLeavesTheOthers(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/v1/nodes/detail", 1, 200, `{"nodes":[{"uuid":"a"},null,"x",{"name":"no uuid"},{"uuid":"b","extra":7},{"uuid":"a"}],"next":7}`)

	nodes, err := f.client(t).Nodes(t.Context())
	if err != nil || len(nodes) != 2 || nodes[1].UUID != "b" {
		t.Errorf("got %v, %v", nodes, err)
	}
}

func TestNodes_followsPagesByTheirMarkerOnly(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.page = 4
	f.fleet(10)

	nodes, err := f.client(t).Nodes(t.Context())
	if err != nil || len(nodes) != 10 || f.count("GET /v1/nodes/detail") != 3 {
		t.Errorf("got %d, %v\n%s", len(nodes), err, f.log())
	}
}

func TestNodes_aServerThatTurnsInCirclesIsLeft(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/v1/nodes/detail", -1, 200, `{"nodes":[{"uuid":"a"}],"next":"/v1/nodes?marker=a"}`)

	nodes, err := f.client(t).Nodes(t.Context())
	if err != nil || len(nodes) != 1 || f.count("GET /v1/nodes/detail") != 2 {
		t.Errorf("got %d, %v", len(nodes), err)
	}
}

func TestNodes_showsANodeThatIsItsOwnParent(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.add(someNode, map[string]any{"parent_node": someNode})

	nodes, err := f.client(t).Nodes(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].ParentNode != someNode {
		t.Errorf("got %v, %v", nodes, err)
	}

	if all, err := f.client(t).Glances(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("got %v, %v", all, err)
	}

	// Before 1.83 there are no children, and the parameter would be refused.
	f.version = 82
	f.requests = nil

	if _, err := f.client(t).Glances(t.Context()); err != nil || f.count("GET /v1/nodes?fields=uuid,provision_state,") != 1 {
		t.Errorf("got %v: %s", err, f.log())
	}
}

// TestOBMH09_inventoryStaysRaw: whoever needs a part of it reads that part leniently.
func TestOBMH09_inventoryStaysRaw(t *testing.T) {
	t.Parallel()

	body := `{"inventory":{"interfaces":[{"mac_address":null}]},"plugin_data":{"parsed_lldp":{"eth0":{"switch_port_vlans":[{"id":101},{"id":"102","name":null},null]}}}}`
	f := newFake()
	f.answer("GET", "/inventory", -1, 200, body+"\n")

	raw, err := f.client(t).Inventory(t.Context(), someNode)
	if err != nil || string(raw) != body || !json.Valid(raw) {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestDetails(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/validate", -1, 200, `{"boot":{"result":false,"reason":"no kernel"},"raid":{"result":null,"reason":"not supported"},"power":{"result":true},"odd":7}`)
	f.answer("GET", "/traits", -1, 200, `{"traits":["B","A"]}`)
	f.answer("GET", "/history", -1, 200, `{"history":[{"created_at":"2026-01-02T00:00:00+00:00","event":"new"},{"created_at":"2026-01-01T00:00:00+00:00","event":"old","severity":"ERROR","event_type":"provisioning"},9]}`)
	f.answer("GET", "/states", -1, 200, `{"boot_mode":"uefi","secure_boot":null}`)
	f.answer("GET", "/drivers", -1, 200, `{"drivers":[{"name":"redfish"},{"name":"ipmi"}]}`)
	c := f.client(t)

	v, err := c.Validate(t.Context(), someNode)
	if err != nil || len(v) != 3 || v["boot"].Result || v["boot"].Reason != "no kernel" || !v["raid"].Result || !v["power"].Result {
		t.Errorf("got %v, %v", v, err)
	}

	if traits, err := c.Traits(t.Context(), someNode); err != nil || strings.Join(traits, ",") != "A,B" {
		t.Errorf("got %v, %v", traits, err)
	}

	events, err := c.History(t.Context(), someNode)
	if err != nil || len(events) != 2 || events[0].Text != "old" || events[0].Type != "provisioning" || events[1].Text != "new" {
		t.Errorf("got %v, %v", events, err)
	}

	if mode, secure, err := c.BootMode(t.Context(), someNode); mode != "uefi" || secure != nil || err != nil {
		t.Errorf("got %s, %v, %v", mode, secure, err)
	}

	if names, err := c.Drivers(t.Context()); err != nil || strings.Join(names, ",") != "ipmi,redfish" {
		t.Errorf("got %v, %v", names, err)
	}
}

func TestDrivers_noneMeansNotReady(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/drivers", -1, 200, `{"drivers":[]}`)

	var idle *ironic.NotReadyError
	if _, err := f.client(t).Drivers(t.Context()); !errors.As(err, &idle) {
		t.Errorf("got %v", err)
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.page = 3
	ids := f.fleet(7)
	f.ports[0]["local_link_connection"] = map[string]any{"switch_id": "52:54:00:aa:bb:cc", "port_id": 7, "odd": []int{1}}
	c := f.client(t)

	all, err := c.Ports(t.Context())
	if err != nil || len(all) != 7 || len(all[0].LocalLink) != 2 || all[0].LocalLink["port_id"] != "7" {
		t.Errorf("got %v, %v", all, err)
	}

	if own, err := c.NodePorts(t.Context(), ids[3]); err != nil || len(own) != 1 || own[0].NodeUUID != ids[3] {
		t.Errorf("got %v, %v", own, err)
	}

	if p, err := c.PortByMAC(t.Context(), "52-54-00-00-00-05"); err != nil || p.NodeUUID != ids[5] {
		t.Errorf("got %v, %v", p, err)
	}

	var missing *ironic.NotFoundError
	if _, err := c.PortByMAC(t.Context(), "52:54:00:00:ff:ff"); !errors.As(err, &missing) || missing.What != "port" || ironic.IsGone(err) {
		t.Errorf("got %v", err)
	}

	f.answer("POST", "/v1/ports", 1, 502, "")

	if p, err := c.CreatePort(t.Context(), ironic.Port{NodeUUID: ids[2], Address: "52:54:00:00:00:02"}); err != nil || p.NodeUUID != ids[2] {
		t.Errorf("a port whose answer was lost: %v, %v", p, err)
	}

	f.answer("POST", "/v1/ports", 1, 502, "")

	if _, err := c.CreatePort(t.Context(), ironic.Port{NodeUUID: ids[2], Address: "52:54:00:00:00:03"}); !wait.IsTransient(err) {
		t.Errorf("somebody else's port was taken: %v", err)
	}
}
