// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"time"
)

// watch looks at all nodes of one Ironic for everybody who waits: many tests
// that asked on their own would take the time that Ironic needs to work.
type watch struct {
	far *far

	mu      sync.Mutex
	waiting int
	running bool
	nodes   map[string]node // by name
	changed chan struct{}
}

var watches sync.Map // endpoint -> *watch

func (f *far) watch() *watch {
	w, _ := watches.LoadOrStore(f.Endpoint, &watch{far: f, changed: make(chan struct{})})

	return w.(*watch)
}

// until returns true when a node is as ok asks, false when stop is closed or
// time is up. ok sees nil where there is no such node.
func (w *watch) until(name string, stop <-chan struct{}, limit time.Duration, ok func(node) bool) bool {
	w.mu.Lock()
	w.waiting++

	if !w.running {
		w.running = true
		go w.run()
	}
	w.mu.Unlock()

	defer func() {
		w.mu.Lock()
		w.waiting--
		w.mu.Unlock()
	}()

	end := time.After(limit)

	for {
		w.mu.Lock()
		changed := w.changed
		n, seen := w.nodes[name], w.nodes != nil
		w.mu.Unlock()

		if seen && ok(n) {
			return true
		}

		select {
		case <-changed:
		case <-stop:
			return false
		case <-end:
			return false
		}
	}
}

const every = 200 * time.Millisecond

func (w *watch) run() {
	for {
		w.mu.Lock()
		if w.waiting == 0 {
			w.running, w.nodes = false, nil
			w.mu.Unlock()

			return
		}
		w.mu.Unlock()

		status, answer := w.far.try(http.MethodGet, "/nodes?fields=uuid,name,provision_state,target_provision_state,power_state,target_power_state,maintenance,fault,last_error&limit=1000", nil)

		var list struct{ Nodes []node }
		if status == http.StatusOK && json.Unmarshal(answer, &list) == nil {
			all := make(map[string]node, len(list.Nodes))
			for _, n := range list.Nodes {
				all[n.text("name")] = n
			}

			w.mu.Lock()
			w.nodes = all
			close(w.changed)
			w.changed = make(chan struct{})
			w.mu.Unlock()
		}

		time.Sleep(every)
	}
}

// at returns a condition: the node is in one of these states.
func at(states ...string) func(node) bool {
	return func(n node) bool {
		for _, s := range states {
			if n != nil && stateOf(n) == s {
				return true
			}
		}

		return false
	}
}

// stateOf is a node's state as people say it: Ironic's "available" is null in old versions of its API.
func stateOf(n node) string {
	s := n.text("provision_state")
	if s == "" {
		return "available"
	}

	return s
}
