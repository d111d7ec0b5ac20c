// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/trouble"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Options says how the lab's Ironic behaves.
type Options struct {
	// Pace is the unit in which transitions take time; 0 means one second. From enrolled to
	// active takes 12 of it.
	Pace time.Duration
	// MaxMinor is the newest API version, 1.MaxMinor; 0 means DefaultMinor. 82 plays Debian
	// 12's Ironic, 111 Debian testing's.
	MaxMinor int
	// Machines are created at first need.
	Machines machine.Options
	// PageSize is the most that one page of a list holds; 0 means 1000.
	PageSize int
	// NoAutomatedClean is the conductor's default for nodes that do not say.
	NoAutomatedClean bool
	// CallbackTimeout ends the wait for a ramdisk that does not call back; 0 means 1800 paces.
	CallbackTimeout time.Duration
	// PowerSync is the pause between two looks of the conductor at a machine's power: three of
	// them must fail before a silent BMC becomes a fault. 0 means 40 paces, at least 10 seconds.
	PowerSync time.Duration
	// Conductor is the conductor's host name; empty means "ironic.lab".
	Conductor string
}

// Service is an Ironic API: an http.Handler.
type Service struct {
	trouble.Script // what tests told it

	store    *store.Store
	settings conductor.Settings
	machines machine.Options
	pageSize int
	mux      *http.ServeMux

	ready sync.Mutex
	ok    bool // machines are there
}

// New returns an Ironic that keeps its memory in a store.
func New(st *store.Store, o Options) *Service {
	pace := cmp.Or(o.Pace, time.Second)

	s := &Service{store: st, machines: o.Machines, pageSize: cmp.Or(o.PageSize, 1000), settings: conductor.Settings{
		Host:             cmp.Or(o.Conductor, "ironic.lab"),
		Newest:           cmp.Or(o.MaxMinor, version.Default),
		Pace:             pace,
		CallbackTimeout:  cmp.Or(o.CallbackTimeout, 1800*pace),
		PowerSync:        cmp.Or(o.PowerSync, max(40*pace, 10*time.Second)),
		NoAutomatedClean: o.NoAutomatedClean,
	}}
	s.routes()

	return s
}

// serve runs an endpoint in a transaction: one that only reads where that is enough.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, run api.Endpoint) {
	minor, ok := version.Negotiate(w, r, s.settings.Newest)
	if !ok {
		return
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		fault.Write(w, http.StatusBadRequest, err.Error())

		return
	}

	if err := s.prepare(); err != nil {
		fault.WriteError(w, err)

		return
	}

	a, err := s.run(&api.Call{R: r, Body: body, Minor: minor, PageSize: s.pageSize, Rewrite: s.rewrite}, run)
	if err != nil {
		fault.WriteError(w, err)

		return
	}

	a.Write(w, r)
}

func (s *Service) rewrite(kind string, doc map[string]any) { trouble.Rewritten(&s.Script, kind, doc) }

func (s *Service) run(c *api.Call, run api.Endpoint) (a api.Answer, err error) {
	if c.R.Method == http.MethodGet {
		err = s.store.View(func(tx store.Tx) error {
			a, err = s.in(record.Repo{Tx: tx}, c, run)

			return err
		})
		if !errors.Is(err, record.ErrReadOnly) {
			return a, err
		}
	}

	err = s.change(func(r record.Repo) error {
		a, err = s.in(r, c, run)

		return err
	})

	return a, err
}

// in settles what has become due, and then runs the endpoint.
func (s *Service) in(r record.Repo, c *api.Call, run api.Endpoint) (api.Answer, error) {
	var err error
	if c.Conductor, err = conductor.New(r, s.settings); err != nil {
		return api.Answer{}, err
	}

	if err := c.SettleAll(); err != nil {
		return api.Answer{}, err
	}

	return run(c)
}

// change is a transaction that may write.
func (s *Service) change(f func(record.Repo) error) error {
	return s.store.Update(func(tx store.Tx) error { return f(record.Repo{Tx: tx, Writes: true}) })
}

// prepare makes the machines at first need.
func (s *Service) prepare() error {
	s.ready.Lock()
	defer s.ready.Unlock()

	if s.ok {
		return nil
	}

	err := s.store.Update(func(tx store.Tx) error { return machine.Ensure(tx, s.machines) })
	s.ok = err == nil

	return err
}
