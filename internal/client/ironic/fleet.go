// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// DefaultMaxAge is how old an answer of a Fleet may be.
	DefaultMaxAge = 10 * time.Second

	// company is how long a reader waits for others before it asks for its node alone.
	company = 200 * time.Millisecond

	// solos is how many nodes are asked for alone within the age of a list; the next reader
	// fetches the list. It is for -parallelism=1, where readers never meet.
	solos = 3

	// sulk is how long a list that could not be fetched is not asked for again: 500
	// readers of a dead Ironic must not wait for it one after the other.
	sulk = 5 * time.Second

	// fetchLimit ends a fetch that no reader can end.
	fetchLimit = 5 * time.Minute
)

// Fleet answers the reads of a refresh from one list.
//
// A refresh reads every host of the state at almost the same time. One GET each would
// cost two requests a host; a Fleet asks for pages of nodes and pages of ports. Only reads
// use it: waits and writes look at the node itself, and a write calls [Fleet.Forget].
// What it returns is shared among readers and must not be changed.
type Fleet struct {
	client *Client
	maxAge time.Duration

	mu     sync.Mutex
	calm   time.Duration // how old an answer may be as long as nothing was written
	kept   *roster
	batch  *batch
	alone  []time.Time         // when nodes were asked for alone
	gone   map[string]struct{} // nodes that Ironic itself said are not there
	failed error
	until  time.Time // failed counts until then
}

// roster is a list with its ports. Nodes keep the order of Ironic.
type roster struct {
	at    time.Time
	nodes []Node
	index map[string]int
	ports map[string][]Port
}

// batch is a group of readers that one fetch answers.
type batch struct {
	ids  map[string]struct{}
	list bool               // a list is wanted, however few the readers are
	full context.CancelFunc // ends the wait for company
	shut bool               // the fetch has begun
	done chan struct{}

	roster *roster // the answer of a list …
	node   Node    // … or of a node alone
	ports  []Port
	err    error
}

// NewFleet makes a Fleet on a client. A maxAge of 0 means [DefaultMaxAge].
func NewFleet(c *Client, maxAge time.Duration) *Fleet {
	if maxAge <= 0 {
		maxAge = DefaultMaxAge
	}

	return &Fleet{client: c, maxAge: maxAge, gone: map[string]struct{}{}}
}

// Calm lets the list answer for nodes longer than its age allows, until the first
// [Fleet.Forget]: a refresh of a thousand hosts on a busy machine takes longer than that, and
// is one look at one moment all the same.
func (f *Fleet) Calm(age time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.calm = age
}

// Node returns a node and its ports, from a list where others read at the same time. A
// node that the list lacks is asked for alone: only Ironic's own 404 is [ErrNotFound].
func (f *Fleet) Node(ctx context.Context, uuid string) (Node, []Port, error) {
	b, err := f.join(ctx, uuid)
	if err != nil {
		return Node{}, nil, err
	}

	switch {
	case b.roster != nil:
		if at, ok := b.roster.index[uuid]; ok {
			f.seen(uuid)

			return b.roster.nodes[at], b.roster.ports[uuid], nil
		}

		n, ports, err := f.single(ctx, uuid)

		return n, ports, f.confirm(uuid, err)
	case b.err != nil:
		return Node{}, nil, f.confirm(uuid, b.err)
	default:
		f.seen(uuid)

		return b.node, b.ports, nil
	}
}

// All returns the nodes of the list, which is fetched where there is none, and their ports by
// UUID of the node.
func (f *Fleet) All(ctx context.Context) ([]Node, map[string][]Port, error) {
	b, err := f.join(ctx, "")
	if err != nil {
		return nil, nil, err
	}

	if b.err != nil {
		return nil, nil, b.err
	}

	return b.roster.nodes, b.roster.ports, nil
}

// Missing returns how many of the nodes that were read Ironic says are not there. When
// there are several, and [Fleet.All] shows none of ours, it is likely to be another Ironic.
// A node that turns up again does not count any more.
func (f *Fleet) Missing() int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return len(f.gone)
}

// Forget drops the list. Call it after a write: later readers get newer answers.
func (f *Fleet) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.kept, f.batch, f.failed, f.alone, f.calm = nil, nil, nil, nil, 0
}

