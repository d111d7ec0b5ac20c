// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// far is a backend in memory: an Ironic whose transitions take (virtual) time and can be
// told to fail. It refuses what Ironic refuses.
type far struct {
	t  *testing.T
	mu sync.Mutex

	records map[string]*record
	log     []string            // "Start inspect", "Power power on", "Write settings", …
	fail    map[string][]error  // by entry of the log, in order
	ends    map[string][]ending // by verb: how its next runs fail
	pace    map[string]time.Duration
	odd     []ironic.Power // what power_state says while a power request is under way
	begins  time.Duration  // until the conductor begins with a power request
	noPower string         // the error of every power request
	others  int            // busy hosts of somebody else
	words   []string
	drives  []host.ConfigData // config drive of each deployment
	boot    string            // the boot interface of nodes that are created
	lists   int
	lost    string // the call, as in the log, that does its work and gets no answer once
}

type record struct {
	node   ironic.Node
	ports  []ironic.Port
	stages []stage
	sent   []string // passwords that were written
}

// stage is something that happens to a record at a time.
type stage struct {
	at time.Time
	do func(*ironic.Node)
}

type ending struct {
	state ironic.State
	words string
}

func newFar(t *testing.T) *far {
	t.Helper()

	return &far{t: t, records: map[string]*record{}, fail: map[string][]error{}, ends: map[string][]ending{}, pace: map[string]time.Duration{}, begins: 300 * time.Millisecond}
}

// called notes a call and returns the error that it is to have.
func (b *far) called(format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	b.log = append(b.log, what)

	if list := b.fail[what]; len(list) > 0 {
		b.fail[what] = list[1:]

		return list[0]
	}

	return nil
}

// losing is the error of a call whose work is done and whose answer is lost.
func (b *far) losing(what string) error {
	if b.lost != what {
		return nil
	}

	b.lost = ""

	return wait.Transient(ironic.ErrUnreachable)
}

func (b *far) count(what string) int {
	b.mu.Lock()
	defer b.mu.Unlock()

	n := 0

	for _, l := range b.log {
		if l == what {
			n++
		}
	}

	return n
}

// find returns a record as it is now.
func (b *far) find(id string) (*record, error) {
	for _, r := range b.records {
		if r.node.UUID != id && r.node.Name != id {
			continue
		}

		for len(r.stages) > 0 && !time.Now().Before(r.stages[0].at) {
			s := r.stages[0]
			r.stages = r.stages[1:]
			s.do(&r.node)
		}

		return r, nil
	}

	return nil, fmt.Errorf("%w: node %s", host.ErrGone, id)
}

func (r *record) later(d time.Duration, do func(*ironic.Node)) {
	at := time.Now()
	if n := len(r.stages); n > 0 && r.stages[n-1].at.After(at) {
		at = r.stages[n-1].at
	}

	r.stages = append(r.stages, stage{at.Add(d), do})
}

func (r *record) seen() host.Seen {
	n := r.node
	n.Extra = maps.Clone(n.Extra)

	return host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}
}

func (b *far) Endpoint() string { return "http://" + b.t.Name() }
func (b *far) Missing() int     { return 0 }
func (b *far) Forget()          {}

func (b *far) Refresh(ctx context.Context, id string) (host.Seen, error) { return b.Look(ctx, id) }

func (b *far) All(context.Context) ([]host.Seen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.lists++

	var out []host.Seen
	for _, id := range slices.Sorted(maps.Keys(b.records)) {
		out = append(out, b.records[id].seen())
	}

	return out, nil
}

func (b *far) Look(_ context.Context, id string) (host.Seen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Look"); err != nil {
		return host.Seen{}, err
	}

	r, err := b.find(id)
	if err != nil {
		return host.Seen{}, err
	}

	return r.seen(), nil
}

func (b *far) Glance(ctx context.Context, id string, within time.Duration) (ironic.Glance, error) {
	if err := wait.Sleep(ctx, within); err != nil {
		return ironic.Glance{}, fmt.Errorf("glance: %w", err)
	}

	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Glance"); err != nil {
		return ironic.Glance{}, err
	}

	r, err := b.find(id)
	if err != nil {
		return ironic.Glance{}, err
	}

	return r.node.Glance(), nil
}

