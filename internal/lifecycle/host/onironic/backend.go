// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package onironic is the backend of package host that reaches machines through Ironic.
//
// It says in Ironic's words what a host should be (settings.go, deploy.go), sends what
// differs (write.go), and turns Ironic's answers into what package host sees.
package onironic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

var _ host.Backend = (*Backend)(nil)

// Backend reaches machines through one Ironic.
type Backend struct {
	client *ironic.Client
	fleet  *ironic.Fleet
	hub    *ironic.Hub
	minor  atomic.Int64 // the negotiated API version, once it is known
}

const (
	// freshness is how old a list may be from which a refresh is answered.
	freshness = 10 * time.Second

	// calm is the same as long as this process has written nothing: a plan.
	calm = 2 * time.Minute
)

// newest is assumed until the first answer.
const newest = 111

// New returns the backend on a client. It calls nobody.
func New(c *ironic.Client) *Backend {
	b := &Backend{client: c, fleet: ironic.NewFleet(c, freshness), hub: ironic.NewHub(c)}
	b.minor.Store(newest)
	b.fleet.Calm(calm)

	return b
}

// Endpoint implements [host.Backend].
func (b *Backend) Endpoint() string { return b.client.Endpoint() }

// Refresh implements [host.Backend].
func (b *Backend) Refresh(ctx context.Context, id string) (host.Seen, error) {
	n, ports, err := b.fleet.Node(ctx, id)
	if err != nil {
		return host.Seen{}, missing(err)
	}

	s := seen(n)
	if s.Ports = ports; ports == nil {
		s.Ports = []ironic.Port{}
	}

	return s, nil
}

// Missing implements [host.Backend].
func (b *Backend) Missing() int { return b.fleet.Missing() }

// All implements [host.Backend].
func (b *Backend) All(ctx context.Context) ([]host.Seen, error) {
	nodes, ports, err := b.fleet.All(ctx)
	if err != nil {
		return nil, err
	}

	out := make([]host.Seen, 0, len(nodes))
	for _, n := range nodes {
		s := seen(n)
		if s.Ports = ports[n.UUID]; s.Ports == nil {
			s.Ports = []ironic.Port{}
		}

		out = append(out, s)
	}

	return out, nil
}

// Forget implements [host.Backend].
func (b *Backend) Forget() { b.fleet.Forget() }

// Look implements [host.Backend].
func (b *Backend) Look(ctx context.Context, id string) (host.Seen, error) {
	n, err := b.client.Node(ctx, id)
	if err != nil {
		return host.Seen{}, missing(err)
	}

	return seen(n), nil
}

// Glance implements [host.Backend].
func (b *Backend) Glance(ctx context.Context, id string, within time.Duration) (ironic.Glance, error) {
	g, err := b.hub.Next(ctx, id, within)

	return g, missing(err)
}

// ByMAC implements [host.Backend].
func (b *Backend) ByMAC(ctx context.Context, mac string) (host.Seen, error) {
	p, err := b.client.PortByMAC(ctx, mac)
	if errors.Is(err, ironic.ErrNotFound) {
		return host.Seen{}, host.ErrGone
	}

	if err != nil {
		return host.Seen{}, err
	}

	return b.Look(ctx, p.NodeUUID)
}

// Start implements [host.Backend].
func (b *Backend) Start(ctx context.Context, s host.Seen, w host.Wanted, verb ironic.Verb) error {
	b.fleet.Forget()

	p := ironic.Provision{Target: verb}

	switch verb {
	case ironic.VerbActive, ironic.VerbRebuild:
		p.ConfigDrive = configDrive(w)
		p.DeploySteps = deploySteps(w)
	case ironic.VerbAbort:
		if s.Node.ProvisionState == ironic.WaitCallBack && b.client.Require(ctx, 110, "abort of a deployment") != nil {
			p.Target = ironic.VerbDeleted // what older services offer instead
		}
	default: // the verb is all there is to say
	}

	return missing(b.client.Provision(ctx, s.Node.UUID, p))
}

// InvalidError says why Ironic would not begin a deployment.
type InvalidError struct{ Reasons map[string]string }

func (e *InvalidError) Error() string {
	parts := make([]string, 0, len(e.Reasons))
	for _, kind := range slices.Sorted(maps.Keys(e.Reasons)) {
		parts = append(parts, kind+": "+e.Reasons[kind])
	}

	return "Ironic cannot deploy this host: " + strings.Join(parts, "; ")
}

