// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"

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
	store *store.Store
	Options
	minor int
	mux   *http.ServeMux

	ready sync.Mutex
	ok    bool // machines are there

	script script
}

// New returns an Ironic that keeps its memory in a store.
func New(st *store.Store, o Options) *Service {
	s := &Service{store: st, Options: o, minor: o.MaxMinor}
	if s.Pace == 0 {
		s.Pace = time.Second
	}

	if s.minor == 0 {
		s.minor = DefaultMinor
	}

	if s.PageSize == 0 {
		s.PageSize = 1000
	}

	if s.CallbackTimeout == 0 {
		s.CallbackTimeout = 1800 * s.Pace
	}

	if s.PowerSync == 0 {
		s.PowerSync = max(40*s.Pace, 10*time.Second)
	}

	if s.Conductor == "" {
		s.Conductor = "ironic.lab"
	}

	s.routes()

	return s
}

// call is one request in its transaction.
type call struct {
	*Service
	repo

	r     *http.Request
	body  []byte
	minor int
	now   time.Time

	down  bool                        // the conductor is dead
	fleet map[string]*machine.Machine // machines loaded so far, by the address they were asked for
}

// answer is what a request gets; a nil body is an empty one.
type answer struct {
	status   int
	body     any
	location string
}

type endpoint func(*call) (answer, error)

// base is the URL under which the client sees this service.
func base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}

	return scheme + "://" + r.Host
}

func (c *call) base() string { return base(c.r) }

// serve runs an endpoint in a transaction: one that only reads where that is enough.
func (s *Service) serve(w http.ResponseWriter, r *http.Request, run endpoint) {
	minor, ok := s.negotiate(w, r)
	if !ok {
		return
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		writeFault(w, http.StatusBadRequest, err.Error())

		return
	}

	if err := s.prepare(); err != nil {
		writeFault(w, http.StatusInternalServerError, err.Error())

		return
	}

	c := &call{Service: s, r: r, body: body, minor: minor}

	a, err := c.run(run)
	if err != nil {
		var refused *apiError
		if errors.As(err, &refused) {
			writeFault(w, refused.status, refused.text)
		} else {
			writeFault(w, http.StatusInternalServerError, err.Error())
		}

		return
	}

	s.respond(w, r, a)
}

func (c *call) run(run endpoint) (a answer, err error) {
	if c.r.Method == http.MethodGet {
		err = c.store.View(func(tx store.Tx) error {
			a, err = c.in(tx, false, run)

			return err
		})
		if !errors.Is(err, errReadOnly) {
			return a, err
		}
	}

	err = c.store.Update(func(tx store.Tx) error {
		a, err = c.in(tx, true, run)

		return err
	})

	return a, err
}

// in settles what has become due, and then runs the endpoint.
func (c *call) in(tx store.Tx, write bool, run endpoint) (answer, error) {
	c.repo = repo{tx: tx, write: write}
	c.now = time.Now().UTC()
	c.fleet = map[string]*machine.Machine{}

	down, err := c.stopped()
	if err != nil {
		return answer{}, err
	}

	c.down = down

	if err := c.settleAll(); err != nil {
		return answer{}, err
	}

	return run(c)
}

// prepare makes the machines at first need.
func (s *Service) prepare() error {
	s.ready.Lock()
	defer s.ready.Unlock()

	if s.ok {
		return nil
	}

	err := s.store.Update(func(tx store.Tx) error { return machine.Ensure(tx, s.Machines) })
	s.ok = err == nil

	return err
}

func (s *Service) respond(w http.ResponseWriter, r *http.Request, a answer) {
	w.Header().Set("Openstack-Request-Id", "req-"+newUUID())

	if a.location != "" {
		w.Header().Set("Location", base(r)+"/v1/"+a.location)
	}

	if a.body == nil {
		w.WriteHeader(a.status)

		return
	}

	var b bytes.Buffer

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)

	if err := e.Encode(a.body); err != nil {
		writeFault(w, http.StatusInternalServerError, err.Error())

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_, _ = w.Write(b.Bytes()) // whoever asked has gone away
}

func newUUID() string { return uuid.NewString() }
