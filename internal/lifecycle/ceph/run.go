// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle"
)

// Create makes the cluster, or goes on with one of the same name that an earlier run began.
func (r *Run) Create(ctx context.Context) Result { return r.converge(ctx, Record{}, true) }

// Update makes the cluster what is wanted.
func (r *Run) Update(ctx context.Context, was Record) Result { return r.converge(ctx, was, false) }

// PreflightError holds everything that stands in the way, of all hosts.
type PreflightError struct{ Problems []string }

// Error implements error.
func (e *PreflightError) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}

	return fmt.Sprintf("%d things stand in the way:\n- %s", len(e.Problems), strings.Join(e.Problems, "\n- "))
}

func (r *Run) converge(ctx context.Context, was Record, create bool) Result {
	w := r.worker(was)
	defer w.closeSession()

	w.create = create

	if w.External != nil {
		w.say(PhaseConnecting, "True", ReasonConnecting, messageConnecting)
	} else {
		w.say(PhaseProgressing, "True", ReasonProgressing, messageVersion)
	}

	seen, err := w.begin(ctx)
	if err == nil {
		seen, err = lifecycle.Drive(ctx, w, seen)
	}

	return w.finish(seen, err)
}

// begin looks at everything, brings in packages where that is wanted, and lists all that
// stands in the way before anything is changed.
func (w *worker) begin(ctx context.Context) (*Seen, error) {
	seen, err := w.look(ctx, nil, w.ask(true))
	if err != nil {
		return seen, err
	}

	if err := w.misplaced(seen); err != nil {
		return seen, err
	}

	if missing := MissingPrograms(&w.Wanted, seen); len(missing) > 0 && w.Packages == PackagesInstall {
		if seen, err = w.install(ctx, seen, missing); err != nil {
			return seen, err
		}
	}

	// What other clusters left goes only where that is said; the look after it must be clean.
	if w.Takeover.WipeForeignData {
		if seen, err = w.takeOver(ctx, seen); err != nil {
			return seen, err
		}
	}

	if problems := Problems(&w.Wanted, seen, w.create); len(problems) > 0 {
		return seen, &PreflightError{problems}
	}

	if err := w.wantedAgain(ctx, seen); err != nil {
		return seen, err
	}

	w.endExemptions(ctx, seen)

	for name, h := range seen.Hosts {
		if h.Err != nil {
			w.warn("Host "+name+" does not answer", h.Err.Error()+". What does not need it is done all the same; nothing of it is removed.")
		}
	}

	return seen, nil
}

// The ways to come by packages.
const (
	PackagesRequire = "require"
	PackagesInstall = "install"
)

func (w *worker) install(ctx context.Context, seen *Seen, missing map[string][]string) (*Seen, error) {
	w.log(ctx, "installing packages")

	err := remote.Each(ctx, atOnce, sortedKeys(missing), func(ctx context.Context, host string) error {
		h, err := w.on(host)
		if err == nil {
			err = h.Install(ctx, missing[host])
		}

		w.mark(host)

		if err != nil {
			return fmt.Errorf("%s: %w", host, err)
		}

		return nil
	})
	if err != nil {
		return seen, err
	}

	return w.look(ctx, seen, w.ask(true))
}

func (w *worker) takeOver(ctx context.Context, seen *Seen) (*Seen, error) {
	touched := false

	for _, h := range w.Hosts {
		left := seen.Hosts[h.Name].Leftovers
		if len(left) == 0 {
			continue
		}

		w.log(ctx, "deleting what other clusters left on "+h.Name)

		if err := h.Host.Discard(ctx, Layout{Name: w.Name, FSID: w.fsid(seen), Dir: w.Dir}, left); err != nil {
			return seen, fmt.Errorf("%s: %w", h.Name, err)
		}

		w.mark(h.Name)

		touched = true
	}

	if !touched {
		return seen, nil
	}

	return w.look(ctx, seen, w.ask(true))
}

// finish makes a result of the last look, whatever ended the run.
func (w *worker) finish(seen *Seen, err error) Result {
	if seen == nil {
		seen = &Seen{Record: w.was}
	}

	switch {
	case err != nil:
		w.say(PhaseProgressing, "False", ReasonProgressing, err.Error())
	default:
		w.sayReady()
	}

	res := w.result(seen)
	res.Err, res.Stands = err, w.stands(seen)

	if err == nil {
		w.remarkHealth(&res)
	}

	return res
}

// remarkHealth lists what the cluster warns of although it is ready.
func (w *worker) remarkHealth(res *Result) {
	for _, code := range sortedKeys(res.Record.Checks) {
		if c := res.Record.Checks[code]; !c.Muted {
			w.warn("Ceph cluster "+w.Name+" is ready and warns of "+code, c.Message)
		}
	}

	res.Warnings = w.warnings
}

// stands says what there is of the cluster, as far as somebody looked: a step that fails or is cut
// off may have done its part.
func (w *worker) stands(seen *Seen) string {
	if seen.Identity == nil {
		return "Nothing was made."
	}

	run, none := "run", "no daemon runs"
	if len(w.dirty) > 0 {
		run, none = "ran at the last look", "no daemon ran at the last look"
	}

	var parts []string

	count := map[string]int{}
	for _, h := range seen.Hosts {
		for _, d := range h.Daemons {
			if d.Running {
				count[d.Type]++
			}
		}
	}

	for _, kind := range []string{RoleMon, RoleMgr, RoleOSD, RoleMDS} {
		if count[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[kind], kind))
		}
	}

	if len(parts) == 0 {
		return fmt.Sprintf("The identity of the cluster (fsid %s) is made; %s.", seen.Identity.FSID, none)
	}

	return fmt.Sprintf("Of the cluster with fsid %s these daemons %s: %s.", seen.Identity.FSID, run, strings.Join(parts, ", "))
}
