// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// lives are the states that follow a verb, and how long each lasts.
var lives = map[ironic.Verb][]struct {
	state ironic.State
	lasts time.Duration
}{
	ironic.VerbManage:  {{ironic.Verifying, 2 * time.Second}, {ironic.Manageable, 0}},
	ironic.VerbInspect: {{ironic.Inspecting, time.Second}, {ironic.InspectWait, 3 * time.Minute}, {ironic.Manageable, 0}},
	ironic.VerbProvide: {{ironic.Cleaning, 2 * time.Second}, {ironic.CleanWait, 2 * time.Minute}, {ironic.Available, 0}},
	ironic.VerbActive:  {{ironic.Deploying, time.Second}, {ironic.WaitCallBack, 4 * time.Minute}, {ironic.Deploying, 10 * time.Second}, {ironic.Active, 0}},
	ironic.VerbRebuild: {{ironic.Deploying, time.Second}, {ironic.WaitCallBack, 4 * time.Minute}, {ironic.Active, 0}},
	ironic.VerbDeleted: {{ironic.Deleting, 5 * time.Second}, {ironic.Cleaning, time.Minute}, {ironic.Available, 0}},
	ironic.VerbAdopt:   {{ironic.Adopting, time.Second}, {ironic.Active, 0}},
}

// Start implements [host.Backend].
func (b *far) Start(_ context.Context, s host.Seen, w host.Wanted, verb ironic.Verb) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Start %s", verb); err != nil {
		return err
	}

	r, err := b.find(s.Node.UUID)
	if err != nil {
		return err
	}

	to, ok := verbs[r.node.ProvisionState][host.Step(verb)]
	if !ok || (r.node.Maintenance && verb != ironic.VerbDeleted && verb != ironic.VerbAbort) {
		return ironic.ErrRefused
	}

	if verb == ironic.VerbActive || verb == ironic.VerbRebuild {
		b.drives = append(b.drives, w.Config)
	}

	r.stages = nil

	if verb == ironic.VerbAbort {
		r.node.ProvisionState, r.node.TargetProvisionState, r.node.LastError = to, ironic.Manageable, "Inspection was aborted by request."

		return nil
	}

	b.live(r, verb, to)

	return b.losing("Start " + string(verb))
}

// live plans what follows a verb.
func (b *far) live(r *record, verb ironic.Verb, first ironic.State) {
	life := lives[verb]
	if first == ironic.Manageable { // there is nothing to verify any more
		life = life[1:]
	}

	r.node.ProvisionState, r.node.LastError = first, ""
	r.node.TargetProvisionState = life[len(life)-1].state

	for i, l := range life[:len(life)-1] {
		lasts := l.lasts
		if d, ok := b.pace[string(l.state)]; ok {
			lasts = d
		}

		last := i == len(life)-2
		if list := b.ends[string(verb)]; last && len(list) > 0 {
			end := list[0]
			b.ends[string(verb)] = list[1:]

			r.later(lasts, func(n *ironic.Node) {
				n.ProvisionState, n.LastError = end.state, end.words
				if end.state == ironic.CleanFailed {
					n.Maintenance, n.Fault = true, "clean failure"
				}
			})

			return
		}

		r.later(lasts, func(n *ironic.Node) { arrive(n, verb, life[i+1].state, last) })
	}

	if len(life) == 1 {
		r.node.TargetProvisionState = ""
	}
}

func arrive(n *ironic.Node, verb ironic.Verb, to ironic.State, last bool) {
	n.ProvisionState = to

	if verb == ironic.VerbDeleted && to == ironic.Cleaning {
		n.InstanceUUID, n.InstanceInfo = "", map[string]any{}
	}

	if !last {
		return
	}

	n.TargetProvisionState = ""

	switch verb {
	case ironic.VerbInspect:
		n.InspectionFinishedAt = time.Now()
	case ironic.VerbActive, ironic.VerbRebuild, ironic.VerbAdopt:
		n.PowerState = ironic.PowerOn
	case ironic.VerbManage:
		if n.PowerState == "" {
			n.PowerState = ironic.PowerOff
		}
	default:
	}
}

// Validate implements [host.Backend].
func (b *far) Validate(context.Context, string) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	return b.called("Validate")
}

// Power implements [host.Backend]: accepted at once, begun a little later.
func (b *far) Power(_ context.Context, id string, target ironic.Power) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Power %s", target); err != nil {
		return err
	}

	r, err := b.find(id)
	if err != nil {
		return err
	}

	end := map[ironic.Power]ironic.Power{ironic.SoftPowerOff: ironic.PowerOff, ironic.Rebooting: ironic.PowerOn, ironic.SoftRebooting: ironic.PowerOn}[target]
	if end == "" {
		end = target
	}

	if words := b.noPower; words != "" {
		r.later(b.begins, func(n *ironic.Node) { n.TargetPowerState, n.LastError = target, "" })
		r.later(2*time.Second, func(n *ironic.Node) { n.TargetPowerState, n.LastError = "", words })

		return nil
	}

	if r.node.PowerState == end && target == end {
		r.later(b.begins, func(n *ironic.Node) { n.LastError = "" })

		return nil
	}

	r.later(b.begins, func(n *ironic.Node) { n.TargetPowerState, n.LastError = target, "" })

	for _, p := range b.odd {
		r.later(2*time.Second, func(n *ironic.Node) { n.TargetPowerState, n.PowerState = "", p })
	}

	r.later(5*time.Second, func(n *ironic.Node) { n.TargetPowerState, n.PowerState = "", end })

	return nil
}

// Maintain implements [host.Backend].
func (b *far) Maintain(_ context.Context, id, reason string) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Maintain %t", reason != ""); err != nil {
		return err
	}

	r, err := b.find(id)
	if err != nil {
		return err
	}

	r.node.Maintenance, r.node.MaintenanceReason, r.node.Fault = reason != "", reason, ""

	return nil
}

// Remove implements [host.Backend].
func (b *far) Remove(_ context.Context, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Remove"); err != nil {
		return err
	}

	r, err := b.find(id)
	if err != nil {
		return err
	}

	if r.node.Protected {
		return ironic.ErrProtected
	}

	if r.node.InstanceUUID != "" && !r.node.Maintenance {
		return ironic.ErrConflict
	}

	delete(b.records, id)

	return nil
}

// Inventory implements [host.Backend].
func (b *far) Inventory(context.Context, string) (json.RawMessage, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	return json.RawMessage(`{"inventory":{}}`), b.called("Inventory")
}

// LastWords implements [host.Backend].
func (b *far) LastWords(context.Context, string) []string { return b.words }

// Busy implements [host.Backend].
func (b *far) Busy(ctx context.Context, within time.Duration) ([]string, error) {
	if err := wait.Sleep(ctx, within); err != nil {
		return nil, err
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Busy"); err != nil {
		return nil, err
	}

	var out []string
	for i := range b.others {
		out = append(out, fmt.Sprint("other-", i))
	}

	for id := range b.records {
		if r, err := b.find(id); err == nil && !host.Resting(r.node.ProvisionState) {
			out = append(out, id)
		}
	}

	return out, nil
}

// Supports implements [host.Backend].
func (b *far) Supports(context.Context, host.Feature) error { return nil }

var _ host.Backend = (*far)(nil)
