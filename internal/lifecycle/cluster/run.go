// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/claim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Far is the service that owns the hosts: machines are provisioned and claimed there.
type Far interface {
	host.Backend
	claim.Far
}

// Run is one verb on one cluster. It is made for that and not used again.
type Run struct {
	Far    Far
	Wanted Wanted
	Budget *wait.Budget // stopped while machines wait at the capacity gate; may be nil

	// Access says how the cluster's own API server is reached. It is used at the first need: there is
	// no such server before the first machine runs.
	Access Access
	// Workload takes the place of Access; for tests, and for ways that it does not know.
	Workload func(ctx context.Context) (nodes.Workload, error)
	// ReadFile reads a file on a machine's operating system; nil: there is no connection.
	ReadFile func(ctx context.Context, machine Machine, path string) ([]byte, error)
	// Dial reaches the endpoint; nil: the network.
	Dial dialer
	// Etcd reaches the members of a stacked etcd on a machine; nil: nobody can.
	Etcd func(ctx context.Context, machine Machine) (nodes.Etcd, error)
	// Hook runs a command on a machine's operating system; nil: there is no connection.
	Hook func(ctx context.Context, machine Machine, hook Hook) error

	// Log tells what happens. It may be nil.
	Log func(ctx context.Context, text string)
}

// worker is what one run knows.
type worker struct {
	*Run

	pools map[string]addresses.Compiled

	mu       sync.Mutex
	hosts    map[string]host.Seen         // by UUID, as the last list showed them
	members  map[string]*member           // by name of the machine
	board    map[string]posted            // by machine
	foreign  map[string]map[string]string // pool -> address of another cluster's machine -> its claim
	api      nodes.Workload               // once it was reached
	states   map[string]nodes.State       // by machine, as the last question showed its Node
	warnings []Warning

	claiming wait.Places // hosts are chosen one after the other
	slots    wait.Places // for deployments
	leaving  wait.Places // for the end of deployments

	kubeconfig, ca string
}

// member is one machine in this run.
type member struct {
	Slot

	pool      Pool
	want      string       // hash of what it is to be made from
	known     bool         // it was in the state, or on the far side, before this run
	unwanted  bool         // it is to go
	seen      host.Seen    // its host; no record where it has none
	note      host.Tenancy // what it says there
	kind      claim.Kind
	record    Machine  // as it was, and as it comes out
	data      *data    // what it is deployed with; nil: not rendered
	failed    int      // hosts that failed it in this run
	avoid     []string // their ids
	err       error
	joined    bool
	staleKeys bool   // it was made with keys that are lost
	gone      bool   // nothing of it is left, and nobody wants it
	node      string // of its Node, where the control plane was asked; the record has only what the apply waits for
	remedy    *Remedy
	boot      string // of its Node, before it was switched off; empty: not known
}

func (r *Run) worker(was Record) *worker {
	w := &worker{
		Run: r, hosts: map[string]host.Seen{}, members: map[string]*member{}, board: map[string]posted{}, foreign: map[string]map[string]string{},
		claiming: make(wait.Places, 1),
		slots:    make(wait.Places, max(r.Wanted.Parallel.Provision, 1)), leaving: make(wait.Places, max(r.Wanted.Parallel.Deprovision, 1)),
		kubeconfig: was.Kubeconfig, ca: was.ClusterCA,
	}

	for name, m := range was.Machines {
		w.members[name] = &member{Slot: Slot{Name: name, Pool: m.Pool, Role: m.Role, Index: m.Index, ClaimID: m.ClaimID}, known: true, record: m}
	}

	return w
}

// enlist makes a machine that there is not yet a member.
func (w *worker) enlist(s Slot) *member {
	m := &member{Slot: s, record: Machine{Name: s.Name, Pool: s.Pool, Role: s.Role, Index: s.Index, ClaimID: s.ClaimID}}
	w.shape(m)

	w.mu.Lock()
	defer w.mu.Unlock()

	w.members[s.Name] = m

	return m
}

// dismiss takes a machine back that never had a host.
func (w *worker) dismiss(m *member) {
	w.mu.Lock()
	defer w.mu.Unlock()

	delete(w.members, m.Name)
	delete(w.board, m.Name)
}

// shape gives a member the pool that it is made by, and reports whether that is still configured.
// Where it is not, the member leaves by what the pool was.
func (w *worker) shape(m *member) bool {
	p, ok := w.Wanted.pool(m.Pool)
	if ok {
		m.pool, m.want = p, w.Wanted.TemplateHash(p, m.Name)

		return true
	}

	if at := slices.IndexFunc(w.Wanted.Former, func(p Pool) bool { return p.Name == m.Pool }); at >= 0 {
		m.pool = w.Wanted.Former[at]
	}

	return false
}

func (w *worker) log(ctx context.Context, text string) {
	if w.Log != nil {
		w.Log(ctx, text)
	}
}

func (w *worker) warn(summary, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.warnings = append(w.warnings, Warning{summary, detail})
}

// now is the time as notes and the state have it.
func now() string { return time.Now().UTC().Format(time.RFC3339) }
