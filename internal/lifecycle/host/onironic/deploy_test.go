// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onironic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
)

var (
	sha256 = strings.Repeat("ab", 32)
	claim  = host.Claim("ns", "n1")
)

func raw(w *host.Wanted) {
	w.Image = &image.Image{URL: "http://images.test/a.raw", Checksum: sha256, Format: "raw"}
}

func TestWrite_deployment(t *testing.T) {
	t.Parallel()

	claimed := `add /instance_uuid "` + claim + `"`
	hash := []string{`add /instance_info/image_os_hash_algo "sha256"`, `add /instance_info/image_os_hash_value "` + sha256 + `"`}
	persistent := `add /driver_info/force_persistent_boot_device "Default"`
	plain := `add /instance_info/capabilities {}`
	list := func(ops ...any) (out []string) {
		for _, op := range ops {
			switch op := op.(type) {
			case string:
				out = append(out, op)
			case []string:
				out = append(out, op...)
			}
		}

		return out
	}

	for name, c := range map[string]written{
		"an image": {nil, raw, list(claimed, plain, `add /instance_info/image_disk_format "raw"`, hash, `add /instance_info/image_source "http://images.test/a.raw"`, persistent)},
		"the same image again": {func(n *ironic.Node) {
			n.InstanceUUID, n.DriverInfo["force_persistent_boot_device"] = claim, "Default"
			n.InstanceInfo = map[string]any{
				"capabilities": map[string]any{}, "image_source": "http://images.test/a.raw", "image_disk_format": "raw", "image_os_hash_algo": "sha256", "image_os_hash_value": sha256,
			}
		}, raw, []string{}},
		"a file of checksums, and secure boot": {nil, func(w *host.Wanted) {
			w.Image, w.BootMode = &image.Image{URL: "http://i/a.qcow2", Checksum: "http://i/SUMS"}, "UEFISecureBoot"
		}, list(`add /properties/capabilities "boot_mode:uefi,secure_boot:true"`, claimed, `add /instance_info/capabilities {"secure_boot":"true"}`,
			`add /instance_info/image_checksum "http://i/SUMS"`, `add /instance_info/image_source "http://i/a.qcow2"`, persistent)},
		"a live ISO instead of an image": {
			func(n *ironic.Node) {
				n.InstanceInfo = map[string]any{"image_source": "x", "image_os_hash_algo": "sha256", "image_os_hash_value": "y", "image_disk_format": "raw"}
			}, func(w *host.Wanted) { w.Image = &image.Image{URL: "http://i/live.iso", Format: image.LiveISO} },
			list(claimed, plain, `add /instance_info/boot_iso "http://i/live.iso"`, `remove /instance_info/image_disk_format`, `remove /instance_info/image_os_hash_algo`,
				`remove /instance_info/image_os_hash_value`, `remove /instance_info/image_source`, persistent, `add /deploy_interface "ramdisk"`),
		},
		"an image after a live ISO": {func(n *ironic.Node) {
			n.Interfaces["deploy"], n.InstanceInfo = "ramdisk", map[string]any{"boot_iso": "http://i/live.iso"}
		}, raw, list(claimed, plain, `remove /instance_info/boot_iso`, `add /instance_info/image_disk_format "raw"`, hash, `add /instance_info/image_source "http://images.test/a.raw"`,
			persistent, `remove /deploy_interface`)},
		"a custom deployment takes nothing of an image along": {
			func(n *ironic.Node) { n.InstanceInfo = map[string]any{"image_source": "x"} },
			func(w *host.Wanted) { w.CustomDeploy = &host.CustomDeploy{Method: "install"} },
			list(claimed, plain, `remove /instance_info/image_source`, `add /deploy_interface "custom-agent"`),
		},
		"the user's own deploy interface": {nil, func(w *host.Wanted) {
			w.Interfaces = map[string]string{"deploy": "anaconda"}
			w.Image = &image.Image{URL: "http://i/live.iso", Format: image.LiveISO}
		}, list(`add /deploy_interface "anaconda"`, claimed, plain, `add /instance_info/boot_iso "http://i/live.iso"`, persistent)},
		"an image of a registry, with its secret": {
			nil, func(w *host.Wanted) { w.Image, w.PullSecret = &image.Image{URL: "oci://r/i:1"}, "u:p" },
			list(claimed, plain, `add /instance_info/image_pull_secret "u:p"`, `add /instance_info/image_source "oci://r/i:1"`, persistent),
		},
		"a claim of the user": {
			nil, func(w *host.Wanted) { raw(w); w.InstanceUUID = "00000000-0000-4000-8000-0000000000aa" },
			list(`add /instance_uuid "00000000-0000-4000-8000-0000000000aa"`, plain, `add /instance_info/image_disk_format "raw"`, hash,
				`add /instance_info/image_source "http://images.test/a.raw"`, persistent),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, host.PartDeploy)
		})
	}
}

