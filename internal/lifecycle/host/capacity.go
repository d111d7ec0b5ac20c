// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// QueueError says that no place became free in time.
type QueueError struct {
	Waited time.Duration
	Limit  int
}

func (e *QueueError) Error() string {
	return fmt.Sprintf("no place at the capacity gate within %s (queue_timeout); %d hosts may be busy at once (provisioning_limit)", e.Waited.Round(time.Second), e.Limit)
}

// gated reports whether a step makes a host busy in the sense of upstream's capacity gate.
func gated(s Step) bool {
	switch s {
	case Inspect, Provide, Deploy, Rebuild, Undeploy:
		return true
	default:
		return false
	}
}

// bootsISO reports whether a host takes no place, because its BMC boots an image by itself. A tenant
// knows no BMC: there the node tells.
func (r *Run) bootsISO(seen Seen) bool {
	return r.Wanted.BMC.Access.SupportsISO || VirtualMedia(seen.Node.Interfaces["boot"])
}

// VirtualMedia reports whether a boot interface of Ironic attaches an image to the BMC.
func VirtualMedia(bootInterface string) bool { return strings.Contains(bootInterface, "virtual-media") }

// enterGate waits for a place before a step that makes the host busy. Waiting here does not
// count against the verb's deadline.
func (r *Run) enterGate(ctx context.Context, seen Seen, step Step) error {
	limit := r.Wanted.ProvisioningLimit
	if r.inGate != "" || !gated(step) || limit <= 0 || r.bootsISO(seen) {
		return nil
	}

	r.Budget.Pause()
	defer r.Budget.Resume()

	start, inner := time.Now(), ctx

	if r.Wanted.QueueTimeout > 0 {
		var cancel context.CancelFunc

		inner, cancel = context.WithTimeout(ctx, r.Wanted.QueueTimeout)
		defer cancel()
	}

	id := seen.Node.UUID
	queued := func(place int) {
		r.log(ctx, "delayed", map[string]any{"place": place, "provisioning_limit": limit, "node_uuid": id})
	}

	err := gateOf(r.Backend).enter(inner, id, limit, queued)
	if err != nil && ctx.Err() == nil && inner.Err() != nil {
		return &QueueError{time.Since(start), limit}
	}

	if err == nil {
		r.inGate = id
	}

	r.entered = time.Now() // the queue is no part of the phase

	return err
}

func (r *Run) leaveGate() {
	if r.inGate != "" {
		gateOf(r.Backend).leave(r.inGate)
		r.inGate = ""
	}
}
