// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// failure is a verb that did not reach its end.
type failure struct {
	label, verb string
	err         error
	stands      string        // what there is, in the life cycle's words
	how         string        // how to go on
	limit       time.Duration // that was reached; 0: none
}

// words say what failed, why, what stands, and how to go on.
func (f failure) words() (summary, detail string) {
	lines := []string{}

	if f.err != nil {
		lines = append(lines, f.why())
	}

	if f.limit > 0 {
		lines = append(lines, fmt.Sprintf("The limit of %s (timeouts.%s) was reached.", f.limit, f.verb))
	}

	for _, text := range []string{f.stands, f.how} {
		if text != "" {
			lines = append(lines, sentence(text))
		}
	}

	return fmt.Sprintf("%s: the %s did not finish", f.label, f.verb), strings.Join(lines, "\n")
}

// why makes a sentence of the error. Names of machines at its beginning stay as they are spelled.
func (f failure) why() string {
	s := strings.TrimSpace(f.err.Error())

	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsAny(first, ":/.-0123456789") {
		return value.Sentence(errors.New(s))
	}

	if strings.HasSuffix(s, ".") {
		return s
	}

	return s + "."
}

// error makes it an error, at the attribute that decides where one does.
func (f failure) error(diags *diag.Diagnostics) {
	summary, detail := f.words()

	var (
		few    *cluster.CapacityError
		exists *cluster.ExistsError
	)

	switch {
	case errors.As(f.err, &few):
		diags.AddAttributeError(pathHostPool, summary, detail)
	case errors.As(f.err, &exists):
		diags.AddAttributeError(path.Root("name"), summary, detail)
	default:
		diags.AddError(summary, detail)
	}
}

func (f failure) warning(diags *diag.Diagnostics) { diags.AddWarning(f.words()) }

// remark adds what a person should know about a run. Terraform folds equal summaries, so each
// has the name of the cluster in it.
func remark(label string, all []cluster.Warning, diags *diag.Diagnostics) {
	for _, w := range all {
		summary := w.Summary
		if !strings.Contains(summary, label) {
			summary = label + ": " + summary
		}

		diags.AddWarning(summary, sentence(w.Detail))
	}
}

// interrupted reports whether the user asked Terraform to stop.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled)
}

// limited bounds a verb by the timeout that is configured for it. Waiting for a place among the
// hosts that are busy does not count.
func (m model) limited(ctx context.Context, of func(timeoutsModel) types.String, otherwise time.Duration) (context.Context, *wait.Budget, context.CancelFunc, time.Duration) {
	var ignored diag.Diagnostics

	limit := otherwise

	if t, ok := value.Object[timeoutsModel](ctx, m.Timeouts, &ignored); ok {
		if d := span(of(t)); d > 0 {
			limit = d
		}
	}

	bounded, budget, cancel := wait.WithBudget(ctx, limit)

	return bounded, budget, cancel, limit
}

// reached is the limit, where it ended the verb.
func reached(ctx context.Context, limit time.Duration) time.Duration {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return limit
	}

	return 0
}

// progress is what a run says while it goes on.
func progress(label string) func(ctx context.Context, text string) {
	return func(ctx context.Context, text string) { tflog.Info(ctx, text, map[string]any{"cluster": label}) }
}

// guard makes a panic a diagnostic: it would end the process, and with it what all other
// resources are doing. It must be deferred itself.
func guard(ctx context.Context, verb string, diags *diag.Diagnostics) {
	if p := recover(); p != nil {
		tflog.Error(ctx, "panic", map[string]any{"verb": verb, "panic": fmt.Sprint(p), "stack": string(debug.Stack())})
		diags.AddError("Bug in the provider", fmt.Sprintf("The %s of a cluster ended in a panic; please report this: %v", verb, p))
	}
}
