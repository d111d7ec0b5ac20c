// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// This file runs commands on machines' operating systems.

// hooksDue reports whether commands are to be run on a machine that was deployed.
func (m *member) hooksDue() bool { return m.note.HooksDue && len(m.pool.PostProvision) > 0 }

// firstHooks runs commands on a machine that was deployed, one after the other, once for each deployment.
// A machine that boots is waited for. The first failure is the machine's: the next run begins again.
func (w *worker) firstHooks(ctx context.Context, m *member) error {
	if !m.hooksDue() {
		return nil
	}

	for i, h := range m.pool.PostProvision {
		run := w.runHook
		if i == 0 {
			run = w.runOnceUp
		}

		if err := run(ctx, m, h); err != nil {
			return err
		}
	}

	m.note.HooksDue = false

	return w.scribble(ctx, m)
}

// runOnceUp runs a command on a machine as soon as that answers. How long it may take to answer is
// bounded, and not the command.
func (w *worker) runOnceUp(ctx context.Context, m *member, h Hook) error {
	bounded, cancel := context.WithTimeout(ctx, cmp.Or(w.Wanted.Wait.NodeTimeout, defaultAPITimeout))
	defer cancel()

	rhythm := wait.Cadence{First: time.Second, Factor: 2, Max: 15 * time.Second}

	var failed error

	err := wait.Until(bounded, rhythm, func(context.Context) (wait.Verdict, string, error) {
		if failed = w.runHook(ctx, m, h); errors.Is(failed, remote.ErrUnreachable) {
			return wait.Again, failed.Error(), nil
		}

		return wait.Done, "", nil
	})

	return cmp.Or(err, failed)
}

// lastHooks runs commands on a machine that is about to leave, or whose disk is about to be overwritten.
// A dead machine has nobody to run them, and goes all the same; and what nobody asked for keeps none.
func (w *worker) lastHooks(ctx context.Context, m *member, hooks []Hook) error {
	for i, h := range hooks {
		if why := m.silent(); why != "" {
			w.skipped(m, hooks[i:], why)

			return nil
		}

		err := w.runHook(ctx, m, h)

		switch {
		case err == nil:
		case ctx.Err() != nil:
			return err
		case remote.Silent(err):
			w.skipped(m, hooks[i:], err.Error())

			return nil
		case h.BestEffort:
			w.skipped(m, hooks[i:i+1], err.Error())
		default:
			return err
		}
	}

	return nil
}

// runHook runs one command, within its limit.
func (w *worker) runHook(ctx context.Context, m *member, h Hook) error {
	if w.Hook == nil {
		return errors.New("its hooks need a connection: set hooks.connection, or the provider's ssh settings")
	}

	w.log(ctx, "machine "+m.Name+": "+firstLine(h.Command))

	if h.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, h.Timeout)
		defer cancel()

		ctx = limited
	}

	if err := w.Hook(ctx, m.record, h); err != nil {
		return fmt.Errorf("hook %q: %w", firstLine(h.Command), err)
	}

	return nil
}

// silent says why nothing can be run on a machine, empty where it may be tried.
func (m *member) silent() string {
	switch {
	case m.seen.Node.PowerState == ironic.PowerOff:
		return "it is powered off"
	case m.sight() != SeenActive:
		return "what ran on it is overwritten"
	default:
		return ""
	}
}

// skipped tells which commands were not run on a machine that goes all the same.
func (w *worker) skipped(m *member, hooks []Hook, why string) {
	commands := make([]string, 0, len(hooks))
	for _, h := range hooks {
		commands = append(commands, fmt.Sprintf("%q", firstLine(h.Command)))
	}

	w.warn("Machine "+m.Name+m.on()+" goes without its hooks", "Not run to its end: "+strings.Join(commands, ", ")+". "+why+".")
}
