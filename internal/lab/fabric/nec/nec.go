// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package nec is the face of NEC's Composable Disaggregated Infrastructure Manager (CDIM), the
// open one (project-cdim) and the product that grew from it: the configuration manager, which
// shows resources and nodes, and layout-apply, which takes orders as jobs, one at a time.
//
// A node has the id of its CPU, which is the id of the lab's machine. Nobody logs in.
package nec

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	base    = "/cdim/api/v1"
	maxBody = 1 << 20
)

// New returns the face below /cdim.
func New(env *face.Env) http.Handler {
	f := &manager{Env: env}
	mux := http.NewServeMux()

	for pattern, h := range map[string]handle{
		"GET /resources":           (*call).resources,
		"GET /resources/unused":    (*call).unused,
		"GET /resources/available": (*call).available,
		"GET /resources/{id}":      (*call).resource,
		"GET /nodes":               (*call).nodes,
		"GET /nodes/{id}":          (*call).node,
		"GET /layout-apply":        (*call).jobs,
		"POST /layout-apply":       (*call).apply,
		"GET /layout-apply/{id}":   (*call).job,
		"PUT /layout-apply/{id}":   (*call).act,
	} {
		mux.HandleFunc(onBase(pattern), f.serve(h))
	}

	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		face.JSON(w, http.StatusNotFound, obj{"detail": "Not Found"})
	})

	return mux
}

func onBase(pattern string) string {
	for i, c := range pattern {
		if c == '/' {
			return pattern[:i] + base + pattern[i:]
		}
	}

	return pattern
}

type (
	obj  = map[string]any
	list = []any
)

// manager is the face of one fabric.
type manager struct{ *face.Env }

func (c *call) dialect() dialect {
	if c.o.Product {
		return product
	}

	return openSource
}

// answer is what goes back when the transaction is committed.
type answer struct {
	code int
	body any
}

func ok(body any) (answer, error) { return answer{http.StatusOK, body}, nil }

// failure is an error as both services word it.
func failure(status int, code string, message any) (answer, error) {
	return answer{status, obj{"code": code, "message": message}}, nil
}

// call is one request inside of its transaction.
type call struct {
	*manager

	o     face.CDIM
	r     *http.Request
	body  []byte
	tx    store.Tx
	now   time.Time
	write bool
}

// handle answers a request.
type handle func(*call) (answer, error)

// errWantsWrite ends a read that finds that a job has to go on: it is run again as a change.
var errWantsWrite = errors.New("a job has to go on")

func (f *manager) serve(h handle) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body []byte

		if r.Method != http.MethodGet {
			var err error
			if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
				face.JSON(w, http.StatusBadRequest, obj{"code": codeInvalid, "message": err.Error()})

				return
			}
		}

		a, err := f.run(r, body, h)
		if err != nil {
			a, _ = failure(http.StatusInternalServerError, "E40018", err.Error())
		}

		face.JSON(w, a.code, a.body)
	}
}

// run does the request in one transaction. Jobs go on first.
func (f *manager) run(r *http.Request, body []byte, h handle) (a answer, err error) {
	o := f.Tuned().CDIM
	do := func(write bool) func(store.Tx, time.Time) error {
		return func(tx store.Tx, now time.Time) error {
			c := &call{manager: f, o: o, r: r, body: body, tx: tx, now: now.UTC(), write: write}
			if err := c.advance(); err != nil {
				return err
			}

			a, err = h(c)

			return err
		}
	}

	if r.Method == http.MethodGet {
		if err = f.View(do(false)); !errors.Is(err, errWantsWrite) {
			return a, err
		}
	}

	err = f.Update(do(true))

	return a, err
}

// flag reads a query parameter that is true or false; false as second value: neither.
func (c *call) flag(name string) (value, valid bool) {
	switch text := c.r.URL.Query().Get(name); {
	case text == "" || equalFold(text, "false"):
		return false, true
	case equalFold(text, "true"):
		return true, true
	default:
		return false, false
	}
}

// decode reads a value of the memory.
func decode[T any](raw json.RawMessage) (v T, err error) {
	err = json.Unmarshal(raw, &v)

	return v, err
}