func TestOBMH08_rootDeviceHints(t *testing.T) {
	t.Parallel()

	size, spins := int64(100), false

	for name, c := range map[string]struct {
		hints *image.RootHints
		had   any
		op    string // a part of the patch; empty: root_device does not occur in it
	}{
		"operators are added": {
			&image.RootHints{DeviceName: "/dev/sda", Model: "PERC", MinSizeGigabytes: &size, Rotational: &spins}, nil,
			`add /instance_info/root_device {"model":"<in> PERC","name":"s== /dev/sda","rotational":"false","size":">= 100"}`,
		},
		"never twice":                        {&image.RootHints{DeviceName: "s== /dev/sda", Model: "s== PERC H730"}, nil, `add /instance_info/root_device {"model":"s== PERC H730","name":"s== /dev/sda"}`},
		"empty hints are none":               {&image.RootHints{SerialNumber: ""}, nil, ""},
		"no hints are none":                  {nil, nil, ""},
		"hints that went are taken away":     {nil, map[string]any{"name": "s== /dev/sda"}, `remove /instance_info/root_device`},
		"hints that are there stay unspoken": {&image.RootHints{DeviceName: "/dev/sda"}, map[string]any{"name": "s== /dev/sda"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, b := record(t, 96)
			n, w := settled(), wanted(t)
			raw(&w)
			w.RootHints = c.hints

			if c.had != nil {
				n.InstanceInfo["root_device"] = c.had
			}

			if _, err := b.Write(t.Context(), host.Seen{Node: n}, w, host.Journal{}, host.PartDeploy); err != nil {
				t.Fatal(err)
			}

			got := ""

			for _, op := range r.patch(t) {
				if strings.Contains(op, "root_device") {
					got = op
				}
			}

			// Ironic's JSON has no escapes for < and >, ours may.
			if got = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(got); got != c.op {
				t.Errorf("sent %s", got)
			}
		})
	}
}

// meta is the metadata of a host where the user says nothing on it.
func meta(more map[string]any) map[string]any {
	out := map[string]any{
		"uuid": claim, "metal3-namespace": "ns", "metal3-name": "n1", "local-hostname": "n1", "local_hostname": "n1", "name": "n1",
	}
	for key, value := range more {
		out[key] = value
	}

	return out
}

