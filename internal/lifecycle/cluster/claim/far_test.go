// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

var _ claim.Far = (*far)(nil)

// far is an Ironic in memory that keeps the rules of claims as they were measured.
type far struct {
	mu          sync.Mutex
	nodes       map[string]*ironic.Node
	order       []string
	allocations map[string]*record
	forbidden   bool // allocations are
	uncleaned   bool // automated cleaning is off
	working     int  // looks for which an allocation stays "allocating"; -1: for ever
	lingering   int  // looks for which a deleted allocation is still shown
	locked      map[string]bool
	lists       int

	// before is called ahead of each request, without the lock: a rival, or a failure.
	before func(op, id string) error
	// lost is called after each request that was done: its answer is lost where it says so.
	lost func(op, id string) error
}

// record is an allocation in the store.
type record struct {
	ironic.Allocation

	working, lingering int
	deleted            bool
}

func newFar(hosts ...ironic.Node) *far {
	f := &far{nodes: map[string]*ironic.Node{}, allocations: map[string]*record{}, locked: map[string]bool{}}
	for _, n := range hosts {
		f.nodes[n.UUID] = &n
		f.order = append(f.order, n.UUID)
	}

	return f
}

// node is an available host that an allocation can have.
func node(i int) ironic.Node {
	return ironic.Node{
		UUID: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Name: fmt.Sprintf("node-%d", i), ProvisionState: ironic.Available,
		PowerState: ironic.PowerOff, ResourceClass: "bm", InstanceInfo: map[string]any{}, Extra: map[string]any{},
	}
}

func hosts(n int) []ironic.Node {
	var out []ironic.Node
	for i := range n {
		out = append(out, node(i))
	}

	return out
}

func copied(n ironic.Node) host.Seen {
	n.InstanceInfo, n.Extra = maps.Clone(n.InstanceInfo), maps.Clone(n.Extra)

	return host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}
}

// enter locks the store once the test had its say.
func (f *far) enter(ctx context.Context, op, id string) (func(), error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}

	if f.before != nil {
		if err := f.before(op, id); err != nil {
			return nil, err
		}
	}

	f.mu.Lock()

	return f.mu.Unlock, nil
}

// leave loses an answer where the test wants that.
func (f *far) leave(op, id string) error {
	if f.lost == nil {
		return nil
	}

	return f.lost(op, id)
}

func (f *far) All(ctx context.Context) ([]host.Seen, error) {
	unlock, err := f.enter(ctx, "all", "")
	if err != nil {
		return nil, err
	}
	defer unlock()

	f.lists++

	var out []host.Seen
	for _, id := range f.order {
		out = append(out, copied(*f.nodes[id]))
	}

	return out, nil
}

func (f *far) Look(ctx context.Context, id string) (host.Seen, error) {
	unlock, err := f.enter(ctx, "look", id)
	if err != nil {
		return host.Seen{}, err
	}
	defer unlock()

	n, ok := f.nodes[id]
	if !ok {
		return host.Seen{}, host.ErrGone
	}

	return copied(*n), nil
}

func (f *far) ByClaim(ctx context.Context, id string) (host.Seen, error) {
	unlock, err := f.enter(ctx, "by claim", id)
	if err != nil {
		return host.Seen{}, err
	}
	defer unlock()

	for _, n := range f.nodes {
		if n.InstanceUUID == id {
			return copied(*n), nil
		}
	}

	return host.Seen{}, host.ErrGone
}

var (
	moving = []ironic.State{ironic.Cleaning, ironic.Deploying, ironic.Deleting, ironic.CleanWait, ironic.WaitCallBack}
	free   = []ironic.State{ironic.Enroll, ironic.Manageable, ironic.Available, ironic.InspectFailed, ironic.CleanFailed}
)

func conflict(format string, args ...any) error {
	return fmt.Errorf("Ironic answered 409: "+format+": %w", append(args, ironic.ErrConflict)...)
}

func (f *far) Patch(ctx context.Context, id string, ops []ironic.Patch) (host.Seen, error) {
	unlock, err := f.enter(ctx, "patch", id)
	if err != nil {
		return host.Seen{}, err
	}
	defer unlock()

	old, ok := f.nodes[id]

	switch {
	case !ok:
		return host.Seen{}, host.ErrGone
	case f.locked[id]:
		return host.Seen{}, fmt.Errorf("Node %s is locked by host c1: %w", id, ironic.ErrBusy)
	case slices.Contains(moving, old.ProvisionState):
		return host.Seen{}, fmt.Errorf("Node %s can not be updated while a state transition is in progress: %w", id, ironic.ErrTransition)
	}

	n := copied(*old).Node
	for _, op := range ops {
		if err := apply(&n, op); err != nil {
			return host.Seen{}, err
		}
	}

	if err := f.mayChange(n, *old); err != nil {
		return host.Seen{}, err
	}

	f.nodes[id] = &n

	return copied(n), f.leave("patch", id)
}

