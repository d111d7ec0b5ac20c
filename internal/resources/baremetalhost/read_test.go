// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// TestOBMH22_goneOrOnlyUnreachable makes every read of a refresh fail in one way: the state
// is kept as it was, and the cause is said.
func TestOBMH22_goneOrOnlyUnreachable(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		trouble labironic.Trouble
		says    string
	}{
		"401":       {labironic.Trouble{Status: http.StatusUnauthorized}, "401"},
		"403":       {labironic.Trouble{Status: http.StatusForbidden}, "403"},
		"500":       {labironic.Trouble{Status: http.StatusInternalServerError}, "500"},
		"503":       {labironic.Trouble{Status: http.StatusServiceUnavailable}, "503"},
		"HTML":      {labironic.Trouble{HTML: "<html><body>Welcome to nginx!</body></html>"}, "answered HTML, is this Ironic?"},
		"404 HTML":  {labironic.Trouble{Status: http.StatusNotFound, HTML: "<html>404 page not found</html>"}, "404"},
		"a refusal": {labironic.Trouble{DropBefore: true}, "the connection ended before the answer"},
	} {
		for kind, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
			t.Run(kind+", "+name, func(t *testing.T) {
				t.Parallel()
				inLab(t, lab.Options{}, func(w world) {
					w.apply(node(0, parts))

					before := w.State()
					c.trouble.Times = -1
					w.Ironic.Inject(c.trouble)

					o := w.Refresh(w.ctx)
					if o.Errors == "" {
						w.t.Errorf("no error; warnings: %s", o.Warnings)
					}

					if !w.Exists() || !reflect.DeepEqual(w.State(), before) {
						w.t.Error("the state was changed")
					}

					if !strings.Contains(strings.ToLower(o.Errors), strings.ToLower(c.says)) {
						w.t.Errorf("%q is not said in %s", c.says, o.Errors)
					}
				})
			})
		}
	}
}

// TestOBMH22_missingPartIsNotAMissingNode answers 404 for what hangs on a node.
func TestOBMH22_missingPartIsNotAMissingNode(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"refresh_depth": "full"}))

		for _, part := range []string{"/v1/nodes/*/inventory", "/v1/nodes/*/traits", "/v1/ports/*"} {
			w.Ironic.Inject(labironic.Trouble{Match: "GET " + part, Times: 2, Status: http.StatusNotFound, Text: "Not found."})
		}

		w.Refresh(w.ctx)

		if !w.Exists() {
			w.t.Error("the host is out of the state")
		}
	})
}

func TestHost_unreachableIronicWhileNothingListens(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.Provider = Map{"ironic": Map{"endpoint": "http://nobody.lab:6385", "auth": "noauth"}}

		if o := w.Refresh(w.ctx); o.Errors == "" || !w.Exists() {
			w.t.Errorf("%v: %q", w.Exists(), o.Errors)
		}
	})
}

func TestHost_unknownEndpointKeepsTheState(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))

		before := w.State()
		w.Provider = Map{"ironic": Map{"endpoint": unknown{}, "auth": "noauth"}}
		w.Mark()

		o := w.Refresh(w.ctx)
		w.says(o, "Hosts are not refreshed")

		if !reflect.DeepEqual(w.State(), before) || w.Asked() != 0 {
			w.t.Error("the state was changed, or somebody asked")
		}

		if p := w.Plan(w.ctx, node(0, Map{"labels": Map{"a": "b"}})); p.Action != "update" {
			w.t.Errorf("the plan is %q: %s", p.Action, p.Errors)
		}
	})
}

func TestHost_anotherEndpointIsAnError(t *testing.T) {
	t.Parallel()

	for name, parts := range map[string]Map{"available": nil, "provisioned": disk(image)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(node(0, parts))

				id := w.id()

				if err := w.Ironic.Forget(id); err != nil {
					w.t.Fatal(err)
				}

				w.Provider = Map{"ironic": Map{"endpoint": "http://ironic.lab", "auth": "noauth"}}

				o := w.Refresh(w.ctx)
				w.says(o, "This looks like another Ironic")
				w.wants(Map{"id": id})

				o = w.Apply(w.ctx, nil)
				if o.Errors == "" || !w.Exists() {
					w.t.Error("a destroy in another Ironic took the host out of the state")
				}
			})
		})
	}
}

func TestHost_goneBeforeItWasProvisioned(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))

		id := w.id()

		if err := w.Ironic.Forget(id); err != nil {
			w.t.Fatal(err)
		}

		o := w.Refresh(w.ctx)
		w.says(o, "Host node-0 is gone from Ironic")

		if o.Errors != "" || w.Exists() {
			w.t.Fatalf("it is still there: %s", o.Errors)
		}

		w.apply(node(0))
	})
}

