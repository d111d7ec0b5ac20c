// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// setting is one value of a record as it should be.
type setting struct {
	name  string // how the user knows it
	path  string // where Ironic keeps it
	want  any    // nil: it should not be there
	blind bool   // cannot be compared (a secret): written where force says so
	force bool
}

// settings lists what the record of a host should say, apart from its deployment.
func (b *Backend) settings(s host.Seen, w host.Wanted) []setting {
	if w.Tenancy != nil {
		return nil // whoever registered the host sets it up
	}

	n := s.Node
	out := []setting{{name: "name", path: "/name", want: nodeName(w)}}

	if w.Description != "" || n.Description != "" {
		out = append(out, setting{name: "description", path: "/description", want: text(w.Description)})
	}

	// What a machine of a cluster has set is set until it leaves.
	if t, lent := s.Tenancy(); w.CleaningMode != "" && (!lent || t.CleaningMode == "") {
		out = append(out, setting{name: "automated_cleaning_mode", path: "/automated_clean", want: w.CleaningMode != "disabled"})
	}

	if w.DisablePowerOff != nil {
		out = append(out, setting{name: "disable_power_off", path: "/disable_power_off", want: *w.DisablePowerOff})
	}

	for _, t := range []struct {
		name string
		want *string
	}{{"conductor_group", w.ConductorGroup}, {"resource_class", w.ResourceClass}, {"owner", w.Owner}} {
		if t.want != nil {
			out = append(out, setting{name: t.name, path: "/" + t.name, want: text(*t.want)})
		}
	}

	out = append(out, properties(n, w)...)
	out = append(out, access(n, w)...)
	out = append(out, deployImage(n, w)...)

	if w.NetworkData != nil || len(n.NetworkData) > 0 {
		out = append(out, setting{name: "preprovisioning_network_data", path: "/network_data", want: object(w.NetworkData)})
	}

	if n.ProvisionState == ironic.Active && w.Reprovision.Deny && s.Deployed() {
		out = append(out,
			setting{name: "reprovision", path: "/protected", want: true},
			setting{name: "reprovision", path: "/protected_reason", want: host.ProtectedReason})
	} else if n.Protected && n.ProtectedReason == host.ProtectedReason && !w.Reprovision.Deny {
		out = append(out, unprotect(n)...)
	}

	return out
}

func unprotect(n ironic.Node) []setting {
	if !n.Protected || n.ProtectedReason != host.ProtectedReason {
		return nil
	}

	return []setting{{name: "reprovision", path: "/protected", want: false}}
}

// properties are what schedulers and drivers read of a machine.
func properties(n ironic.Node, w host.Wanted) []setting {
	var out []setting

	for _, key := range slices.Sorted(maps.Keys(w.Properties)) {
		out = append(out, setting{name: "properties", path: "/properties/" + escape(key), want: w.Properties[key]})
	}

	if w.Architecture != "" {
		out = append(out, setting{name: "architecture", path: "/properties/cpu_arch", want: w.Architecture})
	}

	// The boot mode of a machine that runs changes at its next deployment.
	if _, own := w.Properties["capabilities"]; !own && w.BootMode != "" && n.ProvisionState != ironic.Active {
		have, _ := n.Properties["capabilities"].(string)
		out = append(out, setting{name: "boot_mode", path: "/properties/capabilities", want: capabilities(have, w.BootMode)})
	}

	return out
}

// access is how Ironic reaches the BMC: driver, interfaces, driver_info.
func access(n ironic.Node, w host.Wanted) []setting {
	a := w.BMC.Access
	if a.Driver == "" {
		return nil // imported without an address
	}

	var out []setting

	// Driver and interfaces change only in some states; a machine that runs keeps what an
	// address merely implies, unless its driver changes or the user names the interface.
	driverChanges := n.Driver != "" && n.Driver != a.Driver
	bootChanges := n.Interfaces["boot"] != "" && a.Interfaces["boot"] != "" && n.Interfaces["boot"] != a.Interfaces["boot"] && w.BMC.Rewrite
	running := n.ProvisionState == ironic.Active

	out = append(out, setting{name: "bmc.address", path: "/driver", want: a.Driver})

	for _, kind := range slices.Sorted(maps.Keys(interfaces(w))) {
		_, explicit := w.Interfaces[kind]
		if !running || driverChanges || bootChanges || explicit {
			out = append(out, setting{name: "interfaces." + kind, path: "/" + kind + "_interface", want: interfaces(w)[kind]})
		}
	}

	if driverChanges {
		out = append(out, resets(n, w)...)
	}

	info := driverInfo(w)
	moved := w.BMC.Rewrite

	for key, want := range a.DriverInfo {
		moved = moved || !host.SameValue(n.DriverInfo[key], want)
	}

	for _, key := range leftovers(n, driverChanges) {
		if info[key] == nil {
			info[key] = nil
		}
	}

	for _, key := range slices.Sorted(maps.Keys(info)) {
		if secret(key) && info[key] != nil {
			out = append(out, setting{name: "bmc", path: "/driver_info/" + escape(key), want: info[key], blind: true, force: moved})
		} else {
			out = append(out, setting{name: "bmc", path: "/driver_info/" + escape(key), want: info[key]})
		}
	}

	return out
}

// leftovers are keys of driver_info that only another address, another driver or a
// withdrawn option would leave behind.
func leftovers(n ironic.Node, driverChanges bool) []string {
	var out []string

	for key := range n.DriverInfo {
		if slices.Contains([]string{"redfish_system_id", "redfish_verify_ca", "ipmi_verify_ca"}, key) ||
			driverChanges && (strings.HasPrefix(key, "redfish_") || strings.HasPrefix(key, "ipmi_")) {
			out = append(out, key)
		}
	}

	return out
}

