// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic

import (
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// Deploy interfaces with a meaning of their own.
const (
	ramdisk     = "ramdisk"      // boots an image and leaves the disk alone
	customAgent = "custom-agent" // runs a step of the ramdisk instead of writing an image
)

// deployStepPriority is upstream's priority of a custom deployment.
const deployStepPriority = 80

// deployment lists what a node must say before it is deployed: claim, image, hints.
func deployment(n ironic.Node, w host.Wanted) []setting {
	out := []setting{
		{name: "claim", path: "/instance_uuid", want: w.InstanceUUID},
		{name: "boot_mode", path: "/instance_info/capabilities", want: secureBoot(w)},
	}

	if w.InstanceUUID == "" {
		out[0].want = host.Claim(w.Namespace, w.Name)
	}

	info := map[string]any{"root_device": nil}
	if w.RootHints != nil {
		if hints := w.RootHints.Ironic(); len(hints) > 0 {
			info["root_device"] = hints
		}
	}

	img := image.Image{}
	if w.Image != nil {
		img = *w.Image
	}

	set, remove := img.InstanceInfo()
	for _, key := range remove {
		info[key] = nil
	}

	for key, value := range set { // without an image: what an earlier one left goes
		if info[key] = value; value == "" {
			info[key] = nil
		}
	}

	if w.PullSecret != "" {
		out = append(out, setting{name: "image.pull_secret_wo", path: "/instance_info/image_pull_secret", want: w.PullSecret, blind: true, force: true})
	}

	for _, key := range slices.Sorted(maps.Keys(info)) {
		if key != "image_pull_secret" || w.PullSecret == "" {
			out = append(out, setting{name: "image", path: "/instance_info/" + key, want: info[key]})
		}
	}

	if w.Tenancy != nil {
		out = append(out, tenancy(w))

		if w.CleaningMode != "" {
			out = append(out, setting{name: "automated_cleaning_mode", path: "/automated_clean", want: w.CleaningMode != "disabled"})
		}
	}

	if w.CustomDeploy == nil && w.BMC.Access.Driver != "fake-hardware" && n.Driver != "fake-hardware" {
		out = append(out, setting{name: "image", path: "/driver_info/force_persistent_boot_device", want: "Default"})
	}

	return append(out, deployInterface(n, w)...)
}

// tenancy is the note of a machine on the host that it has claimed.
func tenancy(w host.Wanted) setting {
	return setting{name: "tenancy", path: "/instance_info/" + host.TenancyKey, want: w.Tenancy.Value()}
}

// deployInterface chooses how the image comes onto the machine. A node that was used with
// one of the special interfaces goes back to the service's default.
func deployInterface(n ironic.Node, w host.Wanted) []setting {
	const path = "/deploy_interface"

	have := n.Interfaces["deploy"]

	switch {
	case w.Interfaces["deploy"] != "":
		return nil // the user decides; it is among the settings
	case w.CustomDeploy != nil:
		return []setting{{name: "custom_deploy", path: path, want: customAgent}}
	case w.Image != nil && w.Image.IsLiveISO():
		return []setting{{name: "image", path: path, want: ramdisk}}
	case have == ramdisk || have == customAgent:
		return []setting{{name: "image", path: path}}
	default:
		return nil
	}
}

func secureBoot(w host.Wanted) any {
	out := map[string]any{}

	if w.BootMode == "UEFISecureBoot" {
		out["secure_boot"] = "true"
	}

	// A host's own boot mode is among its properties; a machine on it says its wish here.
	if mode, ok := map[string]string{"UEFI": "uefi", "UEFISecureBoot": "uefi", "legacy": "bios"}[w.BootMode]; ok && w.Tenancy != nil {
		out["boot_mode"] = mode
	}

	return out
}

// configDrive is what cloud-init finds on the machine; nil where the user gave no data, and
// for images that are booted as they are.
func configDrive(w host.Wanted) map[string]any {
	if w.Config.Empty() || (w.Image != nil && w.Image.IsLiveISO()) {
		return nil
	}

	claim := w.InstanceUUID
	if claim == "" {
		claim = host.Claim(w.Namespace, w.Name)
	}

	meta := map[string]any{
		"uuid": claim, "metal3-namespace": w.Namespace, "metal3-name": w.Name,
		"local-hostname": w.Name, "local_hostname": w.Name, "name": w.Name,
	}

	for key, value := range w.Config.MetaData {
		meta[key] = value
	}

	out := map[string]any{"meta_data": meta}

	if w.Config.UserData != "" {
		out["user_data"] = w.Config.UserData
	}

	if len(w.Config.NetworkData) > 0 {
		out["network_data"] = w.Config.NetworkData
	}

	if len(w.Config.VendorData) > 0 {
		out["vendor_data"] = w.Config.VendorData
	}

	return out
}

func deploySteps(w host.Wanted) []map[string]any {
	if w.CustomDeploy == nil {
		return nil
	}

	args, priority := w.CustomDeploy.Args, w.CustomDeploy.Priority
	if args == nil {
		args = map[string]any{}
	}

	if priority == 0 {
		priority = deployStepPriority
	}

	return []map[string]any{{"interface": "deploy", "step": w.CustomDeploy.Method, "args": args, "priority": priority}}
}
