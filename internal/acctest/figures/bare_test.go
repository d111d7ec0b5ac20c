// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
)

// bare is what a script does that knows nothing but the way: the same verbs, all hosts in
// parallel, one list each half second for all.
type bare struct {
	endpoint string
	image    string

	mu     sync.Mutex
	states map[string]seenState
}

type seenState struct {
	UUID        string `json:"uuid"`
	State       string `json:"provision_state"`
	Power       string `json:"power_state"`
	Reservation string `json:"reservation"`
}

// bareRun brings hosts to active and powered on, and returns how long that took.
func bareRun(t *testing.T, endpoint, image string, hosts int) (time.Duration, []string) {
	t.Helper()

	b := &bare{endpoint: endpoint, image: image, states: map[string]seenState{}}

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()

	var (
		work  sync.WaitGroup
		nodes = make([]string, hosts)
		errs  = make([]error, hosts)
		start = time.Now()
	)

	watch, stop := context.WithCancel(ctx)
	defer stop()

	go b.watch(watch)

	for i := range hosts {
		nodes[i] = uuid.NewString()

		work.Go(func() {
			errs[i] = b.life(ctx, nodes[i], fmt.Sprintf("bare-%d", i), fmt.Sprintf("52:54:01:00:00:%02x", i))
		})
	}

	work.Wait()

	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}

	return time.Since(start), nodes
}

type object = map[string]any

// life is all that one host needs.
func (b *bare) life(ctx context.Context, id, name, mac string) error {
	steps := []func() error{
		func() error {
			return b.send(ctx, http.MethodPost, "nodes", object{
				"uuid": id, "name": name, "driver": "fake-hardware", "automated_clean": false, "driver_info": object{},
				"properties": object{"capabilities": "boot_mode:uefi"},
			})
		},
		func() error {
			return b.send(ctx, http.MethodPost, "ports", object{"node_uuid": id, "address": mac, "pxe_enabled": true})
		},
		func() error { return b.verb(ctx, id, object{"target": "manage"}) },
		func() error { return b.until(ctx, id, "manageable", "") },
		func() error { return b.verb(ctx, id, object{"target": "provide"}) },
		func() error { return b.until(ctx, id, "available", "") },
		func() error {
			var ops []object
			info := object{"image_source": b.image, "image_os_hash_algo": "sha256", "image_os_hash_value": "b5bb9d80", "image_disk_format": "raw"}
			for key, v := range info {
				ops = append(ops, object{"op": "add", "path": "/instance_info/" + key, "value": v})
			}

			return b.send(ctx, http.MethodPatch, "nodes/"+id, ops)
		},
		func() error {
			return b.verb(ctx, id, object{"target": "active", "configdrive": object{"user_data": "#cloud-config\n"}})
		},
		func() error { return b.until(ctx, id, "active", "") },
		func() error {
			return b.send(ctx, http.MethodPut, "nodes/"+id+"/states/power", object{"target": "power on"})
		},
		func() error { return b.until(ctx, id, "active", "power on") },
	}

	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}

	return nil
}

func (b *bare) verb(ctx context.Context, id string, body object) error {
	return b.send(ctx, http.MethodPut, "nodes/"+id+"/states/provision", body)
}

// send sends a request, again where a lock refused it.
func (b *bare) send(ctx context.Context, method, path string, body any) error {
	for {
		status, answer, err := b.ask(ctx, method, path, body)

		switch {
		case err != nil:
			return err
		case status == http.StatusConflict:
			time.Sleep(500 * time.Millisecond)
		case status >= http.StatusBadRequest:
			return fmt.Errorf("%s %s: %d %s", method, path, status, answer)
		default:
			return nil
		}
	}
}

func (b *bare) ask(ctx context.Context, method, path string, body any) (int, []byte, error) {
	doc, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}

	req, err := http.NewRequestWithContext(ctx, method, b.endpoint+"/v1/"+path, bytes.NewReader(doc))
	if err != nil {
		return 0, nil, err
	}

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Openstack-Ironic-Api-Version", "1.96")

	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()

	answer, err := io.ReadAll(resp.Body)

	return resp.StatusCode, answer, err
}

// watch looks at all hosts each half second.
func (b *bare) watch(ctx context.Context) {
	for ctx.Err() == nil {
		_, answer, err := b.ask(ctx, http.MethodGet, "nodes?include_children=true&fields=uuid,provision_state,power_state,reservation", nil)

		var page struct{ Nodes []seenState }
		if err == nil && json.Unmarshal(answer, &page) == nil {
			b.mu.Lock()
			for _, n := range page.Nodes {
				b.states[n.UUID] = n
			}
			b.mu.Unlock()
		}

		time.Sleep(500 * time.Millisecond)
	}
}

// until waits for a state, and for a power state where one is named.
func (b *bare) until(ctx context.Context, id, state, power string) error {
	for {
		b.mu.Lock()
		n := b.states[id]
		b.mu.Unlock()

		if n.State == state && (power == "" || n.Power == power) {
			return nil
		}

		if ctx.Err() != nil {
			return fmt.Errorf("node %s is %s, wanted %s: %w", id, n.State, state, ctx.Err())
		}

		time.Sleep(20 * time.Millisecond)
	}
}

// bareEnd removes what a run made.
func bareEnd(t *testing.T, endpoint string, nodes []string) {
	t.Helper()

	b := &bare{endpoint: endpoint}

	var work sync.WaitGroup

	for _, id := range nodes {
		work.Go(func() {
			_ = b.send(t.Context(), http.MethodPut, "nodes/"+id+"/maintenance", object{"reason": "the end"})

			if err := b.send(t.Context(), http.MethodDelete, "nodes/"+id, nil); err != nil {
				t.Error(err)
			}
		})
	}

	work.Wait()
}
