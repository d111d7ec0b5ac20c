// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

const someAllocation = "11111111-0000-4000-8000-000000000001"

func allocationJSON(more string) string {
	return `{"uuid":"` + someAllocation + `","name":"default.edge.edge-cp-0","state":"allocating"` + more + `}`
}

func TestAllocation_isReadFieldByField(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		body string
		want ironic.Allocation
	}{
		"as Ironic writes it": {
			`{"uuid":"` + someAllocation + `","name":"n","node_uuid":"` + someNode + `","state":"active","last_error":null,"resource_class":"bm",` +
				`"candidate_nodes":["` + someNode + `"],"traits":["CUSTOM_A"],"extra":{"cluster":"edge","ip.prov":"192.0.2.7"},"owner":null,` +
				`"created_at":"2026-01-02T03:04:05+00:00","updated_at":null,"links":[{}]}`,
			ironic.Allocation{
				UUID: someAllocation, Name: "n", NodeUUID: someNode, State: ironic.AllocationActive, ResourceClass: "bm",
				CandidateNodes: []string{someNode}, Traits: []string{"CUSTOM_A"}, Extra: map[string]string{"cluster": "edge", "ip.prov": "192.0.2.7"},
				CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			},
		},
		"with odd types": {
			`{"uuid":"` + someAllocation + `","name":7,"state":[],"candidate_nodes":"x","extra":{"index":3,"on":true,"o":{},"n":null,"a":[1]},"created_at":"soon"}`,
			ironic.Allocation{UUID: someAllocation, Name: "7", Extra: map[string]string{"index": "3", "on": "true"}},
		},
		"with an extra that is none": {
			`{"uuid":"` + someAllocation + `","state":"error","last_error":"no","extra":[1]}`,
			ironic.Allocation{UUID: someAllocation, State: ironic.AllocationError, LastError: "no", Extra: map[string]string{}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := serving(t, "/allocations/", 200, c.body).Allocation(t.Context(), someAllocation)
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
}

func TestAllocation_ofAnotherIDIsNotBelieved(t *testing.T) {
	t.Parallel()

	other := strings.Replace(allocationJSON(""), someAllocation, someNode, 1)
	if a, err := serving(t, "/allocations/", 200, other).Allocation(t.Context(), someAllocation); !errors.Is(err, ironic.ErrNotIronic) {
		t.Errorf("got %+v, %v", a, err)
	}

	for _, id := range []string{"", ".", "..", "a/b", "a\n"} {
		f := newFake()
		if err := f.client(t).DeleteAllocation(t.Context(), id); err == nil || f.count("DELETE") != 0 {
			t.Errorf("id %q: %v\n%s", id, err, f.log())
		}
	}
}

func TestAllocations_followsPages(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "marker=", 1, 200, `{"allocations":[{"uuid":"b"},{"uuid":"a"},null,{}]}`)
	f.answer("GET", "/allocations", 1, 200, `{"allocations":[{"uuid":"a"}],"next":"http://other/v1/allocations?limit=1&marker=a"}`)

	all, err := f.client(t).Allocations(t.Context())
	if err != nil || len(all) != 2 || all[1].UUID != "b" {
		t.Errorf("got %+v, %v", all, err)
	}
}

// allocationCalls are all requests about allocations.
var allocationCalls = map[string]func(ctx context.Context, c *ironic.Client) error{
	"list": func(ctx context.Context, c *ironic.Client) error { _, err := c.Allocations(ctx); return err },
	"get": func(ctx context.Context, c *ironic.Client) error {
		_, err := c.Allocation(ctx, someAllocation)
		return err
	},
	"create": func(ctx context.Context, c *ironic.Client) error {
		_, err := c.CreateAllocation(ctx, ironic.NewAllocation{UUID: someAllocation, ResourceClass: "bm"})

		return err
	},
	"change": func(ctx context.Context, c *ironic.Client) error {
		_, err := c.PatchAllocation(ctx, someAllocation, map[string]string{"a": "b"})

		return err
	},
	"delete": func(ctx context.Context, c *ironic.Client) error { return c.DeleteAllocation(ctx, someAllocation) },
}

func TestAllocations_thatAreForbiddenCanBeToldApart(t *testing.T) {
	t.Parallel()

	for name, do := range allocationCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for status, want := range map[int]bool{403: true, 401: false, 400: false, 404: false} {
				f := newFake()
				for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
					f.answer(method, "/allocations", -1, status, fault("Allocation x could not be found."))
				}

				err := do(t.Context(), f.client(t))
				if err == nil || errors.Is(err, ironic.ErrNoAllocations) != want {
					t.Errorf("%d: %v", status, err)
				}

				if lost := status == 404; errors.Is(err, ironic.ErrNotFound) != lost || ironic.IsGone(err) {
					t.Errorf("%d: %v", status, err)
				}
			}
		})
	}
}