func TestOBMH20_configDrive(t *testing.T) {
	t.Parallel()

	network := map[string]any{"links": []any{}}

	for name, c := range map[string]struct {
		verb ironic.Verb
		data host.ConfigData
		iso  bool
		want map[string]any // nil: none is sent
	}{
		"user data only":      {ironic.VerbActive, host.ConfigData{UserData: "#!"}, false, map[string]any{"meta_data": meta(nil), "user_data": "#!"}},
		"network data only":   {ironic.VerbActive, host.ConfigData{NetworkData: network}, false, map[string]any{"meta_data": meta(nil), "network_data": network}},
		"vendor data only":    {ironic.VerbActive, host.ConfigData{VendorData: network}, false, map[string]any{"meta_data": meta(nil), "vendor_data": network}},
		"nothing":             {ironic.VerbActive, host.ConfigData{}, false, nil},
		"the user's metadata": {ironic.VerbActive, host.ConfigData{MetaData: map[string]string{"local-hostname": "x", "a": "b"}}, false, map[string]any{"meta_data": meta(map[string]any{"local-hostname": "x", "a": "b"})}},
		"a rebuild":           {ironic.VerbRebuild, host.ConfigData{UserData: "#!"}, false, map[string]any{"meta_data": meta(nil), "user_data": "#!"}},
		"a live ISO":          {ironic.VerbActive, host.ConfigData{UserData: "#!"}, true, nil},
		"another verb":        {ironic.VerbProvide, host.ConfigData{UserData: "#!"}, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, b := record(t, 96)
			w := wanted(t)
			raw(&w)
			w.Config = c.data

			if c.iso {
				w.Image = &image.Image{URL: "http://i/live.iso", Format: image.LiveISO}
			}

			if err := b.Start(t.Context(), host.Seen{Node: settled()}, w, c.verb); err != nil {
				t.Fatal(err)
			}

			var body map[string]any
			if r.last(t, &body); body["target"] != string(c.verb) {
				t.Errorf("sent %v", body)
			}

			if got, there := body["configdrive"]; there != (c.want != nil) || (there && !reflect.DeepEqual(got, any(c.want))) {
				t.Errorf("sent %v", got)
			}
		})
	}
}

func TestStart_customDeploySteps(t *testing.T) {
	t.Parallel()

	for want, custom := range map[string]*host.CustomDeploy{
		`[{"args":{},"interface":"deploy","priority":80,"step":"install"}]`:        {Method: "install"},
		`[{"args":{"a":"b"},"interface":"deploy","priority":70,"step":"install"}]`: {Method: "install", Args: map[string]any{"a": "b"}, Priority: 70},
		`null`: nil,
	} {
		r, b := record(t, 96)
		w := wanted(t)
		w.CustomDeploy = custom

		if err := b.Start(t.Context(), host.Seen{Node: settled()}, w, ironic.VerbActive); err != nil {
			t.Fatal(err)
		}

		var body map[string]any

		r.last(t, &body)

		if doc, _ := json.Marshal(body["deploy_steps"]); string(doc) != want {
			t.Errorf("sent %s, want %s", doc, want)
		}
	}
}

func TestStart_abortOfADeployment(t *testing.T) {
	t.Parallel()

	for minor, want := range map[int]string{96: "deleted", 111: "abort"} {
		r, b := record(t, minor)
		n := settled()
		n.ProvisionState = ironic.WaitCallBack

		if err := b.Start(t.Context(), host.Seen{Node: n}, wanted(t), ironic.VerbAbort); err != nil {
			t.Fatal(err)
		}

		var body map[string]any
		if r.last(t, &body); body["target"] != want {
			t.Errorf("1.%d: sent %v", minor, body)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()

	for doc, want := range map[string]string{
		`{"boot":{"result":true},"deploy":{"result":true},"power":{"result":false,"reason":"x"}}`:      "",
		`{"boot":{"result":false,"reason":"no kernel"},"deploy":{"result":false,"reason":"no image"}}`: "Ironic cannot deploy this host: boot: no kernel; deploy: no image",
		`{}`: "",
	} {
		r, b := record(t, 96)
		r.answer["GET /nodes/"+id+"/validate"] = func(w http.ResponseWriter) { _, _ = w.Write([]byte(doc)) }

		err := b.Validate(t.Context(), id)

		var invalid *onironic.InvalidError
		if (err == nil) != (want == "") || (err != nil && (!errors.As(err, &invalid) || err.Error() != want)) {
			t.Errorf("%s: %v", doc, err)
		}
	}
}
