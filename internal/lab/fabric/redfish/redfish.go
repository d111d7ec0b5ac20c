// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package redfish is the face of a Redfish service that composes systems: by DMTF's resource
// blocks, with sessions and tasks, or, like OpenFabrics' Sunfish, by the zones of a fabric
// alone (see face.Redfish).
//
// A system has the UUID of the lab's machine as its id.
package redfish

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	root    = "/redfish/v1"
	maxBody = 1 << 20
)

// New returns the face below /redfish.
func New(env *face.Env) http.Handler { return &service{env} }

type service struct{ *face.Env }

// call is one request inside of its transaction.
type call struct {
	*service

	o      face.Redfish
	method string
	path   string // without a slash at its end
	query  url.Values
	header http.Header
	basic  func() (user, password string, ok bool)
	body   []byte

	tx    store.Tx
	now   time.Time
	write bool

	machines []hardware.Machine
	devices  []hardware.Device
	reserved map[string]bool
}

// errWantsWrite ends a read that finds something to note: it is run again as a change.
var errWantsWrite = errors.New("this read changes something")

// ServeHTTP answers a request.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		bad("MalformedJSON", err.Error()).send(w)

		return
	}

	a, err := s.run(r, body)
	if err != nil {
		a = failure(http.StatusInternalServerError, "InternalError", err.Error())
	}

	if !face.Wait(r, a.wait) {
		panic(http.ErrAbortHandler)
	}

	a.send(w)
}

// run does the request in one transaction.
func (s *service) run(r *http.Request, body []byte) (a answer, err error) {
	do := func(write bool) func(store.Tx, time.Time) error {
		return func(tx store.Tx, now time.Time) error {
			c := &call{
				service: s, o: s.Tuned().Redfish, method: r.Method, path: strings.TrimRight(r.URL.Path, "/"),
				query: r.URL.Query(), header: r.Header, basic: r.BasicAuth, body: body, tx: tx, now: now.UTC(), write: write,
			}

			if c.o.Zones {
				c.o.NoLogin = true
			}

			if c.method == http.MethodHead {
				c.method = http.MethodGet
			}

			if err := c.look(); err != nil {
				return err
			}

			a, err = c.answer()

			return err
		}
	}

	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		if err = s.View(do(false)); !errors.Is(err, errWantsWrite) {
			return a, err
		}
	}

	err = s.Update(do(true))

	return a, err
}

// look reads the hardware, once a request.
func (c *call) look() (err error) {
	if c.machines, err = hardware.Machines(c.tx, c.now); err != nil {
		return err
	}

	if c.devices, err = hardware.All(c.tx, c.now); err != nil {
		return err
	}

	c.reserved, err = reservations(c.tx)

	return err
}

func (c *call) answer() (answer, error) {
	if c.path == "/redfish" {
		return answer{code: http.StatusOK, body: obj{"v1": root + "/"}}, nil
	}

	login := c.method == http.MethodPost && c.path == sessionsPath && !c.o.Zones

	if c.path != root && !login {
		if ok, err := c.authorized(); !ok || err != nil {
			a := failure(http.StatusUnauthorized, "NoValidSession", "no valid session, and no valid credentials")
			a.header = http.Header{"Www-Authenticate": {`Basic realm="fabric"`}}

			return a, err
		}
	}

	switch {
	case login:
		return c.login()
	case strings.HasPrefix(c.path, monitorsPath+"/") && c.method == http.MethodGet:
		return c.monitor()
	}

	doc, err := c.document(c.path)
	if err != nil {
		return answer{}, err
	}

	switch {
	case c.method == http.MethodPost && strings.Contains(c.path, "/Actions/"):
		return c.act()
	case doc == nil:
		return notFound(c.path), nil
	case c.method == http.MethodGet:
		return c.show(doc)
	default:
		return c.change(doc)
	}
}

// change does a PATCH or a DELETE of a resource that is there.
func (c *call) change(doc obj) (answer, error) {
	switch room := strings.TrimPrefix(c.path, root); {
	case c.method == http.MethodDelete && strings.HasPrefix(c.path, sessionsPath+"/"):
		return c.logout()
	case c.method != http.MethodPatch:
	case strings.HasPrefix(room, "/Systems/") && !c.o.Zones:
		return c.patchSystem(doc)
	case strings.HasPrefix(c.path, blocksPath+"/") && doc["ResourceBlockType"] != nil:
		return c.patchBlock(doc)
	case strings.Contains(room, "/Zones/") && c.o.Zones:
		return c.patchZone(doc)
	}

	return failure(http.StatusMethodNotAllowed, "OperationNotAllowed", c.method+" is not allowed here"), nil
}

// precondition checks the If-Match of a change of a document; false: the answer is the refusal.
func (c *call) precondition(doc obj, needed bool) (answer, bool) {
	switch match := c.header.Get("If-Match"); {
	case match == "" && needed:
		return failure(http.StatusPreconditionRequired, "PreconditionRequired", "If-Match is missing"), false
	case match != "" && match != "*" && match != tag(doc):
		return failure(http.StatusPreconditionFailed, "PreconditionFailed", "the resource has changed"), false
	default:
		return answer{}, true
	}
}