// Validate implements [host.Backend].
func (b *Backend) Validate(ctx context.Context, id string) error {
	all, err := b.client.Validate(ctx, id)
	if err != nil {
		return missing(err)
	}

	reasons := map[string]string{}

	for _, kind := range []string{"boot", "deploy"} {
		if v, ok := all[kind]; ok && !v.Result {
			reasons[kind] = v.Reason
		}
	}

	if len(reasons) > 0 {
		return &InvalidError{reasons}
	}

	return nil
}

// badRequest is the status with which Ironic refuses what a driver cannot do.
const badRequest = 400

// softTimeout is how long the operating system may take to power itself off.
const softTimeout = 180 * time.Second

// Power implements [host.Backend].
func (b *Backend) Power(ctx context.Context, id string, target ironic.Power) error {
	b.fleet.Forget()

	var timeout time.Duration
	if target == ironic.SoftPowerOff || target == ironic.SoftRebooting {
		timeout = softTimeout
	}

	err := b.client.SetPower(ctx, id, target, timeout)

	var refused *ironic.RequestError
	if timeout > 0 && errors.As(err, &refused) && refused.Status == badRequest {
		// The driver has no soft power, which Ironic words in several ways: the hard way is what is left.
		hard := map[ironic.Power]ironic.Power{ironic.SoftPowerOff: ironic.PowerOff, ironic.SoftRebooting: ironic.Rebooting}
		err = b.client.SetPower(ctx, id, hard[target], 0)
	}

	return missing(err)
}

// Maintain implements [host.Backend].
func (b *Backend) Maintain(ctx context.Context, id, reason string) error {
	b.fleet.Forget()

	if reason == "" {
		return missing(b.client.UnsetMaintenance(ctx, id))
	}

	return missing(b.client.SetMaintenance(ctx, id, reason))
}

// Remove implements [host.Backend].
func (b *Backend) Remove(ctx context.Context, id string) error {
	b.fleet.Forget()

	return missing(b.client.DeleteNode(ctx, id))
}

// Inventory implements [host.Backend].
func (b *Backend) Inventory(ctx context.Context, id string) (json.RawMessage, error) {
	raw, err := b.client.Inventory(ctx, id)
	if errors.Is(err, ironic.ErrNotFound) {
		return nil, host.ErrGone
	}

	return raw, err
}

// LastWords implements [host.Backend].
func (b *Backend) LastWords(ctx context.Context, id string) []string {
	const most = 3

	events, err := b.client.History(ctx, id)
	if err != nil {
		return nil // a help for people, never a reason to fail
	}

	if len(events) > most {
		events = events[len(events)-most:]
	}

	words := make([]string, 0, len(events))
	for _, e := range events {
		words = append(words, strings.TrimSpace(e.Text))
	}

	return words
}

// busy are the states that occupy a place of the capacity gate, as upstream counts.
var busy = []ironic.State{
	ironic.Cleaning, ironic.CleanWait, ironic.Inspecting, ironic.InspectWait, ironic.Deploying, ironic.WaitCallBack, ironic.Deleting,
}

// Busy implements [host.Backend].
func (b *Backend) Busy(ctx context.Context, within time.Duration) ([]string, error) {
	all, err := b.hub.Everyone(ctx, within)
	if err != nil {
		return nil, err
	}

	var out []string

	for _, g := range all {
		if slices.Contains(busy, g.ProvisionState) && !host.VirtualMedia(g.BootInterface) {
			out = append(out, g.UUID)
		}
	}

	return out, nil
}

// since maps features to the API version that brought them.
var since = map[host.Feature]int{
	host.FeatureDisablePowerOff: 95,
	host.FeatureAgentInspection: 84,
	host.FeatureAbortDeploy:     110,
}

// Supports implements [host.Backend].
func (b *Backend) Supports(ctx context.Context, f host.Feature) error {
	return b.client.Require(ctx, since[f], string(f))
}

// EnsureTraits implements [host.Backend].
func (b *Backend) EnsureTraits(ctx context.Context, s host.Seen, w host.Wanted) error {
	if w.Traits == nil || sameSet(w.Traits, s.Node.Traits) {
		return nil
	}

	return missing(b.client.SetTraits(ctx, s.Node.UUID, w.Traits))
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func seen(n ironic.Node) host.Seen {
	return host.Seen{Node: n, Journal: host.ReadJournal(n.Extra)}
}

// missing turns Ironic's "no such node" into ErrGone; any other "not found" stays an error
// that never takes a host out of the state.
func missing(err error) error {
	var nf *ironic.NotFoundError
	if errors.As(err, &nf) && nf.What == "node" {
		return fmt.Errorf("%w: %w", host.ErrGone, err)
	}

	return err
}
