// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// shown is how many Nodes a message lists.
const shown = 10

// patient is the rhythm of waits for a workload cluster. The looks at Nodes are spaced by the
// [Hub]; an API server that is away for a while (a control plane that grows, an address that
// moves) is waited for until the deadline.
var patient = wait.Cadence{First: time.Millisecond, Max: 30 * time.Second, Errors: math.MaxInt}

// Joined is the Node of a machine.
type Joined struct {
	Node       string
	ProviderID string
	Ready      bool
	Removed    []string // stale Nodes that were deleted
}

// Join waits until a machine is in its workload cluster and makes its Node what the machine
// wants: providerID, labels, annotations, taints. Nodes of earlier machines that stand in its
// way are deleted first. A timeout of 0 leaves the deadline to the context. What was reached
// is returned with an error, too; an error that is [ErrMismatch] is not mended by waiting.
//
// Many machines share looks when they are given the same [Hub].
func Join(ctx context.Context, api Workload, w Want, existing func(machine string) bool, timeout time.Duration) (Joined, error) {
	if err := w.Check(); err != nil {
		return Joined{}, err
	}

	if timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()

		ctx = limited
	}

	j := &joining{hub: NewHub(api), want: w, existing: existing}

	err := wait.Until(ctx, patient, j.look)
	if err != nil {
		err = fmt.Errorf("machine %s: wait for its Node (looked for %s): %w", w.Machine, w.lookedFor(), err)
	}

	return j.joined, err
}

// lookedFor says what a Node is recognised by.
func (w Want) lookedFor() string {
	var parts []string

	if w.ProviderID != "" {
		parts = append(parts, fmt.Sprintf("provider ID %q", w.ProviderID))
	}

	parts = append(parts, fmt.Sprintf("name %q", w.Machine))

	if len(w.Addresses) > 0 {
		parts = append(parts, "address "+strings.Join(w.Addresses, " or "))
	}

	return strings.Join(parts, ", else ")
}

// joining is one machine that is waited for.
type joining struct {
	hub      *Hub
	want     Want
	existing func(string) bool
	within   time.Duration // the first look is immediate
	joined   Joined
	steady   steady
}

// steady is since when a Node has been seen to be Ready.
type steady struct {
	since time.Time // as the Node says
	seen  time.Time // as the clock here says
}

// look is the probe of the wait.
func (j *joining) look(ctx context.Context) (wait.Verdict, string, error) {
	x, err := j.hub.look(ctx, j.within)
	j.within = tick

	if err != nil {
		return wait.Again, "", err
	}

	found, err := x.Find(j.want, j.existing)
	if err != nil {
		return wait.Again, "", err
	}

	if err := j.clear(ctx, found.Stale); err != nil {
		return wait.Again, "", err
	}

	if found.Node == nil {
		return wait.Again, j.missing(x.nodes), nil
	}

	n := *found.Node
	j.joined.Node, j.joined.ProviderID, j.joined.Ready = n.Name, n.ProviderID, n.Ready == "True"

	if err := apply(ctx, j.hub, j.want, n); err != nil {
		if errors.Is(err, kube.ErrNotFound) { // it went between the two looks
			return wait.Again, err.Error(), nil
		}

		return wait.Again, "", err
	}

	if n.ProviderID == "" && !j.want.CloudProvider {
		j.joined.ProviderID = j.want.ProviderID
	}

	return j.verdict(n)
}

// verdict says whether the Node is what is waited for.
func (j *joining) verdict(n kube.Node) (wait.Verdict, string, error) {
	switch {
	case !j.want.Ready:
		return wait.Done, "", nil
	case !j.joined.Ready:
		j.steady = steady{}

		return wait.Again, "Node " + describe(n) + "; a Node that stays so often lacks its network (CNI)", nil
	case j.want.CloudProvider && n.ProviderID == "":
		return wait.Again, "Node " + describe(n) + "; the cloud provider has not set it", nil
	case !j.settled(n, time.Now()):
		return wait.Again, fmt.Sprintf("Node %s; it has not been Ready for %s yet", describe(n), j.want.Settle), nil
	default:
		return wait.Done, "", nil
	}
}

// settled reports whether a Node that is Ready has been so for long enough. What the Node says counts,
// and, as its clock need not be this one, what was seen here. A break shows in what the Node says even
// when nobody looked meanwhile.
func (j *joining) settled(n kube.Node, now time.Time) bool {
	if j.steady.seen.IsZero() || !n.ReadySince.Equal(j.steady.since) {
		j.steady = steady{since: n.ReadySince, seen: now}
	}

	return now.Sub(j.steady.seen) >= j.want.Settle || !n.ReadySince.IsZero() && now.Sub(n.ReadySince) >= j.want.Settle
}

// clear deletes the Nodes of earlier machines.
func (j *joining) clear(ctx context.Context, stale []kube.Node) error {
	for _, n := range stale {
		if err := j.hub.DeleteNode(ctx, n.Name); err != nil {
			return fmt.Errorf("delete the Node %s of an earlier machine (provider ID %q): %w", n.Name, n.ProviderID, err)
		}

		if !slices.Contains(j.joined.Removed, n.Name) {
			j.joined.Removed = append(j.joined.Removed, n.Name)
		}
	}

	return nil
}

// missing says what Nodes there are instead.
func (j *joining) missing(all []kube.Node) string {
	note := "the cluster has no Nodes"
	if len(all) > 0 {
		note = fmt.Sprintf("the cluster has %d Nodes: %s", len(all), list(all))
	}

	if len(j.joined.Removed) > 0 {
		note += fmt.Sprintf("; deleted before, as of an earlier machine: %s (a kubelet that had taken that Node over comes back once it is restarted)",
			strings.Join(j.joined.Removed, ", "))
	}

	return note
}

func list(all []kube.Node) string {
	parts := make([]string, 0, shown+1)

	for i, n := range all {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-shown))

			break
		}

		parts = append(parts, describe(n))
	}

	return strings.Join(parts, ", ")
}

func describe(n kube.Node) string {
	id, ready := n.ProviderID, n.Ready

	if id == "" {
		id = "no provider ID"
	}

	if ready == "" {
		ready = "not reported"
	}

	return fmt.Sprintf("%s (%s, Ready: %s)", n.Name, id, ready)
}

// Clear deletes the Nodes that earlier machines left under the names and on the hosts of the
// given ones, and returns their names. It is for the moment before a machine is deployed: a
// kubelet that finds a Node of its name takes it over, and then it is too late. What the Nodes
// contradict besides is told by [Join].
func Clear(ctx context.Context, api Workload, wants []Want, existing func(machine string) bool) ([]string, error) {
	all, err := api.Nodes(ctx)
	if err != nil {
		return nil, err
	}

	var (
		index = NewIndex(all)
		done  []string
		errs  []error
	)

	for _, w := range wants {
		stale, err := index.stale(w, existing)
		if err != nil {
			continue
		}

		j := &joining{hub: NewHub(api), want: w}
		errs = append(errs, j.clear(ctx, stale))
		done = append(done, j.joined.Removed...)
	}

	return done, errors.Join(errs...)
}
