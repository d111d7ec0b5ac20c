// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package agent plays the deployment ramdisk for machines that stand behind a real Ironic.
//
// When a machine boots a medium or the network, the Runner looks for a kernel command line in
// what Ironic prepared; if that asks for an agent, one starts: it sends the inventory, looks
// its node up, beats, and serves the command API over TLS. Real conductors need somebody who
// calls by himself, so unlike the rest of the lab this package has goroutines, one per machine
// and one per agent. What they must not forget is in the store: a Runner that is killed and
// started again finds the machines that should be running an agent and boots them again.
package agent

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Options are how the agents behave, and where machines boot from the network.
type Options struct {
	Netboot   string        // base URL of Ironic's http_root; empty: network boots find nobody
	Heartbeat time.Duration // between heartbeats
	StepDelay time.Duration // that an asynchronous command takes
	Log       *slog.Logger  // nil: silent
}

// Runner watches machines and runs their agents.
type Runner struct {
	store  *store.Store
	o      Options
	client *http.Client
	log    *slog.Logger

	ctx    context.Context // the life of all goroutines; Close ends it
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu       sync.Mutex // guards watchers and closed
	watchers map[string]*watcher
	closed   bool
}

// New returns a Runner for the machines in a store. It does nothing before Start or Poke.
func New(st *store.Store, o Options) *Runner {
	if o.Heartbeat <= 0 {
		o.Heartbeat = 2 * time.Second
	}

	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}

	ctx, cancel := context.WithCancel(context.Background())

	return &Runner{
		store: st, o: o, log: log, ctx: ctx, cancel: cancel, watchers: map[string]*watcher{},
		client: &http.Client{
			Timeout: time.Minute,
			Transport: &http.Transport{
				// Nobody gives a ramdisk the lab's throw-away CA.
				TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // loopback only
			},
		},
	}
}

// Start watches every machine that is in the store.
func (r *Runner) Start() error {
	var all []machine.Machine

	err := r.store.View(func(tx store.Tx) (err error) {
		all, err = machine.All(tx)

		return err
	})

	for _, m := range all {
		r.Poke(m.Name)
	}

	return err
}

// Poke says that a machine may have changed; it never waits.
func (r *Runner) Poke(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.closed {
		return
	}

	w := r.watchers[name]
	if w == nil {
		w = &watcher{Runner: r, name: name, poke: make(chan struct{}, 1), boots: -1}
		r.watchers[name] = w
		r.wg.Go(w.run)
	}

	select {
	case w.poke <- struct{}{}:
	default: // it has not seen the last one yet
	}
}

// Close ends all agents and waits for them.
func (r *Runner) Close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()

	r.cancel()
	r.wg.Wait()
}

func (r *Runner) load(name string) (m machine.Machine, ok bool, err error) {
	err = r.store.View(func(tx store.Tx) error {
		m, ok, err = machine.Load(tx, name)

		return err
	})

	return m, ok, err
}

// update changes a machine that is there, and tells its watcher.
func (r *Runner) update(name string, f func(*machine.Machine)) {
	err := r.store.Update(func(tx store.Tx) error {
		m, ok, err := machine.Load(tx, name)
		if err != nil || !ok {
			return err
		}

		f(&m)

		return machine.Save(tx, m)
	})
	if err != nil {
		r.log.Error("the lab's memory", "machine", name, "error", err)
	}

	r.Poke(name)
}

// say notes what happened to a machine. It does not wake its watcher: nothing changed.
func (r *Runner) say(name, text string) {
	r.log.Info(text, "machine", name)

	err := r.store.Update(func(tx store.Tx) error {
		m, ok, err := machine.Load(tx, name)
		if err != nil || !ok {
			return err
		}

		m.Say(time.Now(), "%s", text)

		return machine.Save(tx, m)
	})
	if err != nil {
		r.log.Error("the lab's memory", "machine", name, "error", err)
	}
}
