// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// TestFind_comparesWholeProviderIDs: a Node whose name says nothing is found by its providerID alone.
func TestFind_comparesWholeProviderIDs(t *testing.T) {
	t.Parallel()

	const uuid = "0B5C1F2E-9E6A-4C8B-8E2D-0A1B2C3D4E5F"

	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"the same":                               {"metal3://default/h/m", "metal3://default/h/m", true},
		"one ends where the other goes on":       {"metal3://default/h/worker1", "metal3://default/h/worker10", false},
		"one begins as the other":                {"metal3://default/h/m", "metal3://default/h/m/x", false},
		"letter case of the scheme says nothing": {"METAL3://default/h/m", "metal3://default/h/m", true},
		"letter case of a name does":             {"metal3://default/H/m", "metal3://default/h/m", false},
		"letter case of a UUID says nothing":     {"metal3://" + uuid, "metal3://" + strings.ToLower(uuid), true},
		"of a UUID within a name it does":        {"metal3://x-" + uuid, "metal3://x-" + strings.ToLower(uuid), false},
		"blanks around it say nothing":           {" metal3://default/h/m\n", "metal3://default/h/m", true},
		"another scheme":                         {"k3s://default/h/m", "metal3://default/h/m", false},
		"nothing is not the same as nothing":     {"", "", false},
		"nor are blanks":                         {" ", "\t", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
				if finds(pair[0], pair[1]) != c.same {
					t.Errorf("%q and %q: same is not %v", pair[0], pair[1], c.same)
				}
			}
		})
	}
}

// finds reports whether a machine with one providerID finds a Node with another one.
func finds(machine, of string) bool {
	w := want("a-machine", "a-host")
	w.ProviderID = machine

	found, err := nodes.NewIndex([]kube.Node{node("a-node", of)}).Find(w, nil)

	return err == nil && found.Node != nil
}

func TestParseProviderID(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		id   string
		want nodes.Identity
		ours bool
	}{
		"ours":                    {"metal3://default/host-1/edge-cp-0", nodes.Identity{Namespace: "default", Host: "host-1", Machine: "edge-cp-0"}, true},
		"the old form":            {"metal3://0b5c1f2e-9e6a-4c8b-8e2d-0a1b2c3d4e5f", nodes.Identity{}, false},
		"of another cloud":        {"k3s://edge-cp-0", nodes.Identity{}, false},
		"a part is missing":       {"metal3://default/host-1", nodes.Identity{}, false},
		"a part is empty":         {"metal3://default//edge-cp-0", nodes.Identity{}, false},
		"a part too many":         {"metal3://default/host-1/edge-cp-0/", nodes.Identity{}, false},
		"nothing":                 {"", nodes.Identity{}, false},
		"a scheme and no more":    {"metal3://", nodes.Identity{}, false},
		"ours is only its ending": {"xmetal3://default/host-1/edge-cp-0", nodes.Identity{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, ours := nodes.ParseProviderID(c.id)
			if got != c.want || ours != c.ours {
				t.Errorf("got %+v, %v", got, ours)
			}
		})
	}
}

func FuzzParseProviderID(f *testing.F) {
	for _, seed := range []string{"metal3://default/host-1/edge-cp-0", "METAL3://a/b/c", "k3s://x", "metal3:///", "://", "\xff://\xfe/a/b", ""} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, id string) {
		if finds(id, id) != (strings.TrimSpace(id) != "") {
			t.Errorf("%q does not find itself", id)
		}

		i, ours := nodes.ParseProviderID(id)
		if !ours {
			return
		}

		if again := nodes.ProviderID(i.Namespace, i.Host, i.Machine); !finds(id, again) {
			t.Errorf("%q became %q", id, again)
		}
	})
}