func TestHost_goneWhileItRuns(t *testing.T) {
	t.Parallel()

	for name, config := range map[string]Map{
		"an image":               full(),
		"an image, off":          full(),
		"a custom deployment":    node(0, Map{"custom_deploy": Map{"method": "install_coreos"}}),
		"externally provisioned": node(0, Map{"externally_provisioned": true}),
		"denied":                 with(full(), Map{"reprovision": "deny"}),
		"a boot MAC address":     with(full(), Map{"boot_mac_address": "52:54:00:5a:00:00"}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.apply(config)

				if name == "an image, off" {
					config = with(config, Map{"online": false})
					w.apply(config)
				}

				id, boots, on := w.id(), w.Machine(w.t, "node-0").Boots, w.Machine(w.t, "node-0").Image
				state := w.Get("provisioning_state")

				if err := w.Ironic.Forget(id); err != nil {
					w.t.Fatal(err)
				}

				w.Mark()
				w.says(w.Refresh(w.ctx), "Host node-0 is gone from Ironic", "adopts it")

				if !w.Exists() {
					w.t.Fatal("the host is out of the state")
				}

				w.wants(Map{"operational_status": "error", "ironic_state": nil, "id": id})

				p := w.Plan(w.ctx, config)
				if p.Action != "update" || p.Planned["provisioning_state"] != state {
					w.t.Errorf("the plan is %q to %v", p.Action, p.Planned["provisioning_state"])
				}

				w.says(p, "will be enrolled again")
				w.apply(config)
				w.wants(Map{"id": id, "provisioning_state": state, "ironic_state": "active", "operational_status": "OK"})

				m := w.Machine(w.t, "node-0")
				if m.Image != on || m.Boots != boots {
					w.t.Errorf("the disk has %q, was %q; started %d times", m.Image, on, m.Boots-boots)
				}

				for _, v := range w.verbs() {
					if v != "manage" && v != "adopt" && v != "power on" && v != "power off" {
						w.t.Errorf("sent %q", v)
					}
				}

				w.destroy()
			})
		})
	}
}

func TestHost_goneAndDestroyed(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		if err := w.Ironic.Forget(w.id()); err != nil {
			w.t.Fatal(err)
		}

		w.destroy()
	})
}

// TestHost_goneAndChanged loses the record of a machine that runs, and changes its image at
// the same time: the plan speaks of the disk, and with "deny" it is an error.
func TestHost_goneAndChanged(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(full())

		if err := w.Ironic.Forget(w.id()); err != nil {
			w.t.Fatal(err)
		}

		to := with(full(), disk(image2))

		if p := w.Plan(w.ctx, with(to, Map{"reprovision": "deny"})); p.Errors == "" {
			w.t.Errorf("a denied plan says %s", p.Warnings)
		}

		w.says(w.Plan(w.ctx, to), overwritten)
		w.Mark()
		w.apply(to)
		w.deployments([]string{"manage", "adopt", "deleted", "active"})
		w.wants(Map{"applied.image.url": image2})
	})
}

// TestHost_goneWhileSomebodyElseDeploys loses the record of a host that a cluster uses: its
// machine is neither inspected nor cleaned.
func TestHost_goneWhileSomebodyElseDeploys(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.edit(Map{"instance_uuid": "11111111-2222-4333-8444-555555555555", "provision_state": "active", "instance_info": Map{"image_source": image, "image_checksum": sums}})
		w.Refresh(w.ctx)

		boots := w.Machine(w.t, "node-0").Boots

		if err := w.Ironic.Forget(w.id()); err != nil {
			w.t.Fatal(err)
		}

		w.Mark()
		w.apply(node(0))

		for _, v := range w.verbs() {
			if v != "manage" && v != "adopt" {
				w.t.Errorf("sent %q", v)
			}
		}

		if now := w.Machine(w.t, "node-0").Boots; now != boots {
			w.t.Error("the machine was started")
		}

		w.wants(Map{"ironic_state": "active"})
	})
}

// TestHost_severalGoneAtOnce asks an Ironic that lost its database.
func TestHost_severalGoneAtOnce(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))

		other := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
		other.apply(node(1))

		for _, id := range []string{w.id(), other.id()} {
			if err := w.Ironic.Forget(id); err != nil {
				w.t.Fatal(err)
			}
		}

		// One command refreshes both.
		both := w.RefreshWith(w.ctx, other.Core)
		w.says(both, "Several hosts of the state are missed at once")

		if !other.Exists() {
			w.t.Error("the second host is out of the state")
		}
	})
}
