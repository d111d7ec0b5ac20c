// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// mortal is the network of a process that is killed in the middle of a request: from then on
// nothing that it does reaches anybody, and it hears nothing any more.
type mortal struct {
	http.RoundTripper

	kills  func(r *http.Request) bool // with this request on its way
	before bool                       // the request does not arrive
	dead   chan struct{}              // closed by the kill
	buried chan struct{}              // closed at the end of the test
	once   sync.Once
}

// RoundTrip implements [http.RoundTripper].
func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	select {
	case <-m.dead:
		return m.silence()
	default:
	}

	kills := m.kills(r)

	if !kills || !m.before {
		resp, err := m.RoundTripper.RoundTrip(r)
		if !kills {
			return resp, err //nolint:wrapcheck // as it is
		}

		if err == nil {
			_ = resp.Body.Close()
		}
	}

	m.once.Do(func() { close(m.dead) })

	return m.silence()
}

func (m *mortal) silence() (*http.Response, error) {
	<-m.buried

	return nil, errors.New("the process is dead")
}

// killed applies in a process that is killed at the n-th order; what it would have put into the
// state is lost with it.
func (w world) killed(config Map, n int, before bool) {
	w.t.Helper()

	m := &mortal{RoundTripper: w.lab.Transport(), before: before, dead: make(chan struct{}), buried: make(chan struct{})}
	m.kills = func(r *http.Request) bool {
		if r.Method == http.MethodGet || strings.Contains(r.URL.Path, "/id_manager/") || strings.HasSuffix(r.URL.Path, "/Sessions") {
			return false
		}

		n--

		return n == 0
	}

	victim := w.another()
	victim.Options = append(victim.Options, provider.WithTransport(m))
	victim.forgotten()

	ended := make(chan struct{})

	go func() {
		defer close(ended)

		victim.Core.Apply(victim.ctx, config)
	}()

	select {
	case <-m.dead:
	case <-ended:
		w.t.Fatal("the apply ended before it was killed")
	}

	w.t.Cleanup(func() {
		close(m.buried)
		<-ended
	})
	time.Sleep(time.Minute) // somebody notices, and applies again
}

// TestGPU_killed kills the provider around an order, and applies again.
func TestGPU_killed(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		before  bool
		n       int
		size    int
		journal bool
		with    Map
		fails   string
		attach  int // in all
	}{
		"11.18 with the journal it goes on with the device":              {n: 1, size: 1, journal: true, attach: 1},
		"11.18 with the journal at the second of three":                  {n: 2, size: 3, journal: true, attach: 3},
		"11.18 with the journal, and the order never arrived":            {n: 1, size: 1, journal: true, before: true, attach: 1},
		"11.18 without a journal it stops":                               {n: 1, size: 1, fails: "existing_devices = \"adopt\"", attach: 1},
		"11.18 without a journal, existing_devices = adopt takes it":     {n: 1, size: 2, with: Map{"existing_devices": "adopt"}, attach: 2},
		"11.18 without a journal, existing_devices = ignore leaves it":   {n: 1, size: 1, with: Map{"existing_devices": "ignore"}, attach: 2},
		"11.18 without a journal, and the order never arrived":           {n: 1, size: 1, before: true, attach: 1},
		"11.18 another configuration does not take what the journal has": {n: 1, size: 1, journal: true, with: Map{"model": l40s}, attach: 2},
	} {
		for _, k := range either(c.journal) {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				s := setup{kind: k, strange: c.fails != "" || c.with != nil}
				if !c.journal {
					s.fabric = Map{"journal_dir": "off"}
				}

				inLab(t, s, func(w world) {
					w.killed(gpus(c.size), c.n, c.before)

					o := w.Apply(w.ctx, gpus(c.size, c.with))

					switch {
					case c.fails != "":
						if !strings.Contains(o.Errors, c.fails) || w.Exists() || !strings.Contains(o.Errors, "import") {
							t.Errorf("%s; state %v", o.Errors, w.State())
						}
					case o.Errors != "" || len(w.devices()) != c.size || w.Get("state") != "Running":
						t.Errorf("%s; state %v", o.Errors, w.State())
					default:
						w.empty(gpus(c.size, c.with))
					}

					if n := w.attached(); n != c.attach {
						t.Errorf("%d attached in all, want %d", n, c.attach)
					}
				})
			})
		}
	}
}

