// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const locked = "Node X is locked by host conductor-7, please retry after the current operation is completed."

// writes are the requests that a lock may refuse.
var writes = map[string]struct {
	method string
	do     func(ctx context.Context, c *ironic.Client) error
}{
	"provision": {"PUT", func(ctx context.Context, c *ironic.Client) error {
		return c.Provision(ctx, someNode, ironic.Provision{Target: ironic.VerbManage})
	}},
	"power": {"PUT", func(ctx context.Context, c *ironic.Client) error {
		return c.SetPower(ctx, someNode, ironic.PowerOn, 0)
	}},
	"patch": {"PATCH", func(ctx context.Context, c *ironic.Client) error {
		_, err := c.PatchNode(ctx, someNode, []ironic.Patch{{Op: "add", Path: "/extra/a", Value: 1}})

		return err
	}},
	"maintenance": {"PUT", func(ctx context.Context, c *ironic.Client) error { return c.SetMaintenance(ctx, someNode, "why") }},
	"delete":      {"DELETE", func(ctx context.Context, c *ironic.Client) error { return c.DeleteNode(ctx, someNode) }},
}

func TestOBMH04_aLockIsWaitedFor(t *testing.T) {
	t.Parallel()

	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.add(someNode, nil)
				f.answer(w.method, "/nodes/", 3, 409, fault(locked))

				if err := w.do(t.Context(), f.client(t)); err != nil {
					t.Fatal(err)
				}

				if n := f.count(w.method); n != 4 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func TestOBMH04_aLockThatNeverEndsNamesItsHolder(t *testing.T) {
	t.Parallel()

	for name, w := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.add(someNode, nil)
				f.answer(w.method, "/nodes/", -1, 409, fault(locked))

				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()

				err := w.do(ctx, f.client(t))

				var refused *ironic.RequestError
				if !errors.As(err, &refused) || refused.Reservation != "conductor-7" || !strings.Contains(err.Error(), "conductor-7") {
					t.Fatalf("got %v", err)
				}

				if !errors.Is(err, ironic.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}

				if n := f.count(w.method); n < 12 || n > 20 {
					t.Errorf("%d requests in a minute", n)
				}
			})
		})
	}
}

func TestOBMH04_conflictsThatAreNoLockAreNotRepeated(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		status int
		text   string
		kind   error
		looks  int // GETs to find out
	}{
		"a verb that does not fit":     {400, `The requested action "provide" can not be performed on node "X" while it is in state "active".`, ironic.ErrRefused, 0},
		"the same with 409":            {409, `The requested action "provide" can not be performed on node "X" while it is in state "active".`, ironic.ErrRefused, 0},
		"maintenance":                  {400, "The provisioning operation can't be performed on node X because it's in maintenance mode.", ironic.ErrRefused, 0},
		"a transition":                 {409, "Node X can not be updated while a state transition is in progress.", ironic.ErrTransition, 0},
		"a name that is taken":         {409, "A node with name n already exists.", ironic.ErrConflict, 0},
		"a MAC that is taken":          {409, "A port with MAC address 52:54:00:00:00:01 already exists.", ironic.ErrConflict, 0},
		"another owner":                {409, "Node X is associated with instance Y.", ironic.ErrConflict, 0},
		"a state without deletion":     {409, `Can not delete node "X" while it is in provision state "active".`, ironic.ErrConflict, 0},
		"words that do not say why":    {409, "Something is in the way.", ironic.ErrConflict, 1},
		"a node that is protected":     {403, "Node X is protected and cannot be undeployed, rebuilt or deleted", ironic.ErrProtected, 0},
		"a value that is wrong":        {400, "Invalid parameter", nil, 0},
		"a driver that is not enabled": {400, "The driver or hardware type nope is unknown.", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			f.add(someNode, nil)
			f.answer("PUT", "/nodes/", -1, tc.status, fault(tc.text))

			err := f.client(t).Provision(t.Context(), someNode, ironic.Provision{Target: ironic.VerbProvide})
			if err == nil || (tc.kind != nil && !errors.Is(err, tc.kind)) || wait.IsTransient(err) || !strings.Contains(err.Error(), tc.text) {
				t.Fatalf("got %v", err)
			}

			if f.count("PUT") != 1 || f.count("GET /v1/nodes/") != tc.looks {
				t.Errorf("%s", f.log())
			}
		})
	}
}

func TestOBMH04_theReservationDecidesWhereTheWordsDoNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add(someNode, map[string]any{"reservation": "conductor-9"})
		f.answer("PUT", "/nodes/", 2, 409, fault("Something is in the way."))

		if err := f.client(t).SetPower(t.Context(), someNode, ironic.PowerOn, 0); err != nil {
			t.Fatal(err)
		}

		if f.count("PUT") != 3 {
			t.Error(f.log())
		}
	})
}

