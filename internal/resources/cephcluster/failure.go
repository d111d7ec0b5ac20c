// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
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
	return value.FailureWords(f.label, f.verb, f.err, f.limit, f.stands, f.how)
}

// error makes it an error, at the attribute that decides where one does.
func (f failure) error(diags *diag.Diagnostics) {
	summary, detail := f.words()

	if at := blame(f.err); at.Equal(path.Empty()) {
		diags.AddError(summary, detail)
	} else {
		diags.AddAttributeError(at, summary, detail)
	}
}

func (f failure) warning(diags *diag.Diagnostics) { diags.AddWarning(f.words()) }

// blame is the attribute that decides about a failure; empty: none does.
func blame(err error) path.Path {
	for _, one := range []struct {
		reason error
		at     path.Path
	}{
		{ceph.ErrUnreachable, pathHosts},
		{ceph.ErrForeign, pathTakeover},
		{ceph.ErrInUse, pathStorage},
		{ceph.ErrGone, pathStorage},
	} {
		if errors.Is(err, one.reason) {
			return one.at
		}
	}

	return path.Empty()
}

// remark adds what a person should know about a run. Terraform folds equal summaries, so each
// has the name of the cluster in it.
func remark(label string, all []ceph.Remark, diags *diag.Diagnostics) {
	for _, w := range all {
		summary := w.Summary
		if !strings.Contains(summary, label) {
			summary = label + ": " + summary
		}

		diags.AddWarning(summary, value.SentenceAbout(w.Detail))
	}
}

// limited bounds a verb by the timeout that is configured for it.
func (m model) limited(ctx context.Context, of func(timeoutsModel) types.String, otherwise time.Duration) (context.Context, context.CancelFunc, time.Duration) {
	var ignored diag.Diagnostics

	limit := otherwise

	if t, ok := value.Object[timeoutsModel](ctx, m.Timeouts, &ignored); ok {
		if d := span(of(t)); d > 0 {
			limit = d
		}
	}

	bounded, cancel := context.WithTimeout(ctx, limit)

	return bounded, cancel, limit
}

// progress is what a run says while it goes on.
func progress(label string) func(ctx context.Context, text string) {
	return func(ctx context.Context, text string) { tflog.Info(ctx, text, map[string]any{"cluster": label}) }
}
