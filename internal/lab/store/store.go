// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package store is the memory of the lab: named buckets of JSON values in one file.
//
// The file is opened per transaction and committed before the transaction returns,
// because one Terraform command runs several provider processes that share the file,
// overlap, and are killed two seconds after they are asked to stop.
package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
)

// openTimeout bounds the wait for another process that holds the file.
const openTimeout = 30 * time.Second

// Store is the lab's memory: a file, or this process's memory where the path is empty.
type Store struct {
	path string
	mu   sync.Mutex                   // one transaction at a time in this process
	mem  map[string]map[string][]byte // used where path is empty
}

// New returns a store that keeps its values in the file at path; an empty path keeps
// them in memory. Nothing is opened before the first transaction.
func New(path string) *Store {
	return &Store{path: path, mem: map[string]map[string][]byte{}}
}

// Tx is one transaction. It is valid only inside the function that received it.
type Tx interface {
	// Get decodes the value at bucket and key into v; false means that there is none.
	Get(bucket, key string, v any) (bool, error)
	// Put stores v as JSON.
	Put(bucket, key string, v any) error
	// Delete forgets a key; a key that is not there is no error.
	Delete(bucket, key string) error
	// Each calls f for all keys of a bucket in ascending order. f must not write to the bucket.
	Each(bucket string, f func(key string, raw json.RawMessage) error) error
}

// Update runs f in a transaction that may write; an error of f undoes all of it.
func (s *Store) Update(f func(Tx) error) error { return s.run(true, f) }

// View runs f in a transaction that only reads.
func (s *Store) View(f func(Tx) error) error { return s.run(false, f) }

func (s *Store) run(write bool, f func(Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.path == "" {
		tx := &memoryTx{old: s.mem, changed: map[string]map[string][]byte{}}
		if err := f(tx); err != nil {
			return err
		}

		if write {
			tx.commit()
		}

		return nil
	}

	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("lab memory: %w", err)
	}

	// NoSync: what has been written survives the end of a process, which is what the lab
	// promises; surviving the end of the machine would cost a disk flush per request.
	db, err := bolt.Open(s.path, 0o600, &bolt.Options{Timeout: openTimeout, NoSync: true, NoFreelistSync: true})
	if err != nil {
		return fmt.Errorf("lab memory %s: %w", s.path, err)
	}
	defer db.Close()

	if write {
		return db.Update(func(tx *bolt.Tx) error { return f(fileTx{tx}) })
	}

	return db.View(func(tx *bolt.Tx) error { return f(fileTx{tx}) })
}

type fileTx struct{ tx *bolt.Tx }

func (t fileTx) Get(bucket, key string, v any) (bool, error) {
	b := t.tx.Bucket([]byte(bucket))
	if b == nil {
		return false, nil
	}

	raw := b.Get([]byte(key))
	if raw == nil {
		return false, nil
	}

	return true, decode(bucket, key, raw, v)
}

func (t fileTx) Put(bucket, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("lab memory: %s/%s: %w", bucket, key, err)
	}

	b, err := t.tx.CreateBucketIfNotExists([]byte(bucket))
	if err != nil {
		return fmt.Errorf("lab memory: %s: %w", bucket, err)
	}

	return b.Put([]byte(key), raw)
}

func (t fileTx) Delete(bucket, key string) error {
	b := t.tx.Bucket([]byte(bucket))
	if b == nil {
		return nil
	}

	return b.Delete([]byte(key))
}

func (t fileTx) Each(bucket string, f func(string, json.RawMessage) error) error {
	b := t.tx.Bucket([]byte(bucket))
	if b == nil {
		return nil
	}

	return b.ForEach(func(k, v []byte) error { return f(string(k), slices.Clone(v)) })
}

func decode(bucket, key string, raw []byte, v any) error {
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("lab memory: %s/%s: %w", bucket, key, err)
	}

	return nil
}