// mayChange are the rules of instance_uuid and of "retired".
func (f *far) mayChange(n, old ironic.Node) error {
	if n.InstanceUUID != old.InstanceUUID && n.InstanceUUID != "" {
		if old.InstanceUUID != "" {
			return conflict("Node %s is associated with instance %s.", n.UUID, old.InstanceUUID)
		}

		for _, other := range f.nodes {
			if other.InstanceUUID == n.InstanceUUID {
				return conflict("Instance %s is already associated with a node, it cannot be associated with this other node %s", n.InstanceUUID, n.UUID)
			}
		}
	}

	if n.Retired && !old.Retired && n.ProvisionState == ironic.Available {
		return conflict("Node %s can not have 'retired' set in provision state 'available'", n.UUID)
	}

	if old.AllocationUUID != "" && n.InstanceUUID == "" {
		if !slices.Contains(free, n.ProvisionState) && !n.Maintenance {
			return conflict("Node %s with an allocation can not have instance_uuid removed", n.UUID)
		}

		delete(f.allocations, old.AllocationUUID)
		f.nodes[n.UUID].AllocationUUID = ""
	}

	return nil
}

// apply does one operation. A path whose parent is not there, or one to remove that is not, is 400.
func apply(n *ironic.Node, op ironic.Patch) error {
	bad := fmt.Errorf("Ironic answered 400: cannot %s %s", op.Op, op.Path)
	adds := op.Op == "add"
	text, _ := op.Value.(string)
	flag, _ := op.Value.(bool)

	switch op.Path {
	case "/instance_uuid":
		if !adds && n.InstanceUUID == "" {
			return bad
		}

		n.InstanceUUID = text
		if !adds {
			n.AllocationUUID = ""
		}
	case "/retired":
		if n.Retired = flag; !flag {
			n.RetiredReason = ""
		}
	case "/retired_reason":
		n.RetiredReason = text
	case "/automated_clean":
		n.AutomatedClean = &flag
	default:
		key, nested := strings.CutPrefix(op.Path, "/instance_info/")
		in := n.InstanceInfo

		if !nested {
			in = n.Extra
			key, nested = strings.CutPrefix(op.Path, "/extra/")
		}

		if parent, child, deep := strings.Cut(key, "/"); deep {
			below, _ := in[parent].(map[string]any)
			if below == nil {
				return bad
			}

			below = maps.Clone(below)
			in[parent], in, key = below, below, child
		}

		if _, there := in[key]; !nested || (!adds && !there) {
			return bad
		}

		if in[key] = op.Value; !adds {
			delete(in, key)
		}
	}

	return nil
}

// walk does what a verb does in the end.
func (f *far) walk(t *testing.T, id, verb string) error {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()

	n := f.nodes[id]

	switch verb {
	case "active":
		n.ProvisionState = ironic.Active
	case "rebuild":
		if n.ProvisionState != ironic.Active {
			return fmt.Errorf("Ironic answered 400: %w", ironic.ErrRefused)
		}
	case "deleted":
		if n.Protected {
			return fmt.Errorf("Ironic answered 403: %w", ironic.ErrProtected)
		}

		delete(f.allocations, n.AllocationUUID)
		n.InstanceUUID, n.AllocationUUID, n.InstanceInfo = "", "", map[string]any{}

		// Only a cleaning that takes place looks at the mark.
		if n.ProvisionState = ironic.Available; n.Retired && !f.uncleaned {
			n.ProvisionState = ironic.Manageable
		}
	case "provide":
		if n.Retired {
			return fmt.Errorf("Ironic answered 400: because it is retired: %w", ironic.ErrRefused)
		}

		n.ProvisionState = ironic.Available
	default:
		t.Fatalf("verb %s", verb)
	}

	return nil
}

// live are the nodes of claims.
func (f *far) live() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()

	out := map[string]string{}

	for id, n := range f.nodes {
		if n.InstanceUUID != "" {
			out[n.InstanceUUID] = id
		}
	}

	return out
}
