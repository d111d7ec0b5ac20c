// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// The buckets of the lab's Ironic.
const (
	nodesBucket       = "ironic.nodes"
	namesBucket       = "ironic.names"     // name -> node
	instancesBucket   = "ironic.instances" // instance_uuid -> node
	dueBucket         = "ironic.due"       // node -> when it changes by itself
	portsBucket       = "ironic.ports"
	macsBucket        = "ironic.macs" // address -> port
	allocationsBucket = "ironic.allocations"
	inventoryBucket   = "ironic.inventory"
	historyBucket     = "ironic.history"
	metaBucket        = "ironic.meta"
)

// errReadOnly says that a transaction that only reads came upon something that must be
// written: the request is then served again in one that may write.
var errReadOnly = errors.New("the lab's Ironic must write")

// repo is the store as one transaction sees it.
type repo struct {
	tx    store.Tx
	write bool
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$`)

// isUUID tells what Ironic takes for a UUID.
func isUUID(s string) bool { return uuidPattern.MatchString(s) }

// next is a number that was not given out before.
func (r repo) next() (int, error) {
	var seq int
	if _, err := r.tx.Get(metaBucket, "seq", &seq); err != nil {
		return 0, err
	}

	seq++

	return seq, r.tx.Put(metaBucket, "seq", seq)
}

// node finds a node by UUID or name.
func (r repo) node(ident string) (*node, error) {
	id := ident
	if !isUUID(ident) {
		ok, err := r.tx.Get(namesBucket, ident, &id)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, notFound("Node", ident)
		}
	}

	n := &node{}

	ok, err := r.tx.Get(nodesBucket, id, n)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, notFound("Node", ident)
	}

	n.fill()

	return n, nil
}

// nodes are all nodes in the order of their creation.
func (r repo) nodes() ([]*node, error) {
	var all []*node

	err := r.tx.Each(nodesBucket, func(key string, raw json.RawMessage) error {
		n := &node{}
		if err := json.Unmarshal(raw, n); err != nil {
			return fmt.Errorf("lab ironic: node %s: %w", key, err)
		}

		n.fill()
		all = append(all, n)

		return nil
	})

	slices.SortFunc(all, func(a, b *node) int { return a.Seq - b.Seq })

	return all, err
}

// save remembers a node and keeps the indexes in step.
func (r repo) save(n *node) error {
	if !r.write {
		return errReadOnly
	}

	var old node
	if _, err := r.tx.Get(nodesBucket, n.UUID, &old); err != nil {
		return err
	}

	if err := r.reindex(namesBucket, old.Name, n.Name, n.UUID); err != nil {
		return err
	}

	if err := r.reindex(instancesBucket, old.InstanceUUID, n.InstanceUUID, n.UUID); err != nil {
		return err
	}

	if due := n.due(); due.IsZero() {
		if err := r.tx.Delete(dueBucket, n.UUID); err != nil {
			return err
		}
	} else if err := r.tx.Put(dueBucket, n.UUID, due); err != nil {
		return err
	}

	return r.tx.Put(nodesBucket, n.UUID, n)
}

func (r repo) reindex(bucket, old, key, id string) error {
	if old != "" && old != key {
		if err := r.tx.Delete(bucket, old); err != nil {
			return err
		}
	}

	if key == "" {
		return nil
	}

	return r.tx.Put(bucket, key, id)
}

// forget removes a node and everything that hangs on it.
func (r repo) forget(n *node) error {
	for _, id := range slices.Clone(n.Ports) {
		if err := r.dropPort(id); err != nil {
			return err
		}
	}

	keys := [][2]string{
		{nodesBucket, n.UUID},
		{dueBucket, n.UUID},
		{inventoryBucket, n.UUID},
		{historyBucket, n.UUID},
		{namesBucket, n.Name},
		{instancesBucket, n.InstanceUUID},
		{allocationsBucket, n.AllocationUUID},
	}

	for _, k := range keys {
		if k[1] == "" {
			continue
		}

		if err := r.tx.Delete(k[0], k[1]); err != nil {
			return err
		}
	}

	return nil
}

// overdue are the nodes that have something to do by now.
func (r repo) overdue(now time.Time) ([]string, error) {
	var ids []string

	err := r.tx.Each(dueBucket, func(id string, raw json.RawMessage) error {
		var due time.Time
		if err := json.Unmarshal(raw, &due); err != nil {
			return fmt.Errorf("lab ironic: due time of %s: %w", id, err)
		}

		if !now.Before(due) {
			ids = append(ids, id)
		}

		return nil
	})

	return ids, err
}

// event is an entry of a node's history.
type event struct {
	UUID string    `json:"uuid"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
	Text string    `json:"text"`
}

// record adds an entry to a node's history.
func (r repo) record(n *node, kind, what string, at time.Time) error {
	var all []event
	if _, err := r.tx.Get(historyBucket, n.UUID, &all); err != nil {
		return err
	}

	return r.tx.Put(historyBucket, n.UUID, append(all, event{UUID: newUUID(), At: at, Type: kind, Text: what}))
}
