// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

func discovery(f *far) {
	for _, path := range []string{"/", "/v1", "/v1/"} {
		r := f.at(0).expect(http.StatusOK, http.MethodGet, path, nil)
		if !strings.Contains(r.raw, fmt.Sprintf(`"1.%d"`, f.MinorMax)) {
			f.Errorf("GET %s does not name the newest version: %s", path, r.raw)
		}
	}

	r := f.at(0).expect(http.StatusOK, http.MethodGet, "/v1/", nil)
	for header, want := range map[string]string{
		"X-OpenStack-Ironic-API-Version": "1.1", "X-OpenStack-Ironic-API-Minimum-Version": "1.1",
		"X-OpenStack-Ironic-API-Maximum-Version": fmt.Sprintf("1.%d", f.MinorMax),
	} {
		if got := r.header.Get(header); got != want {
			f.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

func versions(f *far) {
	f.at(f.MinorMax+1).refuse(http.StatusNotAcceptable, "is not supported by this service", http.MethodGet, "/v1/nodes", nil)

	name, uuid := f.fake()
	f.at(0).refuse(http.StatusNotFound, "could not be found", http.MethodGet, "/v1/nodes/"+name, nil) // names came with 1.5
	f.at(0).expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+uuid, nil)

	for field, since := range map[string]int{"network_data": 66, "boot_mode": 75, "shard": 82, "firmware_interface": 86, "disable_power_off": 95} {
		for _, minor := range []int{since - 1, since} {
			if minor > f.MinorMax {
				continue
			}

			_, there := f.at(minor).expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+name, nil).body[field]
			if there != (minor >= since) {
				f.Errorf("%s at 1.%d: there is %t", field, minor, there)
			}
		}
	}

	f.at(46).refuse(http.StatusNotAcceptable, "Request not acceptable.", http.MethodGet, "/v1/nodes?fields=uuid,automated_clean", nil)
	f.at(16).refuse(http.StatusNotAcceptable, "Request not acceptable.", http.MethodPut, "/v1/nodes/"+uuid+"/states/provision",
		map[string]any{"target": "adopt"})
}

func badNodes(f *far) {
	name, uuid := f.fake()

	for what, c := range map[string]struct {
		body   map[string]any
		status int
		text   string
	}{
		"name taken":           {map[string]any{"driver": "fake-hardware", "name": name}, 409, "A node with name " + name + " already exists."},
		"uuid taken":           {map[string]any{"driver": "fake-hardware", "uuid": uuid}, 409, "A node with UUID " + uuid + " already exists."},
		"unknown driver":       {map[string]any{"driver": "nope"}, 400, "No conductor service registered which supports driver nope"},
		"no driver":            {map[string]any{}, 400, "'driver' is a required property"},
		"unknown interface":    {map[string]any{"driver": "redfish", "boot_interface": "nope"}, 400, "Could not find the following interface"},
		"interface of another": {map[string]any{"driver": "redfish", "boot_interface": "fake"}, 400, "is not supported by hardware type"},
		"unknown field":        {map[string]any{"driver": "redfish", "bogus": 1}, 400, "Additional properties are not allowed ('bogus' was unexpected)"},
		"read-only field":      {map[string]any{"driver": "redfish", "provision_state": "active"}, 400, "('provision_state' was unexpected)"},
		"bad name":             {map[string]any{"driver": "fake-hardware", "name": "bad name"}, 400, "invalid name 'bad name'"},
		"bad uuid":             {map[string]any{"driver": "fake-hardware", "uuid": "nope"}, 400, "Expected UUID for uuid: nope"},
	} {
		r := f.expect(c.status, http.MethodPost, "/v1/nodes", c.body)
		if !strings.Contains(r.fault(), c.text) {
			f.Errorf("%s: %q, want %q", what, r.fault(), c.text)
		}
	}

	f.refuse(http.StatusNotFound, "Node nope could not be found.", http.MethodGet, "/v1/nodes/nope", nil)
	f.refuse(http.StatusNotFound, "", http.MethodGet, "/v1/bogus", nil)
	f.expect(http.StatusMethodNotAllowed, http.MethodPut, "/v1/nodes", map[string]any{})
}

// nodeFields are the fields of a node document at 1.96 (29.0.5), and whether they are null,
// in a node of the redfish driver that was just created.
const nodeFields = `allocation_uuid:null automated_clean:null bios_interface boot_interface boot_mode:null chassis_uuid:null clean_step
 conductor conductor_group console_enabled console_interface created_at deploy_interface deploy_step description:null
 disable_power_off driver driver_info driver_internal_info extra fault:null firmware_interface inspect_interface
 inspection_finished_at:null inspection_started_at:null instance_info instance_uuid:null last_error:null lessee:null links
 maintenance maintenance_reason:null management_interface name network_data network_interface owner:null parent_node:null
 portgroups ports power_interface power_state:null properties protected protected_reason:null provision_state
 provision_updated_at:null raid_config raid_interface rescue_interface reservation:null resource_class:null retired
 retired_reason:null secure_boot:null service_step shard:null states storage_interface target_power_state:null
 target_provision_state:null target_raid_config traits updated_at:null uuid vendor_interface volume`

func documents(f *far) {
	if f.MinorMax < 96 {
		f.Skip("the fields are those of API 1.96")
	}

	name, uuid := f.node(map[string]any{
		"driver": "redfish", "driver_info": map[string]any{
			"redfish_address": "http://127.0.0.1:1", "redfish_username": "u", "redfish_password": "S3cret&+%",
		},
	})

	r := f.at(96).expect(http.StatusOK, http.MethodGet, "/v1/nodes/"+name, nil)

	var got []string

	for field, v := range r.body {
		if v == nil {
			field += ":null"
		}

		got = append(got, field)
	}

	slices.Sort(got)

	want := strings.Fields(nodeFields)
	slices.Sort(want)

	if !slices.Equal(got, want) {
		for _, field := range got {
			if !slices.Contains(want, field) {
				f.Errorf("unexpected %s", field)
			}
		}

		for _, field := range want {
			if !slices.Contains(got, field) {
				f.Errorf("missing %s", field)
			}
		}
	}

	if strings.Contains(r.raw, "S3cret") || object(r.body, "driver_info")["redfish_password"] != "******" {
		f.Errorf("the password is not masked: %v", r.body["driver_info"])
	}

	for field, want := range map[string]any{
		"uuid": uuid, "provision_state": "enroll", "inspect_interface": "redfish", "deploy_interface": "direct", "boot_interface": "ipxe",
		"rescue_interface": "no-rescue", "storage_interface": "noop", "conductor_group": "",
	} {
		if r.body[field] != want {
			f.Errorf("%s: %v, want %v", field, r.body[field], want)
		}
	}
}

func lists(f *far) {
	name, uuid := f.fake()
	f.fake()

	r := f.expect(http.StatusOK, http.MethodGet, "/v1/nodes", nil)
	if n := find(r.body["nodes"], uuid); len(n) != 7 || n["name"] != name || n["links"] == nil {
		f.Errorf("a node in a short list: %v", n)
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/nodes/detail", nil)
	if n := find(r.body["nodes"], uuid); n["driver"] != "fake-hardware" || n["properties"] == nil {
		f.Errorf("a node in a detailed list: %v", n)
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/nodes?fields=uuid,provision_state", nil)
	if n := find(r.body["nodes"], uuid); len(n) != 3 {
		f.Errorf("a node with two fields (and links): %v", n)
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/nodes?associated=true", nil)
	if find(r.body["nodes"], uuid) != nil {
		f.Error("a free node in a list of the associated ones")
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/nodes?associated=false&provision_state=enroll&limit=1000", nil)
	if find(r.body["nodes"], uuid) == nil {
		f.Error("a free node in enroll is not in the list of those")
	}

	f.pages(uuid)

	for path, text := range map[string]string{
		"?limit=0": "Limit must be positive", "?limit=abc": "Expected an integer for limit: abc", "?marker=nope": "Expected UUID for marker",
		"?provision_state=bogus": "is not valid", "?associated=maybe": "Unrecognized value 'maybe'", "?bogus=1": "Unexpected arguments: bogus",
		"?sort_key=bogus": "is an invalid field for sorting", "?fields=uuid,updated_at": "Field updated_at is not a valid field.",
		"?detail=true&fields=uuid": "Can not specify ?detail=True and fields",
	} {
		f.refuse(http.StatusBadRequest, text, http.MethodGet, "/v1/nodes"+path, nil)
	}
}

// pages follows the links of a paged list: each node is on exactly one page.
func (f *far) pages(uuid string) {
	f.Helper()

	const first = "/v1/nodes?limit=1&fields=uuid"

	seen := 0
	for path, again := first, 0; path != ""; {
		r := f.do(http.MethodGet, path, nil)
		if r.status == http.StatusNotFound && again < 10 {
			// the node that marks the page went away: other tests are on this Ironic too
			path, again, seen = first, again+1, 0

			continue
		}

		if r.status != http.StatusOK {
			f.Fatalf("GET %s: %d: %s", path, r.status, r.raw)
		}

		if find(r.body["nodes"], uuid) != nil {
			seen++
		}

		next, _ := r.body["next"].(string)
		path = strings.TrimPrefix(next, f.Endpoint)
	}

	if seen != 1 {
		f.Errorf("a node is on %d pages", seen)
	}
}

// find is the element of a list that has the UUID.
func find(list any, uuid string) map[string]any {
	all, _ := list.([]any)
	for _, v := range all {
		if m, ok := v.(map[string]any); ok && m["uuid"] == uuid {
			return m
		}
	}

	return nil
}

func drivers(f *far) {
	r := f.expect(http.StatusOK, http.MethodGet, "/v1/drivers", nil)
	for _, driver := range []string{"fake-hardware", "redfish", "ipmi", "idrac"} {
		if !strings.Contains(r.raw, `"`+driver+`"`) {
			f.Errorf("no driver %s", driver)
		}
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/drivers/redfish", nil)
	if r.body["default_deploy_interface"] != "direct" {
		f.Errorf("default deploy interface: %v", r.body["default_deploy_interface"])
	}

	r = f.expect(http.StatusOK, http.MethodGet, "/v1/conductors", nil)
	if all, _ := r.body["conductors"].([]any); len(all) != 1 {
		f.Errorf("conductors: %s", r.raw)
	}
}
