// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	hosts "github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/onironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// provider is what a process of the provider has of its own: a client, its lists, its locks.
func provider(t *testing.T, endpoint string) (*ironic.Client, *onironic.Backend) {
	t.Helper()

	c, err := ironic.New(ironic.Config{Endpoint: endpoint})
	if err != nil {
		t.Fatal(err)
	}

	return c, onironic.New(c)
}

// fakePool enrols hosts of the fake hardware type that can be claimed, every third of them
// without a resource class: no allocation can have such a one.
func fakePool(t *testing.T, c *ironic.Client, n int) []string {
	t.Helper()

	var (
		ids   []string
		class = "pool-" + uuid.NewString()[:8]
	)

	for i := range n {
		create := ironic.Create{Driver: "fake-hardware", Name: fmt.Sprintf("%s-%d", class, i), ResourceClass: class}
		if i%3 == 2 {
			create.ResourceClass = ""
		}

		node, err := c.CreateNode(t.Context(), create)
		if err != nil {
			t.Fatal(err)
		}

		ids = append(ids, node.UUID)
		t.Cleanup(func() { forgetNode(t, c, node.UUID) })
		rest(t, c, node.UUID, ironic.Manageable, c.Provision(t.Context(), node.UUID, ironic.Provision{Target: ironic.VerbManage}))
		rest(t, c, node.UUID, ironic.Available, c.Provision(t.Context(), node.UUID, ironic.Provision{Target: ironic.VerbProvide}))
		rest(t, c, node.UUID, ironic.Available, c.SetPower(t.Context(), node.UUID, ironic.PowerOff, 0))
	}

	return ids
}

func forgetNode(t *testing.T, c *ironic.Client, id string) {
	t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	_ = c.SetMaintenance(ctx, id, "its test is over")

	if err := c.DeleteNode(ctx, id); err != nil && !ironic.IsGone(err) {
		t.Errorf("node %s stays: %v", id, err)
	}
}

// rest waits for a state in which nothing is under way.
func rest(t *testing.T, c *ironic.Client, id string, want ironic.State, err error) {
	t.Helper()

	if err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	err = wait.Until(ctx, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		g, err := c.Glance(ctx, id)
		if err == nil && g.ProvisionState == want && g.TargetProvisionState == "" && g.TargetPowerState == "" && g.Reservation == "" {
			return wait.Done, "", nil
		}

		return wait.Again, string(g.ProvisionState), err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestOCL01_hostsAreDisjointOnRealIronic: two providers with a cluster each claim from one pool
// at the same time, more machines than there are hosts, over and over.
func TestOCL01_hostsAreDisjointOnRealIronic(t *testing.T) {
	t.Parallel()

	for name, part := range map[string]func(*testing.T) acctest.Real{"current": acctest.Ironic, "oldest": acctest.IronicOld} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := part(t)
			c, _ := provider(t, r.Endpoint)
			ids := fakePool(t, c, 5)

			for round := range 6 {
				claimRound(t, r.Endpoint, ids, fmt.Sprintf("%s-%d", uuid.NewString()[:8], round))
			}

			for _, id := range ids {
				if n, err := c.Node(t.Context(), id); err != nil || n.InstanceUUID != "" || n.AllocationUUID != "" || n.InstanceInfo[hosts.TenancyKey] != nil {
					t.Errorf("node %s is left with claim %q, allocation %q, instance_info %v: %v", id, n.InstanceUUID, n.AllocationUUID, n.InstanceInfo, err)
				}
			}
		})
	}
}

// claimRound is one apply of two clusters, and their destruction.
func claimRound(t *testing.T, endpoint string, ids []string, suffix string) {
	t.Helper()

	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		got  = map[string]string{}
		none int
	)

	for _, cluster := range []string{"a" + suffix, "b" + suffix} {
		_, far := provider(t, endpoint)

		all, err := far.All(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		all = slices.DeleteFunc(all, func(s hosts.Seen) bool { return !slices.Contains(ids, s.Node.UUID) })

		for i := range 3 {
			r := claim.Request{Namespace: "race", Cluster: cluster, Machine: fmt.Sprintf("m-%d", i), Candidates: slices.Clone(all)}
			r.ID = hosts.MachineClaim(r.Namespace, r.Cluster, r.Machine)
			rand.Shuffle(len(all), func(i, j int) { r.Candidates[i], r.Candidates[j] = r.Candidates[j], r.Candidates[i] })

			wg.Go(func() {
				g, refused, err := claim.Acquire(t.Context(), far, r)

				mu.Lock()
				defer mu.Unlock()

				switch {
				case errors.Is(err, claim.ErrNoHost) && len(refused) == len(ids):
					none++
				case err != nil:
					t.Errorf("%s of %s: %v", r.Machine, cluster, err)
				case got[g.Host.Node.UUID] != "":
					t.Errorf("host %s is claimed by %s and %s", g.Host.Node.Name, got[g.Host.Node.UUID], r.ID)
				default:
					got[g.Host.Node.UUID] = r.ID
				}
			})
		}
	}

	wg.Wait()

	if len(got)+none != 6 || none < 6-len(ids) {
		t.Errorf("%d machines have a host and %d have none", len(got), none)
	}

	released := 0

	for _, cluster := range []string{"a" + suffix, "b" + suffix} {
		_, far := provider(t, endpoint)

		found, err := claim.Leftover(t.Context(), far, "race", cluster)
		if err != nil {
			t.Fatal(err)
		}

		for _, f := range found {
			if got[f.HostID] != f.ID || f.Note["machine"] != f.Machine {
				t.Errorf("found %+v", f)
			}

			if err := claim.Release(t.Context(), far, f.ID, f.Host); err != nil {
				t.Error(err)
			}

			released++
		}

		far.Forget()

		if left, err := claim.Leftover(t.Context(), far, "race", cluster); err != nil || len(left) != 0 {
			t.Errorf("left over: %+v, %v", left, err)
		}
	}

	if released != len(got) {
		t.Errorf("%d claims were found, %d were made", released, len(got))
	}
}
