// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// TestNext_places: where a host stands in the CRUSH map, and where it should.
func TestNext_places(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		want, have map[string]string
		do         string
	}{
		"nothing is said":               {nil, map[string]string{"root": "default"}, "rest"},
		"it stands right":               {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1", "root": "default"}, "rest"},
		"it stands in another rack":     {map[string]string{"rack": "r1"}, map[string]string{"rack": "r2", "root": "default"}, "set settings"},
		"it stands in none":             {map[string]string{"rack": "r1"}, map[string]string{"root": "default"}, "set settings"},
		"its rack has no root":          {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1"}, "set settings"},
		"its rack is below another one": {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1", "root": "ssd"}, "set settings"},
		"another root is wanted":        {map[string]string{"rack": "r1", "root": "ssd"}, map[string]string{"rack": "r1", "root": "ssd"}, "rest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			sc.w.Hosts[0].Place = c.want
			sc.s.Cluster.OSDMap.OSDs[0].Place = c.have

			step, _ := ceph.Next(&sc.w, &sc.s)
			if step.Do.String() != c.do || c.do != "rest" && !strings.Contains(step.Why, "crush location of h1") {
				t.Fatalf("%s: %s", step.Do, step.Why)
			}
		})
	}
}

// TestPlaceHost_order: buckets come from the root down, and those that stand right are left alone.
func TestPlaceHost_order(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		place map[string]string
		osds  []api.OSD
		want  []string
	}{
		"nothing is there but the root": {
			map[string]string{"rack": "r1", "datacenter": "d1"},
			[]api.OSD{{Host: "h1", Place: map[string]string{"root": "default"}}},
			[]string{"add datacenter d1", "d1 below root=default", "add rack r1", "r1 below datacenter=d1", "h1 below rack=r1"},
		},
		"another root": {
			map[string]string{"root": "ssd", "rack": "r1"},
			[]api.OSD{{Host: "h1", Place: map[string]string{"root": "default"}}},
			[]string{"add root ssd", "add rack r1", "r1 below root=ssd", "h1 below rack=r1"},
		},
		"the rack stands below others that nobody names": {
			map[string]string{"rack": "r1"},
			[]api.OSD{{Host: "h1", Place: map[string]string{"root": "default"}}, {Host: "h2", Place: map[string]string{"root": "default", "row": "w", "rack": "r1"}}},
			[]string{"h1 below rack=r1"},
		},
		"the rack stands outside of the root": {
			map[string]string{"rack": "r1"},
			[]api.OSD{{Host: "h1", Place: map[string]string{"rack": "r1"}}},
			[]string{"add root default", "add rack r1", "r1 below root=default", "h1 below rack=r1"},
		},
		"only the outer one changes": {
			map[string]string{"rack": "r1", "datacenter": "d2"},
			[]api.OSD{{Host: "h1", Place: map[string]string{"root": "default", "datacenter": "d1", "rack": "r1"}}},
			[]string{"add datacenter d2", "d2 below root=default", "add rack r1", "r1 below datacenter=d2", "h1 below rack=r1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			st := staged(t, sc)

			if err := ceph.PlaceHost(t.Context(), api.New(&teller{stage: st}), "h1", c.place, c.osds); err != nil {
				t.Fatal(err)
			}

			var got []string

			for _, cmd := range st.done {
				var q struct {
					Prefix, Name, Type string
					Args               []string
				}

				if err := json.Unmarshal([]byte(strings.TrimPrefix(cmd, "ask ")), &q); err != nil {
					t.Fatal(err)
				}

				if q.Prefix == "osd crush add-bucket" {
					got = append(got, "add "+q.Type+" "+q.Name)
				} else {
					got = append(got, q.Name+" below "+strings.Join(q.Args, " "))
				}
			}

			if !slices.Equal(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestPlaceHost_converges moves a host through places on a real cluster: one time is enough for each.
func TestPlaceHost_converges(t *testing.T) {
	t.Parallel()

	one := acctest.CephOne(t, 1)

	h, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = h.Close() })

	c := api.New(cli.New(func(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (cli.Result, error) {
		r, err := h.Run(ctx, remote.Command{Args: argv, Stdin: stdin, Limit: limit})

		return cli.Result(r), err
	}, cli.Config{Conf: one.Conf, Keyring: one.Keyring}))

	for _, place := range []map[string]string{
		{"rack": "r1"},
		{"rack": "r1", "datacenter": "d1"},
		{"rack": "r1", "datacenter": "d2", "room": "o1"},
		{"rack": "r1", "root": "other"},
		{"rack": "r2", "datacenter": "d1"},
		{"root": "default"},
	} {
		m, err := c.OSDMap(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		if err := ceph.PlaceHost(t.Context(), c, m.OSDs[0].Host, place, m.OSDs); err != nil {
			t.Fatalf("%v: %v", place, err)
		}

		if m, err = c.OSDMap(t.Context()); err != nil {
			t.Fatal(err)
		}

		want := maps.Clone(place)
		if want["root"] == "" {
			want["root"] = "default"
		}

		if got := m.OSDs[0].Place; !maps.Equal(got, want) {
			t.Errorf("got %v, not %v", got, want)
		}
	}
}
