// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package record

import "time"

// Event is an entry of a node's history.
type Event struct {
	UUID string    `json:"uuid"`
	At   time.Time `json:"at"`
	Type string    `json:"type"`
	Text string    `json:"text"`
}

// Note adds an entry to a node's history.
func (r Repo) Note(n *Node, kind, what string, at time.Time) error {
	all, err := r.History(n)
	if err != nil {
		return err
	}

	return r.Tx.Put(historyBucket, n.UUID, append(all, Event{UUID: NewUUID(), At: at, Type: kind, Text: what}))
}

// History are the entries of a node's history, the oldest first.
func (r Repo) History(n *Node) (all []Event, err error) {
	_, err = r.Tx.Get(historyBucket, n.UUID, &all)

	return all, err
}

// Inventory is what an inspection leaves.
type Inventory struct {
	Inventory  map[string]any `json:"inventory"`
	PluginData map[string]any `json:"plugin_data"`
}

// KeepInventory remembers what an inspection found.
func (r Repo) KeepInventory(n *Node, found Inventory) error {
	return r.Tx.Put(inventoryBucket, n.UUID, found)
}

// Inventory is what the last inspection of a node found, if there was one.
func (r Repo) Inventory(n *Node) (found Inventory, ok bool, err error) {
	ok, err = r.Tx.Get(inventoryBucket, n.UUID, &found)

	return found, ok, err
}
