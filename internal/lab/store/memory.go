// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// memoryTx is a transaction on values in memory: what changed is kept aside until commit.
type memoryTx struct {
	old, changed map[string]map[string][]byte // a nil value in changed means deleted
}

func (t *memoryTx) Get(bucket, key string, v any) (bool, error) {
	raw, ok := t.changed[bucket][key]
	if !ok {
		raw, ok = t.old[bucket][key]
	}

	if !ok || raw == nil {
		return false, nil
	}

	return true, decode(bucket, key, raw, v)
}

func (t *memoryTx) Put(bucket, key string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("lab memory: %s/%s: %w", bucket, key, err)
	}

	t.set(bucket, key, raw)

	return nil
}

func (t *memoryTx) Delete(bucket, key string) error {
	t.set(bucket, key, nil)

	return nil
}

func (t *memoryTx) set(bucket, key string, raw []byte) {
	if t.changed[bucket] == nil {
		t.changed[bucket] = map[string][]byte{}
	}

	t.changed[bucket][key] = raw
}

func (t *memoryTx) Each(bucket string, f func(string, json.RawMessage) error) error {
	all := maps.Clone(t.old[bucket])
	if all == nil {
		all = map[string][]byte{}
	}

	maps.Copy(all, t.changed[bucket])

	for _, key := range slices.Sorted(maps.Keys(all)) {
		if all[key] == nil {
			continue
		}

		if err := f(key, all[key]); err != nil {
			return err
		}
	}

	return nil
}

func (t *memoryTx) commit() {
	for bucket, values := range t.changed {
		if t.old[bucket] == nil {
			t.old[bucket] = map[string][]byte{}
		}

		for key, raw := range values {
			if raw == nil {
				delete(t.old[bucket], key)
			} else {
				t.old[bucket][key] = raw
			}
		}
	}
}