// TestGPU_killedGrowth kills an update: the state that there was is the state that there is.
func TestGPU_killedGrowth(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		t.Run("11.18 in an update, "+k.name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{kind: k}, func(w world) {
				w.apply(gpus(1))

				// The victim knows the device by a state of its own: the same machine, the same size.
				w.killed(gpus(2, Map{"existing_devices": "adopt"}), 1, false)
				w.apply(gpus(2, Map{"existing_devices": "adopt"}))
				w.count(2)

				if n := w.attached(); n != 2 {
					t.Errorf("%d attached in all", n)
				}
			})
		})
	}
}

// TestGPU_interrupt stops an apply while the order is on its way, as Ctrl-C does.
func TestGPU_interrupt(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		for name, after := range map[string]time.Duration{"at once": time.Millisecond, "while the device comes": 5 * time.Second} {
			t.Run("11.19 the device of the order is in the state, "+name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k}, func(w world) {
					ctx, stop := context.WithCancel(w.ctx)
					defer stop()

					w.far.Inject(labfabric.Fault{Match: k.attach, When: func(*http.Request, []byte) bool {
						time.AfterFunc(after, stop)

						return false
					}})

					o := w.Apply(ctx, gpus(3))
					if !o.Says("interrupted") || w.Tainted {
						t.Errorf("tainted %v: %s %s", w.Tainted, o.Errors, o.Warnings)
					}

					w.count(1)
					w.apply(gpus(3)) // goes on in place
					w.count(3)

					if n := w.attached(); n != 3 {
						t.Errorf("%d attached in all", n)
					}

					w.stopsDestroy(k)
				})
			})
		}
	}
}

// stopsDestroy interrupts a destroy, and destroys again.
func (w world) stopsDestroy(k kind) {
	w.t.Helper()

	ctx, stop := context.WithCancel(w.ctx)
	defer stop()

	w.far.Heal()
	w.far.Inject(labfabric.Fault{Match: k.detach, When: func(*http.Request, []byte) bool {
		time.AfterFunc(time.Second, stop)

		return false
	}})

	if o := w.Apply(ctx, nil); !strings.Contains(o.Errors, "interrupted") {
		w.t.Errorf("destroy: %s", o.Errors)
	}

	w.count(2)
	w.destroy()
}

// TestGPU_partial gets three of four devices.
func TestGPU_partial(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		with    Map
		left    int
		tainted bool
	}{
		"11.20 rolled back":                            {nil, 0, false},
		"11.20 kept and tainted":                       {Map{"on_partial": "keep"}, 3, true},
		"11.20 kept, and the next plan goes on":        {Map{"on_partial": "keep", "on_create_failure": "keep"}, 3, false},
		"11.20 rolled back, and the empty one is kept": {Map{"on_create_failure": "keep"}, 0, false},
	} {
		for _, k := range either(c.left == 0) {
			t.Run(name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k}, func(w world) {
					w.far.Inject(labfabric.Fault{
						Match: k.attach, Skip: 3, Times: -1, Status: 400, Body: `{"status":400,"detail":{"code":"E0077","message":"the switch has no free port"},"code":"E0077","message":"the switch has no free port"}`,
						When: func(r *http.Request, body []byte) bool { return w.adds(r, body) },
					})

					config := gpus(4, nodes(0), c.with)
					o := w.Apply(w.ctx, config)
					w.count(c.left)

					if !o.Says("400") || w.Tainted != c.tainted || w.Tainted != (o.Errors != "" && w.Exists()) {
						t.Errorf("tainted %v: %s %s", w.Tainted, o.Errors, o.Warnings)
					}

					w.far.Heal()
					w.Untaint()
					w.apply(config)
					w.count(4)

					if n := w.attached(); n != 7-c.left {
						t.Errorf("%d attached in all", n)
					}
				})
			})
		}
	}
}

// adds tells whether the body of a request orders a device, for managers on which detaching
// has the same address: a rollback must get through.
func (w world) adds(r *http.Request, body []byte) bool {
	s := string(body)

	switch w.setup.kind.name {
	case cm.name:
		return strings.Contains(s, "increase_resource_count")
	case cdim.name:
		return strings.Contains(s, `"connect"`)
	case zones.name:
		return strings.Count(s, "/Endpoints/") > 1+len(w.on(0)) // the machine's own is one
	case blocks.name:
		return strings.HasSuffix(r.URL.Path, "AddResourceBlock")
	default:
		return true
	}
}
