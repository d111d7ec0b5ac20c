// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

const (
	overwritten = "Disk of host node-0 will be overwritten"
	waits       = "Change of host node-0 waits for its next deployment"
)

// full is a provisioned host with all data of a config drive.
func full() Map {
	return node(0, disk(image), Map{
		"user_data": "#cloud-config\n{}\n", "network_data": `{"links":[],"networks":[],"services":[]}`, "meta_data": Map{"rack": "r1"}, "labels": Map{"a": "b"},
	})
}

// TestOBMH19_whichChangeRebuildsTheHost changes one thing of a provisioned host after the
// other: the plan says whether the disk is written, and it is if and only if the plan said so.
func TestOBMH19_whichChangeRebuildsTheHost(t *testing.T) {
	t.Parallel()

	on := func(keys ...any) Map { return Map{"reprovision_on": keys} }

	for name, c := range map[string]struct {
		to    []Map
		says  string // what the plan says
		sends []string
	}{
		"user data":                     {to: []Map{{"user_data": "x"}}, says: waits},
		"network data":                  {to: []Map{{"network_data": `{"links":[1],"networks":[],"services":[]}`}}, says: waits},
		"network data, spelled anew":    {to: []Map{{"network_data": "links: []\nnetworks: []\nservices: []\n", "labels": Map{"x": "y"}}}},
		"metadata":                      {to: []Map{{"meta_data": Map{"rack": "r2"}}}, says: waits},
		"root device hints":             {to: []Map{{"root_device_hints": Map{"min_size_gigabytes": 10}}}, says: waits},
		"boot mode":                     {to: []Map{{"boot_mode": "legacy"}}, says: waits},
		"labels":                        {to: []Map{{"labels": Map{"a": "c"}}}},
		"power":                         {to: []Map{{"online": false}}, sends: []string{"soft power off"}},
		"image":                         {to: []Map{disk(image2)}, says: overwritten, sends: []string{"deleted", "active"}},
		"checksum only":                 {to: []Map{disk(image, Map{"checksum": "http://images.lab/other/SHA256SUMS"})}, says: overwritten, sends: []string{"deleted", "active"}},
		"format only":                   {to: []Map{disk(image, Map{"format": "qcow2"})}},
		"triggers":                      {to: []Map{{"reprovision_triggers": Map{"a": "1"}}}, says: overwritten, sends: []string{"deleted", "active"}},
		"user data that asks for it":    {to: []Map{{"user_data": "x"}, on("user_data")}, says: overwritten, sends: []string{"deleted", "active"}},
		"network data that asks for it": {to: []Map{{"network_data": `{"links":[1]}`}, on("network_data")}, says: overwritten, sends: []string{"deleted", "active"}},
		"metadata that asks for it":     {to: []Map{{"meta_data": Map{"a": "b"}}, on("meta_data")}, says: overwritten, sends: []string{"deleted", "active"}},
		"hints that ask for it":         {to: []Map{{"root_device_hints": Map{"min_size_gigabytes": 10}}, on("root_device_hints")}, says: overwritten, sends: []string{"deleted", "active"}},
		"boot mode that asks for it":    {to: []Map{{"boot_mode": "legacy"}, on("boot_mode")}, says: overwritten, sends: []string{"deleted", "active"}},
		"an image that does not ask":    {to: []Map{disk(image2), on("user_data")}},
		"rebuild":                       {to: []Map{disk(image2), {"reprovision_method": "rebuild"}}, says: overwritten, sends: []string{"rebuild"}},
		"image taken out":               {to: []Map{{"image": nil}}, says: "Host node-0 will be undeployed", sends: []string{"deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(full())
				w.Mark()

				to := with(full(), c.to...)
				plan := w.Plan(w.ctx, to)
				w.says(plan, c.says)

				if rewrites := slices.Contains(c.sends, "active") || slices.Contains(c.sends, "rebuild"); plan.Says(overwritten) != rewrites {
					w.t.Errorf("the plan says %q", plan.Warnings)
				}

				w.apply(to)
				w.deployments(c.sends)
			})
		})
	}
}

// deployments wants these provision and soft power requests since the last mark. Powering on
// what a deployment left off is no matter here.
func (w world) deployments(want []string) {
	w.t.Helper()

	got := slices.DeleteFunc(w.verbs(), func(s string) bool { return s == "power on" })
	if !slices.Equal(got, want) {
		w.t.Errorf("sent %v, want %v", got, want)
	}
}

