// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package record is what the lab's Ironic remembers, in the lab's store: nodes with the walks
// they are on, ports, allocations, histories, inventories, and failures to come.
package record

import (
	"encoding/json"
	"errors"
	"fmt"

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
	failuresBucket    = "ironic.failures" // to come: by node (UUID, name or "") and verb
	metaBucket        = "ironic.meta"
)

// ErrReadOnly says that a transaction that only reads came upon something that must be
// written: the request is then served again in one that may write.
var ErrReadOnly = errors.New("the lab's Ironic must write")

// Repo is the store as one transaction sees it.
type Repo struct {
	Tx     store.Tx
	Writes bool // it may write
}

// Next is a number that was not given out before.
func (r Repo) Next() (int, error) {
	var seq int
	if _, err := r.Tx.Get(metaBucket, "seq", &seq); err != nil {
		return 0, err
	}

	seq++

	return seq, r.Tx.Put(metaBucket, "seq", seq)
}

// reindex lets a key lead to a record, and the record's old key nowhere.
func (r Repo) reindex(bucket, old, key, id string) error {
	if old != "" && old != key {
		if err := r.Tx.Delete(bucket, old); err != nil {
			return err
		}
	}

	if key == "" {
		return nil
	}

	return r.Tx.Put(bucket, key, id)
}

// all are the records of a bucket.
func all[T any](r Repo, bucket string) ([]*T, error) {
	var list []*T

	err := r.Tx.Each(bucket, func(key string, raw json.RawMessage) error {
		v := new(T)
		if err := json.Unmarshal(raw, v); err != nil {
			return fmt.Errorf("lab %s: %s: %w", bucket, key, err)
		}

		list = append(list, v)

		return nil
	})

	return list, err
}
