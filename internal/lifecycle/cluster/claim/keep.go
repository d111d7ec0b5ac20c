// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// A host is kept for its machine through a redeployment in these steps; who calls them drives
// the host's states in between:
//
//	active          Keep: the mark "retired", and a hold for people to read
//	undeploy        the claim goes with the teardown, the cleaning ends in manageable:
//	                no scheduler chooses a host in that state
//	manageable      Reclaim: the claim and its note again, the mark goes
//	provide         ends in available, claimed
//
// Where automated cleaning is off, Ironic (21.4 and 29.0, conductor/cleaning.py) skips what
// would look at the mark: the host ends in available at once. Machines of this provider keep
// off for the mark and the hold; an allocation of somebody else does not look at either, so
// that the host may be lost until Reclaim has claimed it. Who is late gets a conflict, and
// never a host that another has.
//
//	deploy, active  Unhold
//
// Each may be repeated, and asks the host first.

// keepPrefix begins the reason of the mark, by which it is known to be ours.
const keepPrefix = "metal3 reuse "

// The keys below host.JournalKey in a node's extra.
const (
	journalPath = "/extra/" + host.JournalKey
	holdPath    = journalPath + "/hold"
)

// KeepReason is the retired_reason of a host that is kept for the machine. It names the
// cluster, too: two clusters may have machines of one name.
func (r Request) KeepReason() string { return keepPrefix + r.owner() + "/" + r.Machine }

func (r Request) owner() string { return r.Namespace + "/" + r.Cluster }

// Kept reports whether a host is kept for the machine by [Keep].
func (r Request) Kept(s host.Seen) bool {
	return s.Node.Retired && s.Node.RetiredReason == r.KeepReason()
}

// Reclaimable reports whether a host is kept for the machine, and its teardown is over.
func (r Request) Reclaimable(s host.Seen) bool { return r.Kept(s) && torndown(s) }

func torndown(s host.Seen) bool {
	return s.Node.ProvisionState == ironic.Manageable || s.Node.ProvisionState == ironic.Available
}

// Keep marks a host that its machine is about to leave for a redeployment: the teardown then
// ends where nobody else takes it. The hold ends at until, never where that is zero. The host
// must carry the claim; one that somebody else retired is left alone.
func Keep(ctx context.Context, far Far, r Request, seen host.Seen, until time.Time) (host.Seen, error) {
	now, err := far.Look(ctx, seen.Node.UUID)
	if err != nil {
		return seen, err
	}

	n := now.Node

	switch {
	case n.InstanceUUID != r.ID:
		return now, &NotHeldError{Host: label(now), ID: r.ID, Found: n.InstanceUUID}
	case n.Retired && !r.Kept(now):
		return now, fmt.Errorf("host %s cannot be kept for machine %s: it was retired for another reason (%s)", label(now), r.Machine, n.RetiredReason)
	}

	ops := []ironic.Patch{
		{Op: "add", Path: "/retired", Value: true},
		{Op: "add", Path: "/retired_reason", Value: r.KeepReason()},
	}

	return far.Patch(ctx, n.UUID, append(ops, r.holding(now, until)))
}

// holding sets the hold alone: the rest of the journal has another writer.
func (r Request) holding(s host.Seen, until time.Time) ironic.Patch {
	hold := choose.Hold{Cluster: r.owner(), Machine: r.Machine, Until: until}.Value()

	if _, there := s.Node.Extra[host.JournalKey].(map[string]any); !there {
		return ironic.Patch{Op: "add", Path: journalPath, Value: map[string]any{"hold": hold}}
	}

	return ironic.Patch{Op: "add", Path: holdPath, Value: hold}
}

// Reclaim claims a kept host again, after its teardown, in one request with the note and the end of
// the mark. With clean set, it also says whether the way to available cleans once more.
func Reclaim(ctx context.Context, far Far, r Request, seen host.Seen, clean *bool) (host.Seen, error) {
	now, err := far.Look(ctx, seen.Node.UUID)
	if err != nil {
		return seen, err
	}

	n := now.Node

	switch {
	case n.InstanceUUID != "" && n.InstanceUUID != r.ID:
		return now, &NotHeldError{Host: label(now), ID: r.ID, Found: n.InstanceUUID}
	case n.InstanceUUID == "" && !r.Kept(now):
		return now, &NotHeldError{Host: label(now), ID: r.ID}
	case n.InstanceUUID == r.ID && !r.Kept(now):
		return now, nil // done by an earlier run
	case !torndown(now):
		return now, fmt.Errorf("host %s cannot be claimed again for machine %s: it is in state %q and not in %q or %q",
			label(now), r.Machine, n.ProvisionState, ironic.Manageable, ironic.Available)
	}

	ops := []ironic.Patch{
		{Op: "add", Path: "/instance_uuid", Value: r.ID},
		{Op: "add", Path: notePath, Value: r.note()},
		{Op: "add", Path: "/retired", Value: false},
	}
	if clean != nil {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/automated_clean", Value: *clean})
	}

	return far.Patch(ctx, n.UUID, ops)
}

// Unkeep ends a mark and a hold without a new claim: the machine does not come back.
func Unkeep(ctx context.Context, far Far, r Request, seen host.Seen) (host.Seen, error) {
	now, err := far.Look(ctx, seen.Node.UUID)
	if err != nil {
		return seen, err
	}

	var ops []ironic.Patch
	if r.Kept(now) {
		ops = append(ops, ironic.Patch{Op: "add", Path: "/retired", Value: false})
	}

	return patchAll(ctx, far, now, append(ops, r.unholding(now)...))
}

// Unhold removes a machine's hold from a host.
func Unhold(ctx context.Context, far Far, r Request, seen host.Seen) (host.Seen, error) {
	now, err := far.Look(ctx, seen.Node.UUID)
	if err != nil {
		return seen, err
	}

	return patchAll(ctx, far, now, r.unholding(now))
}

func (r Request) unholding(s host.Seen) []ironic.Patch {
	if hold, held := choose.ParseHold(s.Journal.Hold); !held || !hold.Of(r.owner(), r.Machine) {
		return nil
	}

	return []ironic.Patch{{Op: "remove", Path: holdPath}}
}

func patchAll(ctx context.Context, far Far, s host.Seen, ops []ironic.Patch) (host.Seen, error) {
	if len(ops) == 0 {
		return s, nil
	}

	return far.Patch(ctx, s.Node.UUID, ops)
}

// ErrNotHeld is what errors.Is finds in a [NotHeldError].
var ErrNotHeld = errors.New("the host does not carry the claim")

// NotHeldError says that a host does not carry the claim that it should.
type NotHeldError struct {
	Host, ID string
	Found    string // the claim that it carries, empty: none
}

func (e *NotHeldError) Error() string {
	if e.Found == "" {
		return fmt.Sprintf("host %s does not carry the claim %s (it carries none)", e.Host, e.ID)
	}

	return fmt.Sprintf("host %s does not carry the claim %s: it was claimed by %s", e.Host, e.ID, e.Found)
}

// Is makes errors.Is(err, ErrNotHeld) true.
func (e *NotHeldError) Is(target error) bool { return target == ErrNotHeld }