func (b *far) ByMAC(_ context.Context, mac string) (host.Seen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("ByMAC"); err != nil {
		return host.Seen{}, err
	}

	for _, r := range b.records {
		if slices.ContainsFunc(r.ports, func(p ironic.Port) bool { return p.Address == mac }) {
			return r.seen(), nil
		}
	}

	return host.Seen{}, host.ErrGone
}

func (b *far) Create(_ context.Context, w host.Wanted, j host.Journal) (host.Seen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Create"); err != nil {
		return host.Seen{}, err
	}

	name := host.NodeName(w.Namespace, w.Name)
	if _, err := b.find(name); err == nil {
		return host.Seen{}, ironic.ErrConflict
	}

	b.records[w.ID] = &record{sent: []string{w.BMC.Password}, node: ironic.Node{
		UUID: w.ID, Name: name, Driver: w.BMC.Access.Driver, DriverInfo: maps.Clone(w.BMC.Access.DriverInfo), Description: w.Description,
		ProvisionState: ironic.Enroll, Extra: map[string]any{host.JournalKey: plain(j.Value())}, Properties: map[string]any{}, InstanceInfo: map[string]any{},
		Interfaces: map[string]string{"boot": b.boot},
	}}

	return b.records[w.ID].seen(), b.losing("Create")
}

// plain brings a journal into the form that it has after a way through JSON.
func plain(v map[string]any) map[string]any {
	doc, _ := json.Marshal(v)

	var out map[string]any

	_ = json.Unmarshal(doc, &out)

	return out
}

var parts = map[host.Part]string{
	host.PartJournal: "journal", host.PartSettings: "settings", host.PartDeploy: "deployment", host.PartUnclaim: "unclaim",
}

func (b *far) Write(_ context.Context, s host.Seen, w host.Wanted, j host.Journal, p host.Part) (host.Seen, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("Write %s", parts[p]); err != nil {
		return s, err
	}

	r, err := b.find(s.Node.UUID)
	if err != nil {
		return s, err
	}

	if !host.Resting(r.node.ProvisionState) {
		return s, ironic.ErrTransition
	}

	r.node.Extra[host.JournalKey] = plain(j.Value())

	if r.node.Protected && p == host.PartJournal {
		r.node.Protected = false
	}

	if p == host.PartSettings || p == host.PartDeploy {
		r.node.Description, r.node.Name = w.Description, host.NodeName(w.Namespace, w.Name)
		if w.BMC.Rewrite {
			r.sent = append(r.sent, w.BMC.Password)
		}
	}

	switch p {
	case host.PartDeploy:
		r.node.InstanceUUID = host.Claim(w.Namespace, w.Name)
		if w.Image != nil {
			r.node.InstanceInfo, _ = w.Image.InstanceInfo()
		}
	case host.PartUnclaim:
		r.node.InstanceUUID = ""
	default:
	}

	return r.seen(), nil
}

// Differs compares what this backend keeps; credentials differ whenever they are to be sent again.
func (b *far) Differs(s host.Seen, w host.Wanted) []string {
	var out []string
	if s.Node.Description != w.Description {
		out = append(out, "description")
	}

	if w.BMC.Rewrite {
		out = append(out, "bmc")
	}

	if w.Traits != nil && !slices.Equal(w.Traits, s.Node.Traits) {
		out = append(out, "traits")
	}

	return out
}

func (b *far) EnsurePorts(_ context.Context, s host.Seen, w host.Wanted) ([]ironic.Port, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	if err := b.called("EnsurePorts"); err != nil {
		return nil, err
	}

	r, err := b.find(s.Node.UUID)
	if err != nil {
		return nil, err
	}

	if w.BootMAC != "" && len(r.ports) == 0 {
		r.ports = []ironic.Port{{NodeUUID: s.Node.UUID, Address: w.BootMAC}}
	}

	return r.ports, nil
}

func (b *far) EnsureTraits(_ context.Context, s host.Seen, w host.Wanted) error {
	b.mu.Lock()
	defer b.mu.Unlock()

	if w.Traits == nil {
		return nil
	}

	r, err := b.find(s.Node.UUID)
	if err != nil {
		return err
	}

	r.node.Traits = w.Traits

	return b.called("EnsureTraits")
}
