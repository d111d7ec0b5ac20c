// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrapVariable makes this program stand between Terraform and the provider: it runs the
// provider that the variable names and notes what it used.
const (
	wrapVariable  = "METAL3_FIGURES_WRAP"
	usageVariable = "METAL3_FIGURES_USAGE"
)

func TestMain(m *testing.M) {
	if provider := os.Getenv(wrapVariable); provider != "" {
		os.Exit(wrap(provider, os.Getenv(usageVariable)))
	}

	os.Exit(m.Run())
}

// usage is what one provider process used.
type usage struct {
	CPU   time.Duration
	MaxKB int64
}

func wrap(provider, file string) int {
	cmd := exec.Command(provider, os.Args[1:]...) //nolint:noctx // it ends when Terraform says so
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr

	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	line, _ := json.Marshal(usage{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), maxRSS(cmd.ProcessState)})

	if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.Write(append(line, '\n'))
		_ = f.Close()
	}

	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}

	return 0
}

// rounds is how often a time is measured; the median counts.
const rounds = 3

// needed skips a test that is no part of this run.
func needed(t *testing.T) {
	t.Helper()

	if os.Getenv("METAL3_FIGURES") == "" {
		t.Skip("not here: figures are measured by make bench")
	}
}

// figure adds a row to the file that make bench names, and fails the test where it misses its limit.
func figure(t *testing.T, what string, got, limit float64, unit, how string) {
	t.Helper()

	verdict := "ok"
	if got > limit {
		verdict = "MISSED"

		t.Errorf("%s: %.2f %s, the limit is %.2f", what, got, unit, limit)
	}

	row := fmt.Sprintf("| %s | %s %s | %s %s | %s | %s |\n", what, number(limit), unit, number(got), unit, verdict, how)
	t.Log(strings.TrimSpace(row))

	f, err := os.OpenFile(os.Getenv("METAL3_FIGURES"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	if _, err := f.WriteString(row); err != nil {
		t.Fatal(err)
	}
}

func number(f float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", f), "0"), ".")
}

func median[T int64 | time.Duration | float64](all []T) T {
	sorted := slices.Sorted(slices.Values(all))

	return sorted[len(sorted)/2]
}

func seconds(d time.Duration) float64 { return d.Seconds() }

func list(all []time.Duration) string {
	words := make([]string, 0, len(all))
	for _, d := range all {
		words = append(words, number(d.Seconds()))
	}

	return strings.Join(words, ", ")
}
