// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardwarevalue_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/hardwarevalue"
)

const inventory = `{"inventory": {
	"cpu": {"count": 32, "architecture": "x86_64", "model_name": "CPU", "frequency": "2400.0", "flags": ["vmx"]},
	"memory": {"physical_mb": 131072},
	"interfaces": [{"name": "eth0", "mac_address": "02:00:00:00:00:01", "ipv4_address": "192.0.2.1", "speed_mbps": 25000}],
	"disks": [{"name": "/dev/sda", "size": 480103981056, "rotational": false}],
	"hostname": "node-0"}}`

func TestObject_fromInventory(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(inventory))
	object := hardwarevalue.Object(h)

	if object.IsNull() || value.HasUnknown(object) {
		t.Fatalf("got %s", object)
	}

	for at, want := range map[string]attr.Value{
		"ram_mebibytes": types.Int64Value(131072), "hostname": types.StringValue("node-0"), "system_uuid": types.StringNull(),
	} {
		if got := object.Attributes()[at]; !got.Equal(want) {
			t.Errorf("%s is %s, want %s", at, got, want)
		}
	}

	cpu, _ := object.Attributes()["cpu"].(types.Object)
	if got := cpu.Attributes()["count"]; !got.Equal(types.Int64Value(32)) {
		t.Errorf("cpu.count is %s", got)
	}

	for _, at := range []string{"nics", "storage"} {
		if list, ok := object.Attributes()[at].(types.List); !ok || len(list.Elements()) != 1 {
			t.Errorf("%s is %s", at, object.Attributes()[at])
		}
	}
}

func TestObject_emptyListsAreNoNulls(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(`{"inventory": {"hostname": "bare", "interfaces": [{"name": "eth0"}]}}`))
	object := hardwarevalue.Object(h)

	if storage := object.Attributes()["storage"]; storage.IsNull() {
		t.Error("storage is null, and expressions over it would fail")
	}

	nics, _ := object.Attributes()["nics"].(types.List)
	for _, nic := range nics.Elements() {
		if one, ok := nic.(types.Object); !ok || one.Attributes()["vlans"].IsNull() || one.Attributes()["ips"].IsNull() {
			t.Errorf("nic is %s", nic)
		}
	}
}

func TestObject_fullHardware(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(inventory))
	h.NICs[0].VLANs = []hardware.VLAN{{ID: 7, Name: "storage"}}
	object := hardwarevalue.Object(h)

	nics, _ := object.Attributes()["nics"].(types.List)
	nic, _ := nics.Elements()[0].(types.Object)

	if vlans, ok := nic.Attributes()["vlans"].(types.List); !ok || len(vlans.Elements()) != 1 {
		t.Errorf("nic is %s", nic)
	}
}

func TestObject_withoutInventoryIsNull(t *testing.T) {
	t.Parallel()

	h, _ := hardware.Decode([]byte(`null`))
	if got := hardwarevalue.Object(h); !got.IsNull() {
		t.Errorf("got %s", got)
	}
}

func TestShape_isOneEverywhere(t *testing.T) {
	t.Parallel()

	want := hardwarevalue.Type()

	if got := (resource.SingleNestedAttribute{Attributes: hardwarevalue.Attributes()}).GetType(); !got.Equal(want) {
		t.Errorf("a resource has %s, values have %s", got, want)
	}

	if got := (datasource.SingleNestedAttribute{Attributes: hardwarevalue.DataSourceAttributes()}).GetType(); !got.Equal(want) {
		t.Errorf("a data source has %s, values have %s", got, want)
	}
}

func BenchmarkObject(b *testing.B) {
	h, _ := hardware.Decode([]byte(inventory))

	for b.Loop() {
		_ = hardwarevalue.Object(h)
	}
}
