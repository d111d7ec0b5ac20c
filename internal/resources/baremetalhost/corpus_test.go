// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

// bodies are the bodies of the requests of a kind since the last mark.
func (w world) bodies(method, part string) []string {
	var out []string

	for _, r := range w.Ironic.Requests() {
		if r.Method == method && strings.Contains(r.Path, part) {
			out = append(out, r.Body)
		}
	}

	return out
}

func TestOBMH01_addressThatNamesNoSystem(t *testing.T) {
	t.Parallel()

	for path, id := range map[string]any{
		"": nil, "/": nil, "/redfish/v1/": nil, "/redfish/v1/Systems/": nil,
		"/redfish/v1/Systems/1": "/redfish/v1/Systems/1", "/redfish/v1/Systems/1/": "/redfish/v1/Systems/1",
	} {
		t.Run("path "+path, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				config := bmc(node(0), Map{"address": "redfish-virtualmedia+http://node-0.lab" + path})
				w.apply(config)

				info, _ := w.ironicNode()["driver_info"].(Map)
				if got, there := info["redfish_system_id"]; got != id || there != (id != nil) {
					w.t.Errorf("redfish_system_id is %v (%v)", got, there)
				}
			})
		})
	}
}

func TestOBMH02_spellingOfMACAddresses(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"boot_mac_address": "52-54-00-5A-00-00"}))
		w.wants(Map{"boot_mac_address": "52-54-00-5A-00-00"})

		if all := w.bodies("POST", "/v1/ports"); len(all) != 1 || !strings.Contains(all[0], "52:54:00:5a:00:00") {
			w.t.Errorf("posted %v", all)
		}

		w.settled(node(0, Map{"boot_mac_address": "5254.005A.0000"}))
		w.settled(node(0, Map{"boot_mac_address": "52:54:00:5A:00:00"}))

		for _, bad := range []string{"02:00:5E:10:00:00:00:01", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0f:1d", "nonsense", "02:00:5E:10:00"} {
			if p := w.Plan(w.ctx, node(0, Map{"boot_mac_address": bad})); !strings.Contains(p.Errors, "boot_mac_address") {
				w.t.Errorf("%s: %s", bad, p.Errors)
			}
		}
	})
}

func TestOBMH03_bootMACOwnedByAnotherNode(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		other := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
		other.apply(node(1))

		o := w.Apply(w.ctx, node(0, Map{"boot_mac_address": "52:54:00:5a:00:01"}))
		w.says(o, "52:54:00:5a:00:01", other.id())

		if o.Errors == "" || w.Exists() && !w.Tainted {
			w.t.Errorf("tainted %v: %s", w.Tainted, o.Errors)
		}

		if w.Exists() {
			w.destroy()
		}

		other.settled(node(1))
		w.oneNode()
	})
}

// TestOBMH03_portIsTakenWhileTheNodeIsMade meets the conflict only at the port.
func TestOBMH03_portIsTakenWhileTheNodeIsMade(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		other := world{Core: w.Lab.Core(w.t, theHost), Lab: w.Lab, t: w.t, ctx: w.ctx}
		other.apply(node(1))

		o := w.Apply(w.ctx, node(0, Map{"ports": []any{Map{"mac": "52:54:00:5a:00:01"}}}))
		w.says(o, "52:54:00:5a:00:01", other.id())

		if !w.Exists() || !w.Tainted {
			w.t.Fatalf("an orphan: %v", w.nodes())
		}

		w.destroy()
		other.settled(node(1))
		w.oneNode()
	})
}

func TestOBMH04_nodeLocked(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		for _, match := range []string{"PUT /v1/nodes/*/states/provision", "PUT /v1/nodes/*/states/power", "PATCH /v1/nodes/*"} {
			w.Ironic.Inject(labironic.Trouble{Match: match, Times: 3, Locked: true})
		}

		w.apply(full())
		w.apply(with(full(), Map{"online": false, "labels": Map{"a": "c"}}))
		w.wants(Map{"powered_on": false})
	})
}

func TestOBMH04_lockThatNeverEnds(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0))
		w.Ironic.Inject(labironic.Trouble{Match: "PUT /v1/nodes/*/states/provision", Times: -1, Locked: true})

		o := w.Apply(w.ctx, node(0, disk(image), Map{"timeouts": Map{"update": "10m"}}))
		w.says(o, "locked by host ironic.lab")

		if o.Errors == "" || !w.Exists() {
			w.t.Error("no error")
		}
	})
}

func TestOBMH04_invalidTransitionIsLookedAtAnew(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.Ironic.Inject(labironic.Trouble{
			Match: "PUT /v1/nodes/*/states/provision", Status: http.StatusBadRequest,
			Text: `The requested action "manage" can not be performed on node "x" while it is in state "verifying".`,
		})
		w.apply(full())
	})
}