func TestWrite_repeatsOnlyWhatDidNotArrive(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		broken error
		puts   int
	}{
		"a refused connection is tried again":       {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, 6},
		"a host that is not found, too":             {&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}, 6},
		"a lost answer is for the caller to decide": {io.ErrUnexpectedEOF, 1},
		"a reset connection, too":                   {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				f.add(someNode, nil)
				f.drop = func(r *http.Request) error {
					if r.Method == http.MethodPut {
						return tc.broken
					}

					return nil
				}

				err := f.client(t).SetPower(t.Context(), someNode, ironic.PowerOn, 0)
				if !wait.IsTransient(err) || !errors.Is(err, ironic.ErrUnreachable) {
					t.Errorf("got %v", err)
				}

				if n := f.count("PUT"); n != tc.puts {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

func TestWrite_bodies(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		do   func(ctx context.Context, c *ironic.Client) error
		want string // request and body
	}{
		"a patch sends null, and no value to remove": {func(ctx context.Context, c *ironic.Client) error {
			_, err := c.PatchNode(ctx, someNode, []ironic.Patch{{Op: "add", Path: "/automated_clean"}, {Op: "remove", Path: "/extra/a"}})

			return err
		}, `PATCH /v1/nodes/` + someNode + ` [{"op":"add","path":"/automated_clean","value":null},{"op":"remove","path":"/extra/a"}]`},
		"a timeout goes with soft targets": {func(ctx context.Context, c *ironic.Client) error {
			return c.SetPower(ctx, someNode, ironic.SoftPowerOff, 3*time.Minute)
		}, `PUT /v1/nodes/` + someNode + `/states/power {"target":"soft power off","timeout":180}`},
		"and not with others": {func(ctx context.Context, c *ironic.Client) error {
			return c.SetPower(ctx, someNode, ironic.PowerOff, 3*time.Minute)
		}, `PUT /v1/nodes/` + someNode + `/states/power {"target":"power off"}`},
		"a deployment": {func(ctx context.Context, c *ironic.Client) error {
			return c.Provision(ctx, someNode, ironic.Provision{
				Target: ironic.VerbActive, ConfigDrive: map[string]any{"user_data": "#!/bin/sh"}, DeploySteps: []map[string]any{{"step": "x"}},
			})
		}, `PUT /v1/nodes/` + someNode + `/states/provision {"configdrive":{"user_data":"#!/bin/sh"},"deploy_steps":[{"step":"x"}],"target":"active"}`},
		"no traits are an empty list": {func(ctx context.Context, c *ironic.Client) error {
			return c.SetTraits(ctx, someNode, nil)
		}, `PUT /v1/nodes/` + someNode + `/traits {"traits":[]}`},
		"out of maintenance": {func(ctx context.Context, c *ironic.Client) error {
			return c.UnsetMaintenance(ctx, someNode)
		}, `DELETE /v1/nodes/` + someNode + `/maintenance `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			f.add(someNode, nil)

			if err := tc.do(t.Context(), f.client(t)); err != nil {
				t.Fatal(err)
			}

			last := len(f.requests) - 1
			if got := f.requests[last] + " " + f.bodies[last]; got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestOTF01_createTakesWhatALostAnswerMade(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		before bool // the connection breaks before the work is done
	}{
		"the work was done":     {false},
		"the work was not done": {true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFake()
				lost := false
				f.drop = func(r *http.Request) error {
					if r.Method != http.MethodPost || lost {
						return nil
					}

					lost = true
					if !tc.before {
						f.nodes = append(f.nodes, map[string]any{"uuid": someNode, "name": "n", "driver": "redfish"})
					}

					return io.ErrUnexpectedEOF
				}

				n, err := f.client(t).CreateNode(t.Context(), ironic.Create{UUID: someNode, Name: "n", Driver: "redfish"})
				if err != nil || n.UUID != someNode || len(f.nodes) != 1 {
					t.Errorf("got %v, %v, %d nodes", n, err, len(f.nodes))
				}
			})
		})
	}
}

func TestCreateNode_takesNothingThatIsNotOurs(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.add(someNode, nil)

	_, err := f.client(t).CreateNode(t.Context(), ironic.Create{UUID: someNode, Name: "n", Driver: "redfish"})
	if !errors.Is(err, ironic.ErrConflict) {
		t.Errorf("got %v", err)
	}
}

func TestCreateNode_sendsWhatIsGivenOnly(t *testing.T) {
	t.Parallel()

	f := newFake()
	no := false

	n, err := f.client(t).CreateNode(t.Context(), ironic.Create{
		Name: "n", Driver: "redfish", Interfaces: map[string]string{"boot": "ipxe", "raid": ""}, AutomatedClean: &no,
	})
	if err != nil || len(n.UUID) != 36 || n.Interfaces["boot"] != "ipxe" {
		t.Fatalf("got %v, %v", n, err)
	}

	var sent map[string]any
	if err := json.Unmarshal([]byte(f.bodies[len(f.bodies)-1]), &sent); err != nil {
		t.Fatal(err)
	}

	if len(sent) != 5 || sent["automated_clean"] != false || sent["uuid"] != n.UUID {
		t.Errorf("sent %v", sent)
	}

	f.version = 82

	var old *ironic.TooOldError
	if _, err := f.client(t).CreateNode(t.Context(), ironic.Create{Name: "o", Driver: "redfish", DisablePowerOff: &no}); !errors.As(err, &old) {
		t.Errorf("got %v", err)
	}
}
