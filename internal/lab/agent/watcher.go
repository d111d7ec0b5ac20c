// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"fmt"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// watcher follows one machine, and starts and stops its agent.
type watcher struct {
	*Runner

	name  string
	poke  chan struct{}
	boots int // the boot that was looked into

	mu    sync.Mutex // guards agent, which the control API shows
	agent *agent
}

func (w *watcher) run() {
	defer w.stop()

	for {
		m, ok, err := w.load(w.name)
		if err != nil {
			w.log.Error("the lab's memory", "machine", w.name, "error", err)
		}

		if ok {
			w.follow(m)
		}

		var alarm *time.Timer
		if at := m.Due(); !at.IsZero() {
			alarm = time.AfterFunc(time.Until(at), func() { w.Poke(w.name) })
		}

		select {
		case <-w.ctx.Done():
			return
		case <-w.poke:
		}

		if alarm != nil {
			alarm.Stop()
		}
	}
}

// follow makes the agent what the machine's power and boot say.
func (w *watcher) follow(m machine.Machine) {
	if m.Power != machine.On || m.Boots != w.boots {
		w.stop()
	}

	if m.Power != machine.On || m.Booted == "" || m.Boots == w.boots {
		return
	}

	w.boots = m.Boots

	params, err := w.bootParams(m)

	switch {
	case err != nil:
		w.say(w.name, fmt.Sprintf("boot of %s failed: %v", m.Booted, err))
		w.running(m.Boots, func(m *machine.Machine) {
			if m.Image != "" && m.Running == machine.Nothing {
				m.Running = machine.Disk // nobody answers on the network: the next in the boot order
			}
		})
	case params == nil: // the disk, or a medium without an agent in it
	case m.Faults.NoAgent:
		w.say(w.name, "agent stays silent (fault)")
	default:
		w.say(w.name, "agent starts: "+shown(params))
		w.running(m.Boots, func(m *machine.Machine) { m.Running = machine.Agent })
		w.start(m, params)
	}
}

// running changes what a machine runs, unless it was switched off or booted again meanwhile.
func (w *watcher) running(boots int, f func(*machine.Machine)) {
	w.update(w.name, func(m *machine.Machine) {
		if m.Power == machine.On && m.Boots == boots {
			f(m)
		}
	})
}

func (w *watcher) start(m machine.Machine, params map[string]string) {
	a := newAgent(w.Runner, m, params)

	w.mu.Lock()
	w.agent = a
	w.mu.Unlock()

	w.wg.Go(a.run)
}

func (w *watcher) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.agent != nil {
		w.agent.stop()
		w.agent = nil
	}
}

func (w *watcher) view() map[string]any {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.agent == nil {
		return nil
	}

	return w.agent.view()
}
