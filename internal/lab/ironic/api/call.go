// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package api is what all endpoints of the lab's Ironic share: a request in its transaction,
// its answer, lists in pages, JSON patches, and how a resource is shown.
package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/conductor"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

// Call is one request in its transaction.
type Call struct {
	*conductor.Conductor

	R        *http.Request
	Body     []byte
	Minor    int // the API version that it asks for
	PageSize int // the most that one page of a list holds
	Rewrite  func(kind string, doc map[string]any)
}

// Answer is what a request gets; a nil body is an empty one.
type Answer struct {
	Status   int
	Body     any
	Location string // a path below /v1
}

// OK is the answer to what is read.
func OK(body any) Answer { return Answer{Status: http.StatusOK, Body: body} }

// Endpoint serves one kind of request.
type Endpoint func(*Call) (Answer, error)

// Base is the URL under which the client of a request sees this service.
func Base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}

	return scheme + "://" + r.Host
}

// Base is the URL under which the client sees this service.
func (c *Call) Base() string { return Base(c.R) }

// Since refuses what came with a later API version than the request's.
func (c *Call) Since(minor int) error {
	if c.Minor < minor {
		return fault.NoPath()
	}

	return nil
}

// Read reads a JSON body.
func (c *Call) Read(v any) error {
	if err := json.Unmarshal(c.Body, v); err != nil {
		return fault.Invalid("%s", err)
	}

	return nil
}

// Decode reads a body that must be a JSON object.
func (c *Call) Decode(what string) (map[string]any, error) {
	var body any
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return nil, fault.Refuse(http.StatusInternalServerError, "Expecting value: %s", err)
	}

	m, ok := body.(map[string]any)
	if !ok {
		return nil, fault.Invalid("Schema error for %s: %s is not of type 'object'", what, c.Body)
	}

	return m, nil
}

// Target is the node that the path names, below a path that came with an API version. Names
// are known from API 1.5 on.
func (c *Call) Target(since int) (*record.Node, error) {
	ident := c.R.PathValue("node")
	if c.Minor < 5 && !record.IsUUID(ident) {
		return nil, fault.NotFound("Node", ident)
	}

	n, err := c.Node(ident)
	if err != nil {
		return nil, err
	}

	return n, c.Since(since)
}

// Locked is the target of a request that changes it.
func (c *Call) Locked(since int) (*record.Node, error) {
	n, err := c.Target(since)
	if err != nil {
		return nil, err
	}

	return n, c.Lock(n)
}

// Write sends the answer.
func (a Answer) Write(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Openstack-Request-Id", "req-"+record.NewUUID())

	if a.Location != "" {
		w.Header().Set("Location", Base(r)+"/v1/"+a.Location)
	}

	if a.Body == nil {
		w.WriteHeader(a.Status)

		return
	}

	var b bytes.Buffer

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)

	if err := e.Encode(a.Body); err != nil {
		fault.WriteError(w, err)

		return
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.Status)
	_, _ = w.Write(b.Bytes()) // whoever asked has gone away
}
