// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// candidates looks at all hosts.
func (r *Run) candidates(ctx context.Context) ([]Candidate, error) {
	w := r.Wanted
	out := make([]Candidate, len(w.Hosts))
	errs := make([]error, len(w.Hosts))

	r.parallel(ctx, len(w.Hosts), func(i int) { out[i], errs[i] = r.candidate(ctx, w.Hosts[i]) })

	// One host that cannot be read must not stop the others, unless it is the only one.
	failed := 0

	for i, err := range errs {
		if err != nil {
			// What is ours there counts all the same: it ties the others to its host.
			out[i] = Candidate{Host: w.Hosts[i], Problem: err.Error(), Kept: r.kept(w.Hosts[i])}
			failed++
		}
	}

	if failed == len(out) {
		return nil, errors.Join(errs...)
	}

	return out, nil
}

// candidate looks at one host.
func (r *Run) candidate(ctx context.Context, h Host) (Candidate, error) {
	w := r.Wanted
	c := Candidate{Host: h, Kept: r.kept(h)}

	m, err := r.fresh(ctx, h.MachineID)
	if errors.Is(err, fabric.ErrNotFound) {
		c.Problem = "the fabric has no such machine"

		return c, nil
	}

	if err != nil {
		return c, err
	}

	r.saw(m)
	c.State, c.Power, c.Status = m.State, m.Power, m.Status

	for _, d := range m.Devices {
		c.Models = append(c.Models, d.Model)
	}

	r.sortDevices(&c, m)

	if other, taken := r.Desk.claimed(h.MachineID, w.Type, w.Model, w.ID); taken {
		c.Claimed = other
	}

	err = wait.Retry(ctx, patience, func(ctx context.Context) (err error) {
		c.Free, err = r.Desk.Fabric.Free(ctx, h.MachineID, w.Type, w.Model)

		return err
	})

	c.Free.FabricID = cmp.Or(c.Free.FabricID, m.FabricID) // hosts of one pool share what it has

	switch {
	case errors.Is(err, fabric.ErrRefused), errors.Is(err, fabric.ErrCapacity), errors.Is(err, fabric.ErrNotFound):
		c.Problem = err.Error()
	case err != nil:
		return c, err
	}

	return c, nil
}

// kept counts our devices on a host.
func (r *Run) kept(h Host) int {
	r.mu.Lock()
	defer r.mu.Unlock()

	n := 0

	for _, d := range r.result.Devices {
		if SameMachine(d.MachineID, h.MachineID) {
			n++
		}
	}

	return n
}

// sortDevices finds the devices of the kind that are not ours: strangers and broken ones.
func (r *Run) sortDevices(c *Candidate, m fabric.Machine) {
	for _, d := range m.Of(r.Wanted.Type, r.Wanted.Model) {
		switch {
		case r.isOurs(d):
		case d.Phase == fabric.AddFailed || d.Phase == fabric.RemoveFailed:
			r.warn(fmt.Sprintf("Device %s on %s is in a failed state (%s) and is not ours: it is left alone.", d.FabricID, c.Host.Label(), orNone(d.Reason)))
		default:
			c.Extra = append(c.Extra, d)
		}
	}

	slices.SortFunc(c.Extra, func(a, b fabric.Device) int { return strings.Compare(a.FabricID, b.FabricID) })
}

// patience is how long a look that changes nothing is repeated.
var patience = wait.Cadence{First: wait.Quick.First, Factor: 2, Max: wait.Quick.Max, Jitter: 0.2, Errors: 6}

// fresh reads a machine now.
func (r *Run) fresh(ctx context.Context, id string) (m fabric.Machine, err error) {
	err = wait.Retry(ctx, patience, func(ctx context.Context) (err error) {
		m, err = r.Desk.Fabric.Machine(ctx, id)

		return err
	})

	return m, err
}
