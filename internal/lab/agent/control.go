// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Control is the API with which people and tests look at the machines and make them fail:
//
//	GET /sim/machines           all of them
//	GET /sim/machines/3         node-3, with its events and its agent
//	PUT /sim/machines/3/faults  machine.Faults; {} ends them
//	PUT /sim/machines/3/power   {"state":"On|Off"[,"boot":"Pxe|Cd|Hdd"]}: somebody pressed the button
func (r *Runner) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/machines", r.showAll)
	mux.HandleFunc("GET /sim/machines/{i}", r.one(func(m *machine.Machine, _ []byte) (any, error) {
		return r.shown(*m, true), nil
	}))
	mux.HandleFunc("GET /sim/machines/{i}/faults", r.one(func(m *machine.Machine, _ []byte) (any, error) {
		return m.Faults, nil
	}))
	mux.HandleFunc("PUT /sim/machines/{i}/faults", r.one(func(m *machine.Machine, body []byte) (any, error) {
		var f machine.Faults

		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.DisallowUnknownFields() // a fault with a typing error would be a test that proves nothing

		if err := decoder.Decode(&f); err != nil {
			return nil, err
		}

		m.Faults = f

		return f, nil
	}))
	mux.HandleFunc("PUT /sim/machines/{i}/power", r.one(pressed))

	return mux
}

func pressed(m *machine.Machine, body []byte) (any, error) {
	var want struct{ State, Boot string }
	if err := json.Unmarshal(body, &want); err != nil {
		return nil, err
	}

	if want.Boot != "" {
		m.Boot.Target, m.Boot.Enabled = want.Boot, "Once"
	}

	switch want.State {
	case machine.On:
		m.SetPower("On", time.Now(), 0)
	case machine.Off:
		m.SetPower("ForceOff", time.Now(), 0)
	}

	return map[string]string{"power": m.Power}, nil
}

// one serves what concerns one machine: f may change it where the method is PUT.
func (r *Runner) one(f func(*machine.Machine, []byte) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		i, err := strconv.Atoi(req.PathValue("i"))
		if err != nil {
			http.NotFound(w, req)

			return
		}

		body, err := io.ReadAll(io.LimitReader(req.Body, maxConfig))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)

			return
		}

		transaction := r.store.View
		if req.Method == http.MethodPut {
			transaction = r.store.Update
		}

		found, answer := false, any(nil)

		err = transaction(func(tx store.Tx) error {
			m, ok, err := machine.Load(tx, machine.Name(i))
			if err != nil || !ok {
				return err
			}

			found = true

			if answer, err = f(&m, body); err != nil || req.Method != http.MethodPut {
				return err
			}

			return machine.Save(tx, m)
		})

		switch {
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadRequest)
		case !found:
			http.NotFound(w, req)
		default:
			if req.Method == http.MethodPut {
				r.Poke(machine.Name(i))
			}

			send(w, http.StatusOK, answer)
		}
	}
}

func (r *Runner) showAll(w http.ResponseWriter, _ *http.Request) {
	var all []machine.Machine

	err := r.store.View(func(tx store.Tx) (err error) {
		all, err = machine.All(tx)

		return err
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	views := make([]any, 0, len(all))
	for _, m := range all {
		views = append(views, r.shown(m, false))
	}

	send(w, http.StatusOK, views)
}

// shown is a machine as the control API shows it: no credentials.
func (r *Runner) shown(m machine.Machine, events bool) map[string]any {
	media := map[string]string{}
	for slot, medium := range m.Media {
		media[slot] = medium.Image
	}

	view := map[string]any{
		"index": m.Index, "name": m.Name, "system": "/redfish/v1/Systems/" + m.ID, "macs": m.MACs,
		"power": m.Power, "running": m.Running, "image": m.Image, "resets": m.Resets, "boots": m.Boots,
		"boot":  map[string]string{"target": m.Boot.Target, "enabled": m.Boot.Enabled, "mode": m.Boot.Mode},
		"media": media, "secure_boot": m.SecureBoot, "bios": m.BIOS, "firmware": m.Firmware,
	}

	r.mu.Lock()
	w := r.watchers[m.Name]
	r.mu.Unlock()

	if w != nil {
		if agent := w.view(); agent != nil {
			view["agent"] = agent
		}
	}

	if events {
		view["events"] = m.Events
	}

	return view
}