// TestOBMH07_checksums sends what the user means and never guesses by a download.
func TestOBMH07_checksums(t *testing.T) {
	t.Parallel()

	sha256, sha512 := strings.Repeat("ab", 32), strings.Repeat("cd", 64)

	for name, c := range map[string]struct {
		image Map
		want  Map
	}{
		"64 digits":  {Map{"checksum": sha256, "checksum_type": nil}, Map{"image_os_hash_algo": "sha256", "image_os_hash_value": sha256, "image_checksum": nil}},
		"128 digits": {Map{"checksum": sha512, "checksum_type": nil}, Map{"image_os_hash_algo": "sha512", "image_os_hash_value": sha512}},
		"a URL":      {Map{"checksum": sums, "checksum_type": nil}, Map{"image_os_hash_algo": nil, "image_os_hash_value": nil, "image_checksum": sums}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.Apply(w.ctx, node(0, disk(image, c.image))) // the digest is none of the image's: no matter

				info, _ := w.ironicNode()["instance_info"].(Map)
				for key, want := range c.want {
					if info[key] != want {
						w.t.Errorf("%s = %v, want %v", key, info[key], want)
					}
				}
			})
		})
	}

	t.Run("a type that does not fit", func(t *testing.T) {
		t.Parallel()
		inLab(t, lab.Options{}, func(w world) {
			p := w.Plan(w.ctx, node(0, disk(image, Map{"checksum": sha256, "checksum_type": "md5"})))
			if !strings.Contains(p.Errors, "checksum") || w.Asked() != 0 {
				w.t.Errorf("the plan says %q after %d requests", p.Errors, w.Asked())
			}
		})
	})
}

func TestOBMH08_rootDeviceHints(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, disk(image), Map{"root_device_hints": Map{"device_name": "/dev/sda", "min_size_gigabytes": 100, "rotational": false}}))

		info, _ := w.ironicNode()["instance_info"].(Map)
		hints, _ := info["root_device"].(Map)

		for key, want := range map[string]any{"name": "s== /dev/sda", "size": ">= 100", "rotational": "false"} {
			if hints[key] != want {
				w.t.Errorf("%s = %v, want %v", key, hints[key], want)
			}
		}

		if len(hints) != 3 {
			w.t.Errorf("hints are %v", hints)
		}

		if p := w.Plan(w.ctx, node(0, Map{"root_device_hints": Map{"serial_number": ""}})); p.Errors == "" {
			w.t.Error("an empty hint is accepted")
		}
	})
}

// TestOBMH11_powerStateMissing keeps waiting while the power state is neither on nor off.
func TestOBMH11_powerStateMissing(t *testing.T) {
	t.Parallel()
	inLab(t, lab.Options{}, func(w world) {
		w.apply(node(0, Map{"online": false}))

		odd := []any{nil, "", "unknown", "powering on", nil}
		w.Ironic.Rewrite(func(kind string, doc map[string]any) {
			if kind == "node" && doc["power_state"] == "power on" && len(odd) > 0 {
				doc["power_state"], odd = odd[0], odd[1:]
			}
		})
		w.Mark()
		w.apply(node(0))
		w.sent("power on")
		w.wants(Map{"powered_on": true})
	})
}

// TestOBMH18_passwordIsNowhere makes registration, log-in and rewriting fail.
func TestOBMH18_passwordIsNowhere(t *testing.T) {
	t.Parallel()

	const password = "S3cret&+%"

	for name, trouble := range map[string]labironic.Trouble{
		"a registration that echoes": {Match: "POST /v1/nodes", Status: http.StatusBadRequest, Text: `bad driver_info {"redfish_password": "S3cret&+%", "x": "S3cret%26%2B%25"}`},
		"a PATCH that echoes":        {Match: "PATCH /v1/nodes/*", Times: -1, Status: http.StatusBadRequest, Text: `bad value "S3cret&+%" (UzNjcmV0JislJQ==)`},
		"a refused log-in":           {Match: "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.Ironic.Inject(trouble)

				o := w.Apply(w.ctx, bmc(node(0), Map{"password_wo": password}))
				if o.Errors == "" {
					w.t.Error("no error")
				}

				for _, secret := range []string{password, "S3cret%26%2B%25", "UzNjcmV0JislJQ=="} {
					if strings.Contains(o.Errors+o.Warnings+w.Dump(), secret) {
						w.t.Errorf("%q is in\n%s%s", secret, o.Errors, o.Warnings)
					}
				}
			})
		})
	}

	t.Run("the mask is no password", func(t *testing.T) {
		t.Parallel()
		inLab(t, lab.Options{}, func(w world) {
			config := node(0, Map{"bmc": Map{"address": address(0), "username": "admin", "password": "password", "driver_info": Map{"vendor_password": "mine"}}})
			w.apply(config)

			if strings.Contains(w.Dump(), "******") {
				w.t.Error("the mask is in the state")
			}
		})
	})
}

// TestOBMH20_configDrive is made from whatever is given, and sent at every attempt.
func TestOBMH20_configDrive(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		parts    Map
		has, not []string
	}{
		"user data only":    {Map{"user_data": "#cloud-config\n{}\n"}, []string{"user_data", `"metal3-name":"node-0"`, `"local-hostname":"node-0"`, `"uuid":`}, nil},
		"network data only": {Map{"network_data": `{"links":[]}`}, []string{"network_data", `"metal3-name":"node-0"`}, []string{"user_data"}},
		"nothing":           {nil, nil, []string{"configdrive"}},
		"own host name":     {Map{"meta_data": Map{"local-hostname": "mine"}}, []string{`"local-hostname":"mine"`, `"name":"node-0"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inLab(t, lab.Options{}, func(w world) {
				w.fails("active", 1, mismatch)
				w.apply(node(0, disk(image), c.parts))

				attempts := 0

				for _, body := range w.bodies("PUT", "/states/provision") {
					if !strings.Contains(body, `"active"`) {
						continue
					}

					attempts++

					for _, part := range c.has {
						if !strings.Contains(body, part) {
							w.t.Errorf("attempt %d lacks %s: %s", attempts, part, body)
						}
					}

					for _, part := range c.not {
						if strings.Contains(body, part) {
							w.t.Errorf("attempt %d has %s: %s", attempts, part, body)
						}
					}
				}

				if attempts != 2 {
					w.t.Errorf("%d attempts", attempts)
				}
			})
		})
	}
}