// ofDriver are the kinds of interfaces whose names depend on the driver.
var ofDriver = []string{"bios", "boot", "console", "firmware", "inspect", "management", "power", "raid", "vendor"}

// resets are the interfaces of the old driver that the new one may not have: they go back
// to its defaults, else Ironic refuses the change.
func resets(n ironic.Node, w host.Wanted) []setting {
	var out []setting

	for _, kind := range ofDriver {
		if _, named := interfaces(w)[kind]; !named && n.Interfaces[kind] != "" {
			out = append(out, setting{name: "bmc.address", path: "/" + kind + "_interface"})
		}
	}

	return out
}

// interfaces are the interfaces that address and user name, as far as the service can have them.
func interfaces(w host.Wanted) map[string]string {
	out := maps.Clone(w.BMC.Access.Interfaces)
	if out == nil {
		out = map[string]string{}
	}

	if w.BMC.Access.Driver != "fake-hardware" {
		switch w.InspectionMode {
		case "agent":
			out["inspect"] = "agent"
		case "fast":
			out["inspect"] = "redfish"
		}
	}

	maps.Copy(out, w.Interfaces)

	return out
}

// kindsSince are the interfaces that older services do not know.
var kindsSince = map[string]int{"firmware": 86}

// fit leaves out what the service is too old for and nobody asked for by name, and
// refuses what was asked for by name.
func (b *Backend) fit(ctx context.Context, w host.Wanted) (host.Wanted, error) {
	minor, err := b.client.Version(ctx)
	if err != nil {
		return w, err
	}

	b.minor.Store(int64(minor))

	if w.DisablePowerOff != nil && *w.DisablePowerOff {
		if err := b.Supports(ctx, host.FeatureDisablePowerOff); err != nil {
			return w, err
		}
	}

	return trim(w, minor), nil
}

func trim(w host.Wanted, minor int) host.Wanted {
	a := w.BMC.Access
	a.Interfaces = maps.Clone(a.Interfaces)

	for kind, needs := range kindsSince {
		if minor < needs {
			delete(a.Interfaces, kind)
		}
	}

	w.BMC.Access = a

	// Before 1.84 in-band inspection was a service of its own; what the driver does by
	// default (Redfish: out of band) is what is left.
	if w.InspectionMode == "agent" && minor < since[host.FeatureAgentInspection] {
		w.InspectionMode = "default"
	}

	if minor < since[host.FeatureDisablePowerOff] {
		w.DisablePowerOff = nil
	}

	return w
}

// driverInfo is all of driver_info that the configuration decides, secrets included.
func driverInfo(w host.Wanted) map[string]any {
	out := map[string]any{}
	maps.Copy(out, w.BMC.Access.DriverInfo)

	if w.BMC.Username != "" || w.BMC.Password != "" {
		for key, value := range w.BMC.Access.Credentials(w.BMC.Username, w.BMC.Password) {
			if value != "" {
				out[key] = value
			}
		}
	}

	maps.Copy(out, w.BMC.Access.Verify(w.BMC.DisableCertificateVerification, w.BMC.VerifyCA))

	for key, value := range w.BMC.DriverInfo {
		out[key] = value
	}

	return out
}

// deployImage names the ramdisk; a machine whose BMC boots an ISO gets that where there is one.
func deployImage(n ironic.Node, w host.Wanted) []setting {
	d := w.DeployImage
	if d == (host.DeployImage{}) {
		return nil // the service's own
	}

	want := map[string]string{"kernel_append_params": d.KernelAppendParams}

	if d.ISOURL != "" && w.BMC.Access.SupportsISO {
		want["deploy_iso"] = d.ISOURL
	} else {
		want["deploy_kernel"], want["deploy_ramdisk"] = d.KernelURL, d.RamdiskURL
	}

	var out []setting

	for _, key := range []string{"deploy_iso", "deploy_kernel", "deploy_ramdisk", "kernel_append_params"} {
		if _, there := n.DriverInfo[key]; there || want[key] != "" {
			out = append(out, setting{name: "deploy_image", path: "/driver_info/" + key, want: text(want[key])})
		}
	}

	return out
}

// capabilities puts a boot mode into a list of capabilities, whose other entries stay in order.
func capabilities(have, mode string) string {
	var out []string

	for entry := range strings.SplitSeq(have, ",") {
		key, _, _ := strings.Cut(strings.TrimSpace(entry), ":")
		if key != "" && key != "boot_mode" && key != "secure_boot" {
			out = append(out, strings.TrimSpace(entry))
		}
	}

	switch mode {
	case "legacy":
		out = append(out, "boot_mode:bios")
	case "UEFISecureBoot":
		out = append(out, "boot_mode:uefi", "secure_boot:true")
	default:
		out = append(out, "boot_mode:uefi")
	}

	return strings.Join(out, ",")
}

func nodeName(w host.Wanted) string {
	if w.NodeName != "" {
		return w.NodeName
	}

	return host.NodeName(w.Namespace, w.Name)
}

func secret(key string) bool {
	return strings.Contains(key, "password") || strings.Contains(key, "secret") || strings.Contains(key, "token")
}

// text is a value that is absent when it is empty.
func text(s string) any {
	if s == "" {
		return nil
	}

	return s
}

func object(m map[string]any) any {
	if m == nil {
		return map[string]any{}
	}

	return m
}