// join returns the batch that answers the reader. An empty id asks for the whole list.
func (f *Fleet) join(ctx context.Context, id string) (*batch, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("read nodes: %w", context.Cause(ctx))
	}

	f.mu.Lock()

	now, age := time.Now(), f.maxAge
	if id != "" {
		age = max(age, f.calm) // who asks for all asks for what is there now
	}

	if f.kept != nil && now.Sub(f.kept.at) >= age {
		f.kept = nil
	}

	if f.kept != nil {
		defer f.mu.Unlock()

		return &batch{roster: f.kept}, nil
	}

	if f.failed != nil && now.Before(f.until) {
		defer f.mu.Unlock()

		return &batch{err: f.failed}, nil
	}

	b := f.enter(ctx, id, now)
	f.mu.Unlock()

	select {
	case <-b.done:
		return b, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("read nodes: %w", context.Cause(ctx))
	}
}

// enter adds a reader to the batch that is open. Those who come while a list is being
// fetched are answered by it; those who come while one node is fetched begin a new batch.
func (f *Fleet) enter(ctx context.Context, id string, now time.Time) *batch {
	b := f.batch
	if b == nil || (b.shut && !b.list) {
		b = &batch{ids: map[string]struct{}{}, done: make(chan struct{})}
		f.batch = b

		for len(f.alone) > 0 && now.Sub(f.alone[0]) >= f.maxAge {
			f.alone = f.alone[1:]
		}

		b.list = len(f.alone) >= solos

		pause, full := context.WithCancel(context.WithoutCancel(ctx))
		b.full = full

		go f.fetch(context.WithoutCancel(ctx), pause, b)
	}

	b.ids[id] = struct{}{}
	b.list = b.list || id == "" || len(b.ids) > 1

	if b.list {
		b.full()
	}

	return b
}

// fetch answers a batch. It goes on when a reader leaves: others may wait for it.
func (f *Fleet) fetch(ctx, pause context.Context, b *batch) {
	_ = wait.Sleep(pause, company) // ends early when there is company

	f.mu.Lock()
	b.shut = true
	whole := b.list
	began := time.Now()

	var only string
	for id := range b.ids {
		only = id
	}
	f.mu.Unlock()
	b.full()

	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()

	if whole {
		b.roster, b.err = f.roster(ctx, began)
	} else {
		b.node, b.ports, b.err = f.single(ctx, only)
	}

	f.mu.Lock()
	if f.batch == b { // else a write made it old
		f.batch = nil

		switch {
		case !whole:
			f.alone = append(f.alone, time.Now())
		case b.err == nil:
			f.kept, f.failed, f.alone = b.roster, nil, nil
		default:
			f.failed, f.until = b.err, time.Now().Add(min(sulk, f.maxAge))
		}
	}
	f.mu.Unlock()

	close(b.done)
}

// roster fetches all nodes and all ports, both at once. Its age counts from the
// beginning of the fetch.
func (f *Fleet) roster(ctx context.Context, at time.Time) (*roster, error) {
	var (
		nodes []Node
		ports []Port
		errs  [2]error
	)

	both(
		func() { nodes, errs[0] = f.client.Nodes(ctx) },
		func() { ports, errs[1] = f.client.Ports(ctx) },
	)

	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}

	r := &roster{at: at, nodes: nodes, index: make(map[string]int, len(nodes)), ports: make(map[string][]Port, len(nodes))}
	for i, n := range nodes {
		r.index[n.UUID] = i
	}

	for _, p := range ports {
		r.ports[p.NodeUUID] = append(r.ports[p.NodeUUID], p)
	}

	return r, nil
}

// single fetches one node and its ports.
func (f *Fleet) single(ctx context.Context, uuid string) (Node, []Port, error) {
	var (
		node  Node
		ports []Port
		errs  [2]error
	)

	both(
		func() { node, errs[0] = f.client.Node(ctx, uuid) },
		func() { ports, errs[1] = f.client.NodePorts(ctx, uuid) },
	)

	for _, err := range errs {
		if err != nil {
			return Node{}, nil, err
		}
	}

	return node, ports, nil
}

func both(one, other func()) {
	done := make(chan struct{})

	go func() {
		defer close(done)

		other()
	}()

	one()
	<-done
}

// seen takes a node off the missing.
func (f *Fleet) seen(uuid string) {
	f.mu.Lock()
	defer f.mu.Unlock()

	delete(f.gone, uuid)
}

// confirm counts a node that is gone.
func (f *Fleet) confirm(uuid string, err error) error {
	switch {
	case IsGone(err):
		f.mu.Lock()
		defer f.mu.Unlock()

		f.gone[uuid] = struct{}{}
	case err == nil:
		f.seen(uuid)
	}

	return err
}
