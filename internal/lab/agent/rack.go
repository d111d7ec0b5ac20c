// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Rack is machines as a real Ironic needs them: their BMCs behind one listener, their agents,
// and the control API.
type Rack struct {
	runner  *Runner
	handler http.Handler
}

// NewRack puts the machines that o asks for into the store and brings them to life.
func NewRack(st *store.Store, o machine.Options, agents Options, bmcs bmc.Options) (*Rack, error) {
	if err := st.Update(func(tx store.Tx) error { return machine.Ensure(tx, o) }); err != nil {
		return nil, fmt.Errorf("rack: %w", err)
	}

	runner := New(st, agents)
	bmcs.Changed = runner.Poke

	shared := bmc.New(st, bmcs).Shared()

	mux := http.NewServeMux()
	mux.Handle("/redfish", shared)
	mux.Handle("/redfish/", shared)
	mux.Handle("/sim/", runner.Control())

	if err := runner.Start(); err != nil {
		runner.Close()

		return nil, fmt.Errorf("rack: %w", err)
	}

	return &Rack{runner: runner, handler: mux}, nil
}

// ServeHTTP answers for all BMCs, and for the control API under /sim/.
func (r *Rack) ServeHTTP(w http.ResponseWriter, req *http.Request) { r.handler.ServeHTTP(w, req) }

// Poke says that a machine was changed by somebody else than its BMC.
func (r *Rack) Poke(name string) { r.runner.Poke(name) }

// Close ends all agents. The machines stay in the store.
func (r *Rack) Close() { r.runner.Close() }
