// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

var errForbidden = fmt.Errorf("%w: Ironic answered 403", ironic.ErrNoAllocations)

func noAllocation(id string) error {
	return &ironic.NotFoundError{What: "allocation", ID: id, Op: "get allocation", Text: "Allocation " + id + " could not be found."}
}

func (f *far) Allocations(ctx context.Context) ([]ironic.Allocation, error) {
	unlock, err := f.enter(ctx, "allocations", "")
	if err != nil {
		return nil, err
	}
	defer unlock()

	if f.forbidden {
		return nil, errForbidden
	}

	f.lists++

	var out []ironic.Allocation
	for _, id := range slices.Sorted(maps.Keys(f.allocations)) {
		out = append(out, f.allocations[id].Allocation)
	}

	return out, nil
}

func (f *far) Allocation(ctx context.Context, id string) (ironic.Allocation, error) {
	unlock, err := f.enter(ctx, "allocation", id)
	if err != nil {
		return ironic.Allocation{}, err
	}
	defer unlock()

	if f.forbidden {
		return ironic.Allocation{}, errForbidden
	}

	r := f.find(id)
	if r == nil {
		return ironic.Allocation{}, noAllocation(id)
	}

	f.age(r)

	return r.Allocation, nil
}

func (f *far) find(ident string) *record {
	for _, r := range f.allocations {
		if r.UUID == ident || r.Name == ident {
			return r
		}
	}

	return nil
}

// age is what happens to a record while it is looked at.
func (f *far) age(r *record) {
	switch {
	case r.deleted && r.lingering <= 1:
		delete(f.allocations, r.UUID)
	case r.deleted:
		r.lingering--
	case r.State == ironic.Allocating && r.working == 0:
		f.process(r)
	case r.State == ironic.Allocating:
		r.working--
	}
}

// process chooses a node for an allocation.
func (f *far) process(r *record) {
	for _, id := range f.order {
		n := f.nodes[id]
		if n.ProvisionState == ironic.Available && !n.Maintenance && n.PowerState != "" && n.InstanceUUID == "" &&
			n.ResourceClass == r.ResourceClass && slices.Contains(r.CandidateNodes, id) {
			n.InstanceUUID, n.AllocationUUID = r.UUID, r.UUID
			n.InstanceInfo = maps.Clone(n.InstanceInfo)
			n.InstanceInfo["traits"] = []any{}
			r.State, r.NodeUUID = ironic.AllocationActive, id

			return
		}
	}

	r.State = ironic.AllocationError
	r.LastError = "Failed to process allocation " + r.UUID + ": no available nodes match the resource class " + r.ResourceClass + "."
}

func (f *far) Allocate(ctx context.Context, a ironic.NewAllocation) (ironic.Allocation, error) {
	unlock, err := f.enter(ctx, "allocate", a.UUID)
	if err != nil {
		return ironic.Allocation{}, err
	}
	defer unlock()

	if f.forbidden {
		return ironic.Allocation{}, errForbidden
	}

	for _, r := range f.allocations {
		if r.UUID == a.UUID || r.Name == a.Name && a.Name != "" {
			f.age(r)

			return ironic.Allocation{}, conflict("An allocation with name %s already exists.", a.Name)
		}
	}

	if a.ResourceClass == "" {
		return ironic.Allocation{}, errors.New("Ironic answered 400: The resource_class field is mandatory")
	}

	f.allocations[a.UUID] = &record{working: f.working, lingering: f.lingering, Allocation: ironic.Allocation{
		UUID: a.UUID, Name: a.Name, ResourceClass: a.ResourceClass, CandidateNodes: a.CandidateNodes, Extra: a.Extra, State: ironic.Allocating,
	}}

	return f.allocations[a.UUID].Allocation, f.leave("allocate", a.UUID)
}

func (f *far) Amend(ctx context.Context, id string, extra map[string]string) (ironic.Allocation, error) {
	unlock, err := f.enter(ctx, "amend", id)
	if err != nil {
		return ironic.Allocation{}, err
	}
	defer unlock()

	r := f.find(id)
	if r == nil {
		return ironic.Allocation{}, noAllocation(id)
	}

	r.Extra = extra

	return r.Allocation, nil
}

func (f *far) Deallocate(ctx context.Context, id string) error {
	unlock, err := f.enter(ctx, "deallocate", id)
	if err != nil {
		return err
	}
	defer unlock()

	if f.forbidden {
		return errForbidden
	}

	r := f.find(id)
	if r == nil {
		return noAllocation(id)
	}

	if n, ok := f.nodes[r.NodeUUID]; ok && n.AllocationUUID == r.UUID {
		if !slices.Contains(free, n.ProvisionState) && !n.Maintenance {
			return conflict("Cannot remove allocation %s for node %s", id, n.UUID)
		}

		n.InstanceUUID, n.AllocationUUID = "", ""
		n.InstanceInfo = maps.Clone(n.InstanceInfo)
		delete(n.InstanceInfo, "traits")
	}

	if r.deleted = true; r.lingering == 0 {
		delete(f.allocations, r.UUID)
	}

	return f.leave("deallocate", id)
}

