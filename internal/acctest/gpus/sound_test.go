// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// record is all that came out of the provider: logs, diagnostics, states.
type record struct {
	mu   sync.Mutex
	text strings.Builder
	log  strings.Builder
}

// Write takes the logs.
func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.log.Write(p)
}

func (r *record) logs() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.log.String()
}

func (r *record) add(all ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for _, s := range all {
		r.text.WriteString(s)
	}
}

func (r *record) all() string {
	r.mu.Lock()
	defer r.mu.Unlock()

	return r.text.String() + r.log.String()
}

// later is when everything has happened that was under way, for instance an order whose answer
// was lost and that is carried out late.
const later = 15 * time.Minute

// sound checks what must hold at the end of every test.
func (w world) sound() {
	w.t.Helper()
	time.Sleep(later)

	if all, err := w.far.Overlaps(); err != nil || len(all) > 0 && !w.setup.apart {
		w.t.Errorf("orders overlapped: %v %v", all, err)
	}

	w.agree()

	for name, secret := range w.secrets() {
		for where, text := range w.outputs() {
			if strings.Contains(text, secret) {
				w.t.Errorf("%s is in %s", name, where)
			}
		}
	}

	if w.setup.rough {
		return
	}

	for i := range machine.DefaultCount {
		w.wake(i)

		if s := w.node(i); len(s.Surprises) > 0 {
			w.t.Errorf("machine %d lost devices in use: %v", i, s.Surprises)
		}
	}
}

// agree compares all states with the fabric: what is ours is in exactly one of them, and what
// is in one is there.
func (w world) agree() {
	w.t.Helper()

	all, err := w.far.Devices()
	if err != nil {
		w.t.Fatal(err)
	}

	var known []string
	for _, c := range *w.cores {
		known = append(known, attribute(c, "fabric_device_id")...)
	}

	for _, d := range all {
		n := len(slices.DeleteFunc(slices.Clone(known), func(id string) bool { return !same(id, d) }))

		switch {
		case n > 1:
			w.t.Errorf("device %s is in %d states", d.ID, n)
		case n == 1 && d.Machine == "":
			w.t.Errorf("device %s is in a state, and in the pool", d.ID)
		case n == 0 && d.Machine != "" && !d.Foreign && !w.setup.strange:
			w.t.Errorf("device %s is on %s, and in no state: it leaked", d.ID, d.Machine)
		}
	}
}

// same tells whether a fabric id of a state means a device of the hardware. It may be a path.
func same(id string, d hardware.Device) bool {
	id = strings.ToLower(id)

	return id == d.ID || strings.HasSuffix(id, "/"+d.ID)
}

// secrets are what the provider was told or given and must keep to itself.
func (w world) secrets() map[string]string {
	out := map[string]string{"the password": labfabric.Password, "the client's secret": labfabric.ClientSecret}

	key := strings.Split(w.lab.SSHKey(), "\n")
	out["the private key"] = key[len(key)/2]

	for _, r := range w.far.Requests() {
		if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			out["token "+token] = token
		}

		if session := r.Header.Get("X-Auth-Token"); session != "" {
			out["session "+session] = session
		}

		if _, rest, ok := strings.Cut(r.Body, "refresh_token="); ok {
			token, _, _ := strings.Cut(rest, "&")
			out["refresh token "+token] = token
		}
	}

	return out
}

// outputs are all places in which something of the provider is left, but for the connections
// in states, which are the user's own words and sensitive.
func (w world) outputs() map[string]string {
	out := map[string]string{"logs, diagnostics or state": w.said.all()}

	for _, c := range *w.cores {
		out["a state"] += c.Dump()
	}

	err := filepath.WalkDir(w.journal, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // no journal is no leak
		}

		raw, err := os.ReadFile(path)
		out["file "+path] = string(raw)

		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return out
}

// wake lets a system notice what became of its devices, if anybody ever was there.
func (w world) wake(i int) {
	w.t.Helper()

	if len(w.node(i).Commands) == 0 || w.node(i).Unreachable {
		return
	}

	name := machine.Name(i) + ".lab"

	h, err := remote.New(remote.Config{Host: name, PrivateKey: w.lab.SSHKey(), HostKey: w.lab.HostKey(name), Dial: w.lab.Dial})
	if err != nil {
		w.t.Fatal(err)
	}

	defer h.Close()

	// Of a host that is not what it was nothing is known.
	_, _ = h.Run(w.ctx, remote.Command{Args: []string{"true"}})
}

// node is the state of a machine's system.
func (w world) node(i int) (s node.State) {
	w.t.Helper()

	err := w.lab.Store.View(func(tx store.Tx) (err error) {
		s, err = node.Load(tx, machine.Name(i))

		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}

	return s
}

// system changes the first machine's system by hand.
func (w world) system(f func(*node.State)) {
	w.t.Helper()

	err := w.lab.Store.Update(func(tx store.Tx) error { return node.Change(tx, machine.Name(0), f) })
	if err != nil {
		w.t.Fatal(err)
	}
}

// edit changes devices of the fabric by hand.
func (w world) edit(f func(d *hardware.Device)) {
	w.t.Helper()

	if err := w.far.Edit(f); err != nil {
		w.t.Fatal(err)
	}
}

// foreign lets somebody else attach devices to a machine.
func (w world) foreign(i, n int, model string) (ids []string) {
	w.t.Helper()

	for range n {
		err := w.far.Change(labAttach(i, model, &ids))
		if err != nil {
			w.t.Fatal(err)
		}
	}

	return ids
}

// record changes what the fabric says of a machine.
func (w world) record(i int, f func(r *hardware.Record)) {
	w.t.Helper()

	if err := w.far.EditMachine(machine.Name(i), f); err != nil {
		w.t.Fatal(err)
	}
}
