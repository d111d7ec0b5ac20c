// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// changing are the requests of an apply that may only change settings.
func (w world) onlySettings() {
	w.t.Helper()

	for _, s := range w.Sent() {
		if !strings.HasPrefix(s, "PATCH /v1/nodes/") && !strings.HasPrefix(s, "PUT /v1/nodes/"+w.id()+"/traits") {
			w.t.Errorf("sent %s", s)
		}
	}
}

// generated is the configuration that Terraform generates for an import: what is in the
// state and can be configured.
func (w world) generated() Map {
	out := w.Configurable()
	delete(out, "timeouts")

	return out
}

func TestHost_importForms(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		id, claim := w.id(), w.ironicNode()["instance_uuid"].(string)

		for _, form := range []string{
			id, strings.ToUpper(id), "metal3~node-0", "metal3/node-0", "node-0", "mac:52:54:00:5a:00:00", "mac:52-54-00-5A-00-00",
			"instance:" + claim, "instance:" + strings.ToUpper(claim),
		} {
			w.Forget()
			w.Mark()

			o := w.Import(w.ctx, form)
			if o.Errors != "" || w.id() != id || w.Identity() != id {
				w.t.Errorf("import of %s: %q, identity %q: %s", form, w.id(), w.Identity(), o.Errors)
			}

			if sent := w.Sent(); len(sent) != 0 {
				w.t.Errorf("import of %s sent %v", form, sent)
			}
		}

		for _, form := range []string{"node-7", "nobody/node-0", "metal3~nobody", "mac:52:54:00:99:99:99", "mac:", "instance:", "instance:nobody", "11111111-2222-4333-8444-555555555555"} {
			w.Forget()

			if o := w.Import(w.ctx, form); o.Errors == "" || w.Exists() {
				w.t.Errorf("import of %q: %v", form, w.id())
			}
		}
	})
}

// TestOTF04_importNeedsNoSecret imports what a configuration made, with that configuration:
// nothing is replaced, and nothing but settings is sent.
func TestOTF04_importNeedsNoSecret(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]Map{
		"available": node(0, Map{"labels": Map{"a": "b"}}), "provisioned": full(), "off": node(0, Map{"online": false}),
		"live ISO":        node(0, Map{"image": Map{"url": "http://images.lab/live.iso", "format": "live-iso"}}),
		"custom":          node(0, Map{"custom_deploy": Map{"method": "install_coreos"}}),
		"external":        node(0, Map{"externally_provisioned": true}),
		"with everything": with(full(), Map{"boot_mode": "legacy", "root_device_hints": Map{"min_size_gigabytes": 10, "rotational": false}, "reprovision": "deny", "failure_domain": "z", "annotations": Map{"x": "y"}, "resource_class": "big", "owner": "me", "description": "d", "properties": Map{"site": "a"}, "automated_cleaning_mode": "disabled"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(config)

				id := w.id()

				w.Forget()
				w.Mark()

				if o := w.Import(w.ctx, id); o.Errors != "" {
					w.t.Fatal(o.Errors)
				}

				w.settled(w.generated())

				o := w.Plan(w.ctx, config)
				if o.Action == "replace" || o.Errors != "" || o.Says("overwritten") || o.Says("will be deployed") || o.Says("undeployed") {
					w.t.Errorf("the plan is %q: %s%s", o.Action, o.Errors, o.Warnings)
				}

				w.apply(config)
				w.onlySettings()
				w.wants(Map{"id": id})
				w.destroy()
			})
		})
	}
}

// TestHost_importWithCredentialsOfTheProvider imports a host whose BMC user stands in the
// provider block: nothing of it is the host's own, and nothing is tried.
func TestHost_importWithCredentialsOfTheProvider(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.Provider = with(w.Provider, Map{"bmc": Map{"username": "admin", "password": "password"}})
		config := node(0, Map{"bmc": Map{"address": address(0)}})

		w.apply(config)

		id := w.id()

		w.Forget()
		w.Mark()

		if o := w.Import(w.ctx, id); o.Errors != "" {
			w.t.Fatal(o.Errors)
		}

		w.wants(Map{"bmc.username": nil})
		w.settled(config)

		// The host's own mention of the same user changes nothing at the BMC either.
		w.apply(bmc(config, Map{"username": "admin"}))
		w.onlySettings()
	})
}

