// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package face is what the faces of the lab's fabric have in common. A face is one API of a
// fabric manager: it translates requests into changes of the one hardware there is, and keeps
// nothing itself.
package face

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// maxBody bounds what a face reads of a request.
const maxBody = 1 << 20

// Env is what a face works on.
type Env struct {
	Store    *store.Store
	Hardware hardware.Options
	Machines machine.Options

	ready sync.Mutex
	ok    bool // machines and devices are there

	tuning sync.Mutex
	tuned  Tuning
}

// New makes a face.
type New func(*Env) http.Handler

// View runs f in a transaction that only reads. All of f happens at one time.
func (e *Env) View(f func(tx store.Tx, now time.Time) error) error {
	if err := e.prepare(); err != nil {
		return err
	}

	return e.Store.View(func(tx store.Tx) error { return f(tx, time.Now()) })
}

// Update runs f in a transaction that may write; an error of f undoes all of it.
func (e *Env) Update(f func(tx store.Tx, now time.Time) error) error {
	if err := e.prepare(); err != nil {
		return err
	}

	return e.Store.Update(func(tx store.Tx) error { return f(tx, time.Now()) })
}

// prepare makes machines and devices at first need.
func (e *Env) prepare() error {
	e.ready.Lock()
	defer e.ready.Unlock()

	if e.ok {
		return nil
	}

	err := e.Store.Update(func(tx store.Tx) error { return hardware.Ensure(tx, e.Hardware, e.Machines) })
	e.ok = err == nil

	return err
}

// JSON answers a document.
func JSON(w http.ResponseWriter, status int, doc any) {
	raw, err := json.Marshal(doc)
	if err != nil {
		status, raw = http.StatusInternalServerError, fmt.Appendf(nil, "{\"error\":%q}", err.Error())
	}

	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw) // whoever asked has gone away
}

// Body reads the JSON of a request. Unknown fields and anything after the document are errors.
func Body(r io.Reader, v any) error {
	dec := json.NewDecoder(io.LimitReader(r, maxBody))
	dec.DisallowUnknownFields()

	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("body: %w", err)
	}

	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return errors.New("body: more than one document")
	}

	return nil
}

// Wait lets so much time pass, or until whoever asked has gone away; true if nobody left.
func Wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return true
	}

	timer := time.NewTimer(d) //nolint:forbidigo // a far side that is slow
	defer timer.Stop()

	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
		return false
	}
}
