// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// shells runs a test on this machine and over SSH, with each kind of /bin/sh.
func shells(t *testing.T, f func(t *testing.T, h remote.Host)) {
	t.Helper()

	t.Run("on this machine", func(t *testing.T) {
		t.Parallel()
		f(t, open(t, remote.Config{Type: remote.Local}))
	})

	for _, shell := range []string{"/bin/dash", "/bin/bash", "/bin/busybox"} {
		t.Run("over SSH to "+filepath.Base(shell), func(t *testing.T) {
			t.Parallel()

			if _, err := os.Stat(shell); err != nil {
				acctest.Missing(t, shell)
			}

			s := sshd(t, shell)
			f(t, open(t, s.config()))
		})
	}
}

// mark is a number of seconds that no other test sleeps.
func mark(t *testing.T) string {
	t.Helper()

	return fmt.Sprintf("%d%06d", 70000+os.Getpid()%10000, time.Now().UnixNano()%1000000)
}

// What has cleared its environment does not bear the mark of its command.
func TestRun_endsWhatHasLostItsMark(t *testing.T) {
	t.Parallel()

	cases := map[string]string{
		"in the group":                `env -i sleep "$1.1" & env -i sleep "$1.2"`,
		"and ignores SIGTERM":         `env -i sh -c 'trap "" TERM HUP PIPE; while :; do sleep "$1.1"; done' sh "$1"`,
		"in a group of its own":       `set -m; env -i sleep "$1.1" & env -i sleep "$1.2" & wait`,
		"below one that has left all": `setsid sh -c 'env -i sleep "$1.1" & sleep "$1.2"' sh "$1"`,
	}

	shells(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		for name, script := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				m := mark(t)

				_, err := h.Run(t.Context(), remote.Command{Script: script, Params: []string{m}, Limit: time.Second})
				if !errors.Is(err, remote.ErrTimeout) || strings.Contains(err.Error(), "may still run") {
					t.Errorf("got %v", err)
				}

				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()

				if !gone(ctx, "sleep "+m) {
					t.Error("something still runs")
				}
			})
		}
	})
}

func TestRun_endsWhenTheConnectionCloses(t *testing.T) {
	t.Parallel()

	cases := map[string]string{
		"a session of its own that ignores SIGTERM": `setsid sh -c 'trap "" TERM HUP; while :; do sleep "$1.1"; done' sh "$1" & wait`,
		"what has lost its mark":                    `env -i sleep "$1.1" & env -i sleep "$1.2"`,
		"a child that ignores SIGTERM":              `(trap "" TERM HUP PIPE; while :; do sleep "$1.1"; done) & sleep "$1.2"`,
	}

	for name, script := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			shells(t, func(t *testing.T, h remote.Host) {
				t.Helper()

				m := mark(t)

				words := []string{"sleep " + m + ".1"}
				if strings.Contains(script, "$1.2") {
					words = append(words, "sleep "+m+".2")
				}

				err := struck(t.Context(), t, h, remote.Command{Script: script, Params: []string{m}}, func() { _ = h.Close() }, words...)
				if !errors.Is(err, remote.ErrLost) {
					t.Errorf("got %v", err)
				}

				ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
				defer cancel()

				if !gone(ctx, "sleep "+m) {
					t.Error("something still runs")
				}
			})
		})
	}
}

// A small system may have no setsid: the killer stays in the group of what it ends.
func TestRun_endsWithoutSetsid(t *testing.T) {
	t.Parallel()

	bin := t.TempDir()

	for _, tool := range []string{"cat", "env", "grep", "head", "sleep", "tr"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			acctest.Missing(t, tool)
		}

		if err := os.Symlink(path, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}

	s := sshd(t)
	h := open(t, s.config())
	m := mark(t)

	err := struck(t.Context(), t, h, remote.Command{
		Script: `(trap "" TERM HUP PIPE; while :; do sleep "$1.1"; done) & sleep "$1.2"`, Params: []string{m}, Env: []string{"PATH=" + bin},
	}, func() { _ = h.Close() }, "sleep "+m+".1", "sleep "+m+".2")
	if !errors.Is(err, remote.ErrLost) {
		t.Errorf("got %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()

	if !gone(ctx, "sleep "+m) {
		t.Error("something still runs")
	}
}

// What the killer cannot end is told. A process of another user is one.
func TestRun_tellsWhatMayStillRun(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	h := open(t, s.config(as(sudoer, false)))
	m := mark(t)

	_, err := h.Run(t.Context(), remote.Command{Script: `sudo -n env -i sleep "$1.1"`, Params: []string{m}, Limit: time.Second})
	if !errors.Is(err, remote.ErrTimeout) {
		t.Errorf("got %v", err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()

	if told, ended := strings.Contains(err.Error(), "may still run"), gone(ctx, "sleep "+m); told == ended {
		t.Errorf("ended: %t, and it says: %v", ended, err)
	}

	if _, err := open(t, s.config()).Run(t.Context(), remote.Command{Args: []string{"pkill", "-f", "sleep " + m}}); err != nil {
		t.Error(err)
	}
}