// TestFar_keepsTheRulesOfClaims holds the double to what was measured on Ironic, row by row.
func TestFar_keepsTheRulesOfClaims(t *testing.T) {
	t.Parallel()

	const mine, theirs = "11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"

	claims := func(id string) []ironic.Patch { return []ironic.Patch{{Op: "add", Path: "/instance_uuid", Value: id}} }
	frees := []ironic.Patch{{Op: "remove", Path: "/instance_uuid"}}
	asks := func(n ironic.Node) ironic.NewAllocation {
		return ironic.NewAllocation{UUID: mine, Name: "a.b.c", ResourceClass: "bm", CandidateNodes: []string{n.UUID}}
	}

	for name, do := range map[string]func(t *testing.T, f *far, n ironic.Node) (error, error){
		"a claim on a free node": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, err := f.Patch(t.Context(), n.UUID, claims(mine))

			return err, nil
		},
		"the same value again": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, first := f.Patch(t.Context(), n.UUID, claims(mine))
			_, err := f.Patch(t.Context(), n.UUID, claims(mine))

			return errors.Join(first, err), nil
		},
		"another value on a claimed node": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Patch(t.Context(), n.UUID, claims(mine))
			_, err := f.Patch(t.Context(), n.UUID, claims(theirs))

			return err, ironic.ErrConflict
		},
		"a value that another node has": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Patch(t.Context(), node(1).UUID, claims(mine))
			_, err := f.Patch(t.Context(), n.UUID, claims(mine))

			return err, ironic.ErrConflict
		},
		"a claim in manageable and in maintenance": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			f.nodes[n.UUID].Maintenance, f.nodes[n.UUID].ProvisionState = true, ironic.Manageable
			_, err := f.Patch(t.Context(), n.UUID, claims(mine))

			return err, nil
		},
		"an active node without an allocation loses its claim": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Patch(t.Context(), n.UUID, claims(mine))
			_ = f.walk(t, n.UUID, "active")
			_, err := f.Patch(t.Context(), n.UUID, frees)

			return err, nil
		},
		"an active node with an allocation does not": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Allocate(t.Context(), asks(n))
			_, _ = f.Allocation(t.Context(), mine)
			_ = f.walk(t, n.UUID, "active")
			_, err := f.Patch(t.Context(), n.UUID, frees)

			if also := f.Deallocate(t.Context(), mine); !errors.Is(also, ironic.ErrConflict) {
				t.Errorf("the allocation went: %v", also)
			}

			return err, ironic.ErrConflict
		},
		"an available node with an allocation loses both": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Allocate(t.Context(), asks(n))
			_, _ = f.Allocation(t.Context(), mine)
			_, first := f.Patch(t.Context(), n.UUID, frees)
			_, err := f.Allocation(t.Context(), mine)

			return errors.Join(first, err), ironic.ErrNotFound
		},
		"a name in use": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			_, _ = f.Allocate(t.Context(), asks(n))
			a := asks(n)
			a.UUID = theirs
			_, err := f.Allocate(t.Context(), a)

			return err, ironic.ErrConflict
		},
		"protected nodes are not undeployed": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			f.nodes[n.UUID].Protected = true

			return f.walk(t, n.UUID, "deleted"), ironic.ErrProtected
		},
		"a rebuild from available": func(t *testing.T, f *far, n ironic.Node) (error, error) {
			t.Helper()

			return f.walk(t, n.UUID, "rebuild"), ironic.ErrRefused
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFar(hosts(2)...)
			if err, want := do(t, f, node(0)); (want == nil) != (err == nil) || !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}

	for name, change := range map[string]func(n *ironic.Node){
		"claimed":        func(n *ironic.Node) { n.InstanceUUID = theirs },
		"in maintenance": func(n *ironic.Node) { n.Maintenance = true },
		"not available":  func(n *ironic.Node) { n.ProvisionState = ironic.Manageable },
		"other class":    func(n *ironic.Node) { n.ResourceClass = "other" },
		"no power state": func(n *ironic.Node) { n.PowerState = "" },
	} {
		t.Run("an allocation of a node that is "+name, func(t *testing.T) {
			t.Parallel()

			n := node(0)
			change(&n)
			f := newFar(n)

			made, _ := f.Allocate(t.Context(), asks(n))
			a, err := f.Allocation(t.Context(), mine)

			if err != nil || made.State != ironic.Allocating || a.State != ironic.AllocationError || a.LastError == "" {
				t.Errorf("%+v, then %+v, %v", made, a, err)
			}

			if _, err := f.Allocate(t.Context(), asks(n)); !errors.Is(err, ironic.ErrConflict) {
				t.Errorf("the name does not stay: %v", err)
			}
		})
	}

	t.Run("a retired host comes back claimed", func(t *testing.T) {
		t.Parallel()

		f := newFar(node(0))
		n := f.nodes[node(0).UUID]
		n.ProvisionState, n.Retired, n.Extra = ironic.Active, true, map[string]any{"kept": true}

		if err := f.walk(t, n.UUID, "deleted"); err != nil || n.ProvisionState != ironic.Manageable || n.Extra["kept"] != true {
			t.Fatalf("%v: %+v", err, n)
		}

		for _, ops := range [][]ironic.Patch{claims(mine), {{Op: "add", Path: "/retired", Value: false}}} {
			if _, err := f.Patch(t.Context(), n.UUID, ops); err != nil {
				t.Fatal(err)
			}
		}

		if err := f.walk(t, n.UUID, "provide"); err != nil {
			t.Fatal(err)
		}

		if s, err := f.ByClaim(t.Context(), mine); err != nil || s.Node.ProvisionState != ironic.Available {
			t.Errorf("%+v, %v", s, err)
		}
	})
}
