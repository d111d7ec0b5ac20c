// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
)

// Node finds a node by UUID or name.
func (r Repo) Node(ident string) (*Node, error) {
	id := ident
	if !IsUUID(ident) {
		ok, err := r.Tx.Get(namesBucket, ident, &id)
		if err != nil {
			return nil, err
		}

		if !ok {
			return nil, fault.NotFound("Node", ident)
		}
	}

	n := &Node{}

	ok, err := r.Tx.Get(nodesBucket, id, n)
	if err != nil {
		return nil, err
	}

	if !ok {
		return nil, fault.NotFound("Node", ident)
	}

	n.Fill()

	return n, nil
}

// Nodes are all nodes in the order of their creation.
func (r Repo) Nodes() ([]*Node, error) {
	list, err := all[Node](r, nodesBucket)
	for _, n := range list {
		n.Fill()
	}

	slices.SortFunc(list, func(a, b *Node) int { return a.Seq - b.Seq })

	return list, err
}

// HasNode tells whether there is a node with this UUID.
func (r Repo) HasNode(id string) (bool, error) { return r.Tx.Get(nodesBucket, id, &Node{}) }

// NodeNamed is the UUID of the node with a name; "" where nobody has it.
func (r Repo) NodeNamed(name string) (id string, err error) {
	_, err = r.Tx.Get(namesBucket, name, &id)

	return id, err
}

// NodeOf is the UUID of the node that an instance has; "" where it has none.
func (r Repo) NodeOf(instance string) (id string, err error) {
	_, err = r.Tx.Get(instancesBucket, instance, &id)

	return id, err
}

// AddNode remembers a new node.
func (r Repo) AddNode(n *Node) (err error) {
	if n.Seq, err = r.Next(); err != nil {
		return err
	}

	return r.SaveNode(n)
}

// SaveNode remembers a node and keeps the indexes in step.
func (r Repo) SaveNode(n *Node) error {
	if !r.Writes {
		return ErrReadOnly
	}

	var old Node
	if _, err := r.Tx.Get(nodesBucket, n.UUID, &old); err != nil {
		return err
	}

	if err := r.reindex(namesBucket, old.Name, n.Name, n.UUID); err != nil {
		return err
	}

	if err := r.reindex(instancesBucket, old.InstanceUUID, n.InstanceUUID, n.UUID); err != nil {
		return err
	}

	if due := n.Due(); due.IsZero() {
		if err := r.Tx.Delete(dueBucket, n.UUID); err != nil {
			return err
		}
	} else if err := r.Tx.Put(dueBucket, n.UUID, due); err != nil {
		return err
	}

	return r.Tx.Put(nodesBucket, n.UUID, n)
}

// ForgetNode removes a node and everything that hangs on it.
func (r Repo) ForgetNode(n *Node) error {
	for _, id := range slices.Clone(n.Ports) {
		if err := r.DropPort(id); err != nil {
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

		if err := r.Tx.Delete(k[0], k[1]); err != nil {
			return err
		}
	}

	return nil
}

// Overdue are the nodes that have something to do by now.
func (r Repo) Overdue(now time.Time) ([]string, error) {
	var ids []string

	err := r.Tx.Each(dueBucket, func(id string, raw json.RawMessage) error {
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
