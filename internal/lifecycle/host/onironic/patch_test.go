// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// written is one write: what is there, what is wanted, and the operations that are sent.
type written struct {
	node func(*ironic.Node)
	want func(*host.Wanted)
	ops  []string
}

func (c written) check(t *testing.T, part host.Part) {
	t.Helper()

	r, b := record(t, 111)
	n, w := settled(), wanted(t)

	if c.node != nil {
		c.node(&n)
	}

	if c.want != nil {
		c.want(&w)
	}

	s := host.Seen{Node: n}
	if _, err := b.Write(t.Context(), s, w, host.Journal{Name: "n1"}, part); err != nil {
		t.Fatal(err)
	}

	if got := r.patch(t); !slices.Equal(got, c.ops) {
		t.Errorf("sent\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.ops, "\n  "))
	}

	if differs := b.Differs(s, w); part == host.PartSettings && (len(differs) > 0) != (len(c.ops) > 0) {
		t.Errorf("differs: %v", differs)
	}
}

func TestWrite_settings(t *testing.T) {
	t.Parallel()

	active := func(n *ironic.Node) { n.ProvisionState = ironic.Active }
	text := func(s string) *string { return &s }

	for name, c := range map[string]written{
		"nothing differs":               {nil, nil, []string{}},
		"nor on a machine that runs":    {active, nil, []string{}},
		"a name":                        {func(n *ironic.Node) { n.Name = "old" }, nil, []string{`add /name "ns~n1"`}},
		"an imported name stays":        {func(n *ironic.Node) { n.Name = "old" }, func(w *host.Wanted) { w.NodeName = "old" }, []string{}},
		"a description":                 {nil, func(w *host.Wanted) { w.Description = "x" }, []string{`add /description "x"`}},
		"a description that went":       {func(n *ironic.Node) { n.Description = "x" }, nil, []string{`remove /description`}},
		"cleaning":                      {nil, func(w *host.Wanted) { w.CleaningMode = "disabled" }, []string{`add /automated_clean false`}},
		"cleaning that nobody set":      {func(n *ironic.Node) { n.AutomatedClean = nil }, nil, []string{`add /automated_clean true`}},
		"no word on it":                 {func(n *ironic.Node) { n.AutomatedClean = nil }, func(w *host.Wanted) { w.CleaningMode = "" }, []string{}},
		"an owner":                      {nil, func(w *host.Wanted) { w.Owner = text("me") }, []string{`add /owner "me"`}},
		"an owner that went":            {func(n *ironic.Node) { n.Owner = "me" }, func(w *host.Wanted) { w.Owner = text("") }, []string{`remove /owner`}},
		"an owner that nobody spoke of": {func(n *ironic.Node) { n.Owner = "me" }, nil, []string{}},
		"a boot mode; other capabilities stay in order": {
			func(n *ironic.Node) { n.Properties["capabilities"] = "b:1, boot_mode:bios,a:2" }, nil,
			[]string{`add /properties/capabilities "b:1,a:2,boot_mode:uefi"`},
		},
		"secure boot": {nil, func(w *host.Wanted) { w.BootMode = "UEFISecureBoot" }, []string{`add /properties/capabilities "boot_mode:uefi,secure_boot:true"`}},
		"legacy boot": {nil, func(w *host.Wanted) { w.BootMode = "legacy" }, []string{`add /properties/capabilities "boot_mode:bios"`}},
		"a boot mode waits while the machine runs": {active, func(w *host.Wanted) { w.BootMode = "legacy" }, []string{}},
		"a property with a slash":                  {nil, func(w *host.Wanted) { w.Properties = map[string]string{"a/b~c": "1"} }, []string{`add /properties/a~1b~0c "1"`}},
		"another address: credentials go with it": {
			nil, func(w *host.Wanted) { w.BMC.Access = parse(t, strings.Replace(address, "node-0", "node-1", 1)) },
			[]string{`add /driver_info/redfish_address "http://node-1.lab"`, `add /driver_info/redfish_password "S3cret"`},
		},
		"another user": {nil, func(w *host.Wanted) { w.BMC.Username = "root" }, []string{`add /driver_info/redfish_username "root"`}},
		"a password is sent only on demand": {
			nil, func(w *host.Wanted) { w.BMC.Password, w.BMC.Rewrite = "new", true },
			[]string{`add /driver_info/redfish_password "new"`},
		},
		"no password is known":   {nil, func(w *host.Wanted) { w.BMC.Password, w.BMC.Rewrite = "", true }, []string{}},
		"no verification":        {nil, func(w *host.Wanted) { w.BMC.DisableCertificateVerification = true }, []string{`add /driver_info/redfish_verify_ca false`}},
		"verification again":     {func(n *ironic.Node) { n.DriverInfo["redfish_verify_ca"] = false }, nil, []string{`remove /driver_info/redfish_verify_ca`}},
		"a key of the user":      {nil, func(w *host.Wanted) { w.BMC.DriverInfo = map[string]string{"redfish_auth_type": "basic"} }, []string{`add /driver_info/redfish_auth_type "basic"`}},
		"a key of somebody else": {func(n *ironic.Node) { n.DriverInfo["redfish_auth_type"] = "basic" }, nil, []string{}},
		"an interface":           {nil, func(w *host.Wanted) { w.Interfaces = map[string]string{"power": "fake"} }, []string{`add /power_interface "fake"`}},
		"what an address implies waits while the machine runs": {func(n *ironic.Node) { active(n); n.Interfaces["raid"] = "no-raid" }, nil, []string{}},
		"a ramdisk": {
			nil, func(w *host.Wanted) { w.DeployImage = host.DeployImage{KernelURL: "http://k", RamdiskURL: "http://r"} },
			[]string{`add /driver_info/deploy_kernel "http://k"`, `add /driver_info/deploy_ramdisk "http://r"`},
		},
		"an ISO instead of it": {
			func(n *ironic.Node) { n.DriverInfo["deploy_kernel"] = "http://k" },
			func(w *host.Wanted) { w.DeployImage = host.DeployImage{KernelURL: "http://k", ISOURL: "http://i"} },
			[]string{`add /driver_info/deploy_iso "http://i"`, `remove /driver_info/deploy_kernel`},
		},
		"network data of the ramdisk":        {nil, func(w *host.Wanted) { w.NetworkData = map[string]any{"links": []any{}} }, []string{`add /network_data {"links":[]}`}},
		"network data that went":             {func(n *ironic.Node) { n.NetworkData = map[string]any{"links": []any{}} }, nil, []string{`add /network_data {}`}},
		"a disk that may not be overwritten": {func(n *ironic.Node) { active(n); n.InstanceInfo["image_source"] = "http://i" }, func(w *host.Wanted) { w.Reprovision.Deny = true }, []string{`add /protected true`, `add /protected_reason "` + host.ProtectedReason + `"`}},
		"our own protection goes":            {func(n *ironic.Node) { active(n); n.Protected, n.ProtectedReason = true, host.ProtectedReason }, nil, []string{`add /protected false`}},
		"somebody else's stays":              {func(n *ironic.Node) { active(n); n.Protected, n.ProtectedReason = true, "database" }, nil, []string{}},
		"nothing of a BMC that nobody names": {nil, func(w *host.Wanted) { w.BMC = host.BMC{} }, []string{}},
		"another driver: its defaults, its keys": {
			func(n *ironic.Node) {
				n.Driver, n.Interfaces = "ipmi", map[string]string{"boot": "ipxe", "raid": "no-raid", "management": "ipmitool", "power": "ipmitool", "network": "neutron", "deploy": "direct"}
				n.DriverInfo = map[string]any{"ipmi_address": "192.0.2.1", "ipmi_password": "******", "deploy_kernel": "http://k"}
			}, nil, []string{
				`add /driver "redfish"`, `add /boot_interface "redfish-virtual-media"`, `add /firmware_interface "redfish"`, `add /inspect_interface "agent"`, `add /raid_interface "redfish"`,
				`remove /management_interface`, `remove /power_interface`, `remove /driver_info/ipmi_address`, `remove /driver_info/ipmi_password`,
				`add /driver_info/redfish_address "http://node-0.lab"`, `add /driver_info/redfish_password "S3cret"`,
				`add /driver_info/redfish_system_id "/redfish/v1/Systems/1"`, `add /driver_info/redfish_username "admin"`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, host.PartSettings)
		})
	}
}