func TestHost_newImageIsOnTheDisk(t *testing.T) {
	t.Parallel()

	for _, method := range []string{"redeploy", "rebuild"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(with(full(), Map{"reprovision_method": method}))

				id := w.id()

				w.apply(with(full(), Map{"reprovision_method": method}, disk(image2)))
				w.wants(Map{"id": id, "applied.image.url": image2, "provisioning_state": "provisioned", "image.url": image2})

				if m := w.Machine(w.t, "node-0"); m.Image != image2 || m.Power != "On" {
					w.t.Errorf("%s is on the disk, power %s", m.Image, m.Power)
				}
			})
		})
	}
}

func TestHost_liveISO(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		iso := Map{"image": Map{"url": "http://images.lab/live.iso", "format": "live-iso"}}
		w.apply(node(0, iso))
		w.wants(Map{"provisioning_state": "provisioned", "applied.image.format": "live-iso"})
		w.record(Map{"deploy_interface": "ramdisk"})

		if m := w.Machine(w.t, "node-0"); m.Running != "iso" || m.Image != "" {
			w.t.Errorf("runs %q, disk %q", m.Running, m.Image)
		}

		// To a disk and back: the deploy interface follows.
		w.apply(node(0, disk(image)))
		w.record(Map{"deploy_interface": "direct"})
		w.apply(node(0, iso))
		w.destroy()
	})
}

func TestHost_customDeploy(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"custom_deploy": Map{"method": "install_coreos", "args": Map{"a": "b"}}, "user_data": "x"}))
		w.wants(Map{"provisioning_state": "provisioned", "applied.custom_deploy": "install_coreos"})
		w.record(Map{"deploy_interface": "custom-agent"})
		w.Mark()

		plan := w.apply(node(0, Map{"custom_deploy": Map{"method": "install_other"}, "user_data": "x"}))
		w.says(plan, overwritten)
		w.deployments([]string{"deleted", "active"})

		w.apply(node(0, disk(image)))
		w.record(Map{"deploy_interface": "direct"})
		w.destroy()
	})
}

func TestHost_reprovisionDenied(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		deny := with(full(), Map{"reprovision": "deny"})
		w.apply(deny)
		w.record(Map{"protected": true})
		w.Mark()

		for name, to := range map[string]Map{"another image": with(deny, disk(image2)), "no image": with(deny, Map{"image": nil}), "triggers": with(deny, Map{"reprovision_triggers": Map{"a": "1"}})} {
			if o := w.Apply(w.ctx, to); o.Errors == "" {
				w.t.Errorf("%s: %s", name, o.Warnings)
			}
		}

		w.sent()
		w.apply(with(deny, Map{"labels": Map{"x": "y"}, "online": false}))
		w.apply(with(full(), Map{"reprovision": "allow"}))
		w.record(Map{"protected": false})
		w.apply(with(full(), disk(image2)))
		w.apply(with(full(), disk(image2), Map{"reprovision": "deny"}))
		w.record(Map{"protected": true})
		w.destroy() // our own protection is no obstacle: deletion_protection is
	})
}

func TestHost_triggersAndUserDataKeepWriteOnlyData(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		wo := func(data string, version int) Map {
			return node(0, disk(image), Map{"user_data_wo": data, "user_data_wo_version": version, "reprovision_on": []any{"image_url", "user_data"}})
		}
		w.apply(wo("secret one", 1))
		w.Mark()

		w.settled(wo("secret two", 1)) // the value alone changes nothing
		w.says(w.apply(wo("secret two", 2)), overwritten)
		w.deployments([]string{"deleted", "active"})
		w.wants(Map{"user_data_wo": nil})
	})
}

func TestHost_imageComesLater(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		o := w.apply(node(0, disk(image)))
		w.says(o, "Host node-0 will be deployed")
		w.wants(Map{"provisioning_state": "provisioned"})
		w.apply(node(0))
		w.wants(Map{"provisioning_state": "available", "applied": nil})
	})
}

func TestHost_offWithImageWaitsForPower(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		o := w.apply(node(0, disk(image), Map{"online": false}))
		w.says(o, "Host node-0 will not be deployed")
		w.wants(Map{"provisioning_state": "available", "powered_on": false})
		w.apply(node(0, disk(image)))
		w.wants(Map{"provisioning_state": "provisioned", "powered_on": true})
	})
}
