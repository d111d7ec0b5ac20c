// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// maxBody bounds what a client may send.
const maxBody = 1 << 20

// errWantsWrite ends a read that turned out to change something: it is run again as a change.
// Reads are the many, and in a file they need not wait for each other.
var errWantsWrite = errors.New("this read changes the machine")

// handle answers a request inside of a transaction.
type handle func(*call) (answer, error)

// scope says whom a route is about, and so who may use it.
type scope int

const (
	open      scope = iota // everybody: the service root and the login
	service                // who has an account
	ofMachine              // who has an account on the machine that {id} names
)

// call is one request inside of its transaction.
type call struct {
	face  *face
	r     *http.Request
	tx    store.Tx
	write bool
	now   time.Time
	body  obj

	m       machine.Machine // of the single face, or of the path; else empty
	known   bool            // m is one
	second  bool            // the path names the second system of a BMC that has two
	phantom bool            // m is that second system: nothing of it is kept
	n       names

	changed string        // the machine that was saved
	delay   time.Duration // before the answer
	drop    bool          // no answer at all
}

func (f *face) handle(sc scope, h handle) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body := obj{}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			// An empty body is an empty object; a broken one is the caller's to complain about.
			if err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
				failure(http.StatusBadRequest, "MalformedJSON", "the body is no JSON object").send(w)

				return
			}
		}

		c, a, err := f.run(r, body, sc, h)
		if err != nil {
			a = failure(http.StatusInternalServerError, "InternalError", err.Error())
		}

		if c.changed != "" && err == nil && f.o.Changed != nil {
			f.o.Changed(c.changed)
		}

		if c.delay > 0 {
			late, cancel := context.WithTimeout(r.Context(), c.delay)
			<-late.Done()
			cancel()
		}

		if c.drop {
			panic(http.ErrAbortHandler) // the server's way to end the connection without a word
		}

		a.send(w)
	}
}

// run does the request in one transaction and returns the answer to give once it is committed.
func (f *face) run(r *http.Request, body obj, sc scope, h handle) (c *call, a answer, err error) {
	do := func(write bool) func(store.Tx) error {
		return func(tx store.Tx) error {
			c = &call{face: f, r: r, tx: tx, write: write, now: time.Now(), body: body}
			a, err = c.answer(sc, h)

			return err
		}
	}

	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if err = f.store.View(do(false)); !errors.Is(err, errWantsWrite) {
			return c, a, err
		}
	}

	err = f.store.Update(do(true))

	return c, a, err
}

func (c *call) answer(sc scope, h handle) (answer, error) {
	if found, err := c.find(sc); err != nil || !found {
		return c.missing(), err
	}

	if c.known {
		if a, faulty, err := c.misbehave(); err != nil || faulty {
			return a, err
		}
	}

	if sc != open {
		ok, err := c.authorized()
		if err != nil {
			return answer{}, err
		}

		if !ok {
			a := failure(http.StatusUnauthorized, "NoValidSession", "authentication required")
			a.header = http.Header{"Www-Authenticate": {`Basic realm="BMC"`}}

			return a, nil
		}
	}

	c.other()

	return h(c)
}

// find loads the machine that the request is about; false: the path names none.
func (c *call) find(sc scope) (bool, error) {
	var err error

	id := c.r.PathValue("id")

	if c.face.single {
		if c.m, c.known, err = machine.Load(c.tx, c.face.name); err != nil || !c.known {
			return false, err
		}

		if sc == ofMachine && id != "1" && id != c.m.ID {
			if id == "" || id != c.m.Faults.SecondSystem {
				return false, nil
			}

			c.second = true
		}
	} else if sc == ofMachine {
		id = strings.TrimPrefix(strings.TrimPrefix(id, "bmc-"), "ch-")
		if c.m, c.known, err = machine.ByID(c.tx, id); err != nil || !c.known {
			return false, err
		}
	}

	c.n = c.face.names(c.m, false)

	return true, nil
}

// misbehave does the faults that concern every request of a machine.
func (c *call) misbehave() (answer, bool, error) {
	f := &c.m.Faults
	c.delay = time.Duration(f.HTTPDelayMS) * time.Millisecond

	switch read := c.r.Method == http.MethodGet; {
	case f.Unreachable:
		return failure(http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "BMC is busy"), true, nil
	case read && f.FailNextReads > 0:
		f.FailNextReads--

		return failure(http.StatusInternalServerError, "InternalError", "injected"), true, c.save()
	case !read && f.DropAnswers > 0:
		f.DropAnswers--
		c.drop = true

		return answer{}, false, c.save()
	}

	return answer{}, false, nil
}

// other replaces the machine by the second system of its BMC, after the credentials were checked.
func (c *call) other() {
	if !c.second {
		return
	}

	id := c.m.Faults.SecondSystem
	c.m = machine.Default(phantomIndex+c.m.Index, machine.Options{})
	c.m.Name, c.m.ID, c.m.Power = id, id, machine.On
	c.phantom, c.n = true, c.face.names(c.m, true)
}

// phantomIndex is beyond the machines that any lab has, for MAC addresses of nobody.
const phantomIndex = 0xf000

// save remembers the machine of the call.
func (c *call) save() error {
	if c.phantom {
		return nil
	}

	if !c.write {
		return errWantsWrite
	}

	c.changed = c.m.Name

	return machine.Save(c.tx, c.m)
}

func (c *call) path() string { return c.r.URL.Path }

func (c *call) missing() answer {
	return failure(http.StatusNotFound, "ResourceMissingAtURI", fmt.Sprintf("no resource %s", c.path()))
}
