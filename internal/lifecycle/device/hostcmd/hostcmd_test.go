// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hostcmd_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestScriptName(t *testing.T) {
	t.Parallel()

	for script, want := range map[string]string{hostcmd.Rescan: "pci-rescan", "# metal3: x": "x", "": ""} {
		if got := hostcmd.ScriptName(script); got != want {
			t.Errorf("%q: %q", script, got)
		}
	}
}

func TestPassing(t *testing.T) {
	t.Parallel()

	kind := errors.New("lost")
	err := fmt.Errorf("a command: %w", kind)

	if got := hostcmd.Passing(err, kind); !wait.IsTransient(got) || !errors.Is(got, kind) {
		t.Errorf("%v does not pass", got)
	}

	for _, err := range []error{nil, errors.New("no")} {
		if got := hostcmd.Passing(err, kind); wait.IsTransient(got) || !errors.Is(got, err) {
			t.Errorf("%v passes", got)
		}
	}
}

func FuzzWords(f *testing.F) {
	for _, s := range []string{"", " two\n lines \t", "\xff\xfe", strings.Repeat("é", 400)} {
		f.Add([]byte(s))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		got := hostcmd.Words(raw)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\t") || len(got) > 310 {
			t.Errorf("%q", got)
		}
	})
}