func TestAllocations_needAnIronicThatHasThem(t *testing.T) {
	t.Parallel()

	for name, do := range allocationCalls {
		f := newFake()
		f.version = 51

		if err := do(t.Context(), f.client(t)); !errors.Is(err, ironic.ErrNoAllocations) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCreateAllocation_sendsWhatIsSaid(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("POST", "/allocations", -1, 201, allocationJSON(""))
	c := f.client(t)

	for want, create := range map[string]ironic.NewAllocation{
		`{"candidate_nodes":["n"],"extra":{"a":"b"},"name":"x","resource_class":"bm","traits":["T"],"uuid":"u"}`: {
			UUID: "u", Name: "x", ResourceClass: "bm", CandidateNodes: []string{"n"}, Traits: []string{"T"}, Extra: map[string]string{"a": "b"},
		},
		`{"node":"n","uuid":"u"}`: {UUID: "u", Node: "n"},
	} {
		if a, err := c.CreateAllocation(t.Context(), create); err != nil || a.State != ironic.Allocating {
			t.Fatalf("%+v, %v", a, err)
		}

		if got := f.bodies[len(f.bodies)-1]; got != want {
			t.Errorf("sent %s\nwant %s", got, want)
		}
	}

	if _, err := c.CreateAllocation(t.Context(), ironic.NewAllocation{ResourceClass: "bm"}); err != nil || !strings.Contains(f.bodies[len(f.bodies)-1], `"uuid":"`) {
		t.Errorf("%v: %s", err, f.bodies[len(f.bodies)-1])
	}
}

// TestCreateAllocation_whoseAnswerWasLost: the record is there under the id that we chose, so
// that nothing is made twice.
func TestCreateAllocation_whoseAnswerWasLost(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		status int // of the GET that follows
		body   string
		again  int // of the second POST; 0: none
		posts  int
		fails  bool
	}{
		"it arrived":             {200, allocationJSON(""), 0, 1, false},
		"it did not arrive":      {404, fault("Allocation " + someAllocation + " could not be found."), 201, 2, false},
		"it is somebody else's":  {200, strings.Replace(allocationJSON(""), "edge-cp-0", "x", 1), 0, 1, true},
		"nobody knows any more":  {400, fault("no"), 0, 1, true},
		"it is a proxy that 404": {404, "<html>", 0, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				lost := true
				f.drop = func(r *http.Request) error {
					if r.Method == http.MethodPost && lost {
						lost = false

						return syscall.ECONNRESET
					}

					return nil
				}
				f.answer("GET", "/allocations/", -1, c.status, c.body)
				f.answer("POST", "/allocations", -1, c.again, allocationJSON(""))

				a, err := f.client(t).CreateAllocation(t.Context(),
					ironic.NewAllocation{UUID: someAllocation, Name: "default.edge.edge-cp-0", ResourceClass: "bm"})
				if (err != nil) != c.fails || (!c.fails && a.UUID != someAllocation) || f.count("POST") != c.posts {
					t.Errorf("got %+v, %v\n%s", a, err, f.log())
				}
			})
		})
	}
}

func TestPatchAllocation_replacesExtraAlone(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("PATCH", "/allocations/"+someAllocation, -1, 200, allocationJSON(`,"extra":{"a":"c"}`))

	a, err := f.client(t).PatchAllocation(t.Context(), someAllocation, map[string]string{"a": "c"})
	if err != nil || a.Extra["a"] != "c" {
		t.Errorf("got %+v, %v", a, err)
	}

	if got := f.bodies[len(f.bodies)-1]; got != `[{"op":"add","path":"/extra","value":{"a":"c"}}]` {
		t.Errorf("sent %s", got)
	}
}

func TestNodeByInstance(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.add(someNode, map[string]any{"instance_uuid": someAllocation})
	f.add("other", nil)
	c := f.client(t)

	if n, err := c.NodeByInstance(t.Context(), someAllocation); err != nil || n.UUID != someNode {
		t.Errorf("got %+v, %v", n, err)
	}

	if f.count("GET /v1/nodes/detail?include_children=true&instance_uuid="+someAllocation) != 1 {
		t.Error(f.log())
	}

	// The fake does not filter: what answers for another instance is not taken.
	if n, err := c.NodeByInstance(t.Context(), someNode); !ironic.IsGone(err) {
		t.Errorf("got %+v, %v", n, err)
	}

	if n, err := c.NodeByInstance(t.Context(), ""); err == nil || ironic.IsGone(err) {
		t.Errorf("got %+v, %v", n, err)
	}
}

func FuzzAllocation(f *testing.F) {
	f.Add(allocationJSON(`,"extra":{"a":1},"candidate_nodes":[1,null,"x"]`))
	f.Add(`{"uuid":7,"extra":{"a":{}},"created_at":{}}`)
	f.Add(`{"uuid":"x","last_error":"\ud800"}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, body string) {
		a, err := serving(t, "/allocations/", 200, body).Allocation(t.Context(), "n")
		if (err == nil) != (a.UUID != "") {
			t.Errorf("got %+v, %v", a, err)
		}

		all, err := serving(t, "/allocations", 200, fmt.Sprintf(`{"allocations":[%s]}`, body)).Allocations(t.Context())
		if err != nil && all != nil {
			t.Errorf("got %v, %v", all, err)
		}
	})
}
