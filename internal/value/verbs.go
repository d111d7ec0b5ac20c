// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// Guard makes a panic a diagnostic: it would end the process, and with it what all other
// resources are doing. It must be deferred itself.
func Guard(ctx context.Context, verb, what string, diags *diag.Diagnostics) {
	if p := recover(); p != nil {
		tflog.Error(ctx, "panic", map[string]any{"verb": verb, "panic": fmt.Sprint(p), "stack": string(debug.Stack())})
		diags.AddError("Bug in the provider", fmt.Sprintf("The %s of a %s ended in a panic; please report this: %v", verb, what, p))
	}
}

// Interrupted reports whether the user asked Terraform to stop.
func Interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled)
}

// Reached is the limit of a verb, where it ended the verb; else 0.
func Reached(ctx context.Context, limit time.Duration) time.Duration {
	if ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return limit
	}

	return 0
}

// SentenceAbout makes a text a sentence. Names of hosts, machines and devices at its beginning stay as
// they are spelled.
func SentenceAbout(s string) string {
	s = strings.TrimSpace(s)

	first, _, _ := strings.Cut(s, " ")
	if !strings.ContainsAny(first, ":/.-0123456789") {
		return Sentence(errors.New(s))
	}

	if strings.HasSuffix(s, ".") {
		return s
	}

	return s + "."
}

// FailureWords say what failed, why, what stands, and how to go on. A limit that is not 0 was reached;
// texts that are empty are left out.
func FailureWords(label, verb string, err error, limit time.Duration, stands, how string) (summary, detail string) {
	lines := []string{}

	if err != nil {
		lines = append(lines, SentenceAbout(err.Error()))
	}

	if limit > 0 {
		lines = append(lines, fmt.Sprintf("The limit of %s (timeouts.%s) was reached.", limit, verb))
	}

	for _, text := range []string{stands, how} {
		if text != "" {
			lines = append(lines, SentenceAbout(text))
		}
	}

	return fmt.Sprintf("%s: the %s did not finish", label, verb), strings.Join(lines, "\n")
}