// TestHost_importOfForeignHost imports hosts that nobody of ours made, in each state in which
// a node of Ironic rests.
func TestHost_importOfForeignHost(t *testing.T) {
	t.Parallel()

	for state, c := range map[string]struct {
		edit  Map
		phase string
		goes  []string // verbs of the next apply of the generated configuration; nil: none
	}{
		"enroll":            {nil, "registering", []string{"manage"}},
		"manageable":        {nil, "available", nil},
		"available":         {nil, "available", nil},
		"active":            {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}, "instance_uuid": "11111111-2222-4333-8444-555555555555"}, "provisioned", nil},
		"active, external":  {Map{"provision_state": "active"}, "externally provisioned", nil},
		"inspect failed":    {Map{"last_error": "no"}, "inspecting", []string{"inspect"}},
		"clean failed":      {Map{"target_provision_state": "available", "maintenance": true, "fault": "clean failure"}, "deprovisioning", []string{"manage"}},
		"deploy failed":     {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioning", nil},
		"error":             {Map{"last_error": "no"}, "deprovisioning", nil},
		"adopt failed":      {Map{"last_error": "no"}, "externally provisioned", nil},
		"rescue":            {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioned", nil},
		"service failed":    {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioned", nil},
		"inspecting":        {nil, "inspecting", nil},
		"deploying":         {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioning", nil},
		"cleaning":          {Map{"target_provision_state": "available"}, "deprovisioning", nil},
		"clean wait":        {Map{"target_provision_state": "manageable"}, "preparing", nil},
		"unrescue failed":   {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioned", nil},
		"wait call-back":    {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioning", nil},
		"verifying":         {nil, "registering", nil},
		"adopting":          {nil, "externally provisioned", nil},
		"deleting":          {nil, "deprovisioning", nil},
		"rescue failed":     {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioned", nil},
		"service wait":      {Map{"instance_info": Map{"image_source": image, "image_checksum": sums}}, "provisioned", nil},
		"available, locked": {Map{"provision_state": "available", "reservation": "conductor-1"}, "available", nil},
	} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(node(0))

				id := w.id()
				w.edit(Map{"extra": nil})
				w.edit(with(Map{"provision_state": state}, c.edit))
				w.Forget()
				w.Mark()

				if o := w.Import(w.ctx, id); o.Errors != "" {
					w.t.Fatal(o.Errors)
				}

				w.wants(Map{"id": id, "provisioning_state": c.phase, "name": "node-0", "namespace": "metal3", "bmc.address": address(0), "bmc.username": "admin", "bmc.password": nil})

				config := w.generated()

				o := w.Plan(w.ctx, config)
				if o.Errors != "" || o.Says("overwritten") {
					w.t.Errorf("the plan says %s%s", o.Errors, o.Warnings)
				}

				if resting := []string{"available", "provisioned", "externally provisioned"}; slices.Contains(resting, c.phase) && o.Action != "" && w.Get("operational_status") == "OK" {
					w.t.Errorf("the plan is %q %v", o.Action, o.Changed)
				}

				if sent := w.Sent(); len(sent) != 0 {
					w.t.Errorf("import and plan sent %v", sent)
				}

				if c.goes != nil {
					w.apply(bmc(config, Map{"password_wo": "password", "password_wo_version": 1}))

					for i, v := range c.goes {
						if got := w.verbs(); i >= len(got) || got[i] != v {
							w.t.Errorf("sent %v, want %v", got, c.goes)

							break
						}
					}
				}
			})
		})
	}
}

// TestHost_importedForeignImageIsNotOverwritten takes a running machine of somebody else
// with another image in the configuration.
func TestHost_importedForeignImageIsNotOverwritten(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		id := w.id()

		w.edit(Map{"extra": nil})
		w.Forget()
		w.Import(w.ctx, id)
		w.Mark()

		o := w.Apply(w.ctx, with(full(), disk(image2)))
		w.says(o, "was not deployed by this provider")
		w.sent()

		// What was given for the first time (triggers included) is only noted.
		first := with(full(), Map{"reprovision_triggers": Map{"a": "1"}})
		o = w.apply(first)
		w.sent()

		if o.Says("overwritten") {
			w.t.Errorf("the plan says %s", o.Warnings)
		}

		o = w.apply(with(full(), disk(image2), Map{"reprovision_triggers": Map{"a": "2"}}))
		w.says(o, overwritten)
		w.wants(Map{"applied.image.url": image2})
	})
}

func TestHost_importOfAPlainlyNamedNode(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		id := w.id()

		w.edit(Map{"extra": nil, "name": "plain"})
		w.Forget()

		if o := w.Import(w.ctx, "plain"); o.Errors != "" || w.id() != id {
			w.t.Fatalf("import: %s", o.Errors)
		}

		w.wants(Map{"name": "plain", "namespace": "metal3", "node_name": "plain"})
		w.settled(w.generated())
		w.apply(with(full(), Map{"name": "plain"}))
		w.wants(Map{"node_name": "plain"}) // until name or namespace changes
		w.apply(with(full(), Map{"name": "node-0"}))
		w.wants(Map{"node_name": "metal3~node-0"})
	})
}