func TestWrite_theJournalGoesAlongAndOnlyWhenItDiffers(t *testing.T) {
	t.Parallel()

	r, b := record(t, 96)
	n := settled()
	n.Extra = map[string]any{host.JournalKey: map[string]any{"fabric": "x"}, "other": 1}
	s := host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}

	s.Journal.Phase = host.PhaseInspecting
	if _, err := b.Write(t.Context(), s, wanted(t), s.Journal, host.PartJournal); err != nil {
		t.Fatal(err)
	}

	if want := `[{"op":"add","path":"/extra/metal3","value":{"fabric":"x","phase":"inspecting","v":1}}]`; len(r.bodies) != 1 || r.bodies[0] != want {
		t.Fatalf("sent %v", r.bodies)
	}

	// As Ironic has it then, nothing is sent.
	var have map[string]any

	_ = json.Unmarshal([]byte(`{"fabric":"x","phase":"inspecting","v":1}`), &have)
	n.Extra[host.JournalKey] = have
	s = host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}

	if _, err := b.Write(t.Context(), s, wanted(t), s.Journal, host.PartSettings); err != nil || len(r.bodies) != 1 {
		t.Errorf("%v; sent %v", err, r.bodies)
	}
}

func TestWrite_theClaimGoes(t *testing.T) {
	t.Parallel()
	written{func(n *ironic.Node) { n.InstanceUUID = "c" }, nil, []string{`remove /instance_uuid`}}.check(t, host.PartUnclaim)
	written{nil, nil, []string{}}.check(t, host.PartUnclaim)
}

// Driver and interfaces of a machine that runs change only in maintenance, and nobody else
// would take the node out of it again: also not after a failure.
func TestWrite_withinMaintenance(t *testing.T) {
	t.Parallel()

	around := []string{"PUT /nodes/" + id + "/maintenance", "PATCH /nodes/" + id, "DELETE /nodes/" + id + "/maintenance"}

	for name, c := range map[string]struct {
		node func(*ironic.Node)
		fail bool
		sent []string
	}{
		"an active node":             {func(*ironic.Node) {}, false, around},
		"one that refuses":           {func(*ironic.Node) {}, true, around},
		"one in maintenance already": {func(n *ironic.Node) { n.Maintenance = true }, false, around[1:2]},
		"one that does not run":      {func(n *ironic.Node) { n.ProvisionState = ironic.Manageable }, false, around[1:2]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, b := record(t, 96)
			n := settled()
			n.ProvisionState = ironic.Active
			c.node(&n)

			if c.fail {
				r.refuse("PATCH /nodes/"+id, 400, "no such interface")
			}

			w := wanted(t)
			w.Interfaces = map[string]string{"power": "fake"}

			after, err := b.Write(t.Context(), host.Seen{Node: n}, w, host.Journal{}, host.PartSettings)
			if (err != nil) != c.fail || !slices.Equal(r.sent, c.sent) || (err == nil && after.Node.Maintenance) {
				t.Errorf("%v; sent %v", err, r.sent)
			}
		})
	}
}
