// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package composablegpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// report says what failed, one diagnostic a failure, and what follows from all of them.
type report struct {
	label    string // of the resource
	failures []*device.Failure
	closing  [2]string // summary and detail of the last diagnostic; empty: none
}

// errors makes the report errors.
func (r report) errors(diags *diag.Diagnostics) {
	r.each(func(at path.Path, summary, detail string) {
		if at.Equal(path.Empty()) {
			diags.AddError(summary, detail)
		} else {
			diags.AddAttributeError(at, summary, detail)
		}
	})
}

// warnings makes the report warnings: the resource is kept as it is.
func (r report) warnings(diags *diag.Diagnostics) {
	r.each(func(_ path.Path, summary, detail string) { diags.AddWarning(summary, detail) })
}

// each says what failed. One failure says itself what follows from it; several leave that to
// a last diagnostic.
func (r report) each(say func(at path.Path, summary, detail string)) {
	for _, f := range r.failures {
		summary, detail := r.words(f)
		if len(r.failures) == 1 && r.closing[1] != "" {
			detail += "\n" + r.closing[1]
		}

		say(blame(f.Err), summary, detail)
	}

	if len(r.failures) != 1 && r.closing[0] != "" {
		say(path.Empty(), r.closing[0], r.closing[1])
	}
}

// words say what was being done, to what, for how long, and what the far side said.
func (r report) words(f *device.Failure) (summary, detail string) {
	summary = r.label + ": step \"" + f.Step + "\" failed"
	if f.Host != "" {
		summary += " on " + f.Host
	}

	var b strings.Builder

	if f.Device != "" {
		b.WriteString("Device " + f.Device + ": ")
	}

	b.WriteString(sentence(f.Err))

	if f.Elapsed >= time.Second {
		fmt.Fprintf(&b, " This was %s after the step began.", f.Elapsed.Round(time.Second))
	}

	if f.Advice != "" {
		b.WriteString("\n" + sentenceOf(f.Advice))
	}

	return summary, b.String()
}

// blame is the attribute that decides about a failure; empty: none does.
func blame(err error) path.Path {
	for _, one := range []struct {
		reason error
		at     path.Path
	}{
		{device.ErrExisting, path.Root("existing_devices")},
		{device.ErrInUse, path.Root("force_detach")},
		{device.ErrUnreachable, pathHosts},
		{device.ErrNoHost, pathHosts},
		{fabric.ErrCapacity, pathSize},
	} {
		if errors.Is(err, one.reason) {
			return one.at
		}
	}

	return path.Empty()
}

// remark adds what a person should know about a run. It is one warning: Terraform folds
// those of equal summaries, and shows the first.
func remark(label string, all []string, diags *diag.Diagnostics) {
	if len(all) == 0 {
		return
	}

	lines := make([]string, 0, len(all))
	for _, w := range all {
		lines = append(lines, sentenceOf(w))
	}

	diags.AddWarning(label, strings.Join(lines, "\n"))
}

// progress is what a run says while it goes on.
func progress(label string) func(ctx context.Context, words string) {
	return func(ctx context.Context, words string) { tflog.Info(ctx, words, map[string]any{"resource": label}) }
}

// sentence makes an error a sentence.
func sentence(err error) string { return value.Sentence(err) }

// sentenceOf makes a text a sentence.
func sentenceOf(s string) string { return value.Sentence(errors.New(s)) }
