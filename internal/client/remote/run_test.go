// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// kinds runs a test on every kind of host.
func kinds(t *testing.T, f func(t *testing.T, h remote.Host)) {
	t.Helper()

	t.Run("on this machine", func(t *testing.T) {
		t.Parallel()
		f(t, open(t, remote.Config{Type: remote.Local}))
	})

	t.Run("over SSH", func(t *testing.T) {
		t.Parallel()
		f(t, open(t, sshd(t).config()))
	})

	t.Run("over SSH with sudo", func(t *testing.T) {
		t.Parallel()
		f(t, open(t, sshd(t).config(as(sudoer, true))))
	})
}

func TestRun_aTableOfCommands(t *testing.T) {
	t.Parallel()

	big := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	awkward := []string{"a b", "", "'", `"`, `\`, "$HOME", "`id`", "*", "a\nb", "ä", "-n", "!x", "A=b c", ";", "&", "#"}

	cases := map[string]struct {
		cmd    remote.Command
		stdout string
		stderr string // a part of it
		exit   int
	}{
		"a program":                        {cmd: remote.Command{Args: []string{"echo", "hello"}}, stdout: "hello\n"},
		"arguments are passed as they are": {cmd: remote.Command{Args: append([]string{"printf", "[%s]"}, awkward...)}, stdout: "[" + strings.Join(awkward, "][") + "]"},
		"an exit status":                   {cmd: remote.Command{Script: "echo out; echo err >&2; exit 42"}, stdout: "out\n", stderr: "err\n", exit: 42},
		"a program that is not there":      {cmd: remote.Command{Args: []string{"no-such-program"}}, stderr: "not found", exit: 127},
		"a program that is no program":     {cmd: remote.Command{Args: []string{"/etc/passwd"}}, stderr: "ermission denied", exit: 126},
		"parameters of a script":           {cmd: remote.Command{Script: `printf '%s|' "$#" "$@"`, Params: []string{"a b", "", "c'd"}}, stdout: "3|a b||c'd|"},
		"standard input":                   {cmd: remote.Command{Args: []string{"cat"}, Stdin: []byte("in\x00put")}, stdout: "in\x00put"},
		"no standard input":                {cmd: remote.Command{Args: []string{"cat"}}},
		"a long standard input":            {cmd: remote.Command{Args: []string{"wc", "-c"}, Stdin: []byte(big)}, stdout: fmt.Sprintf("%d\n", len(big))},
		"an input that nobody reads":       {cmd: remote.Command{Args: []string{"true"}, Stdin: []byte(big)}},
		"a long output":                    {cmd: remote.Command{Args: []string{"cat"}, Stdin: []byte(big)}, stdout: big},
		"the environment":                  {cmd: remote.Command{Script: `echo "$LC_ALL $A"`, Env: []string{"A=b 'c'"}}, stdout: "C b 'c'\n"},
		"a signal":                         {cmd: remote.Command{Script: "kill -TERM $$"}, exit: 143},
		"what is left in the background":   {cmd: remote.Command{Script: "sleep 3 >/dev/null 2>&1 & echo started"}, stdout: "started\n"},
	}

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				began := time.Now()

				r, err := h.Run(t.Context(), c.cmd)
				if err != nil {
					t.Fatal(err)
				}

				if string(r.Stdout) != c.stdout || r.Exit != c.exit || !strings.Contains(string(r.Stderr), c.stderr) || c.stderr == "" && len(r.Stderr) > 0 {
					t.Errorf("exit %d, stdout %.200q, stderr %.200q; want %d %.200q %q", r.Exit, r.Stdout, r.Stderr, c.exit, c.stdout, c.stderr)
				}

				if took := time.Since(began); took > 20*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		}
	})
}

func TestRun_whatCannotBeRun(t *testing.T) {
	t.Parallel()

	cases := map[string]remote.Command{
		"nothing":                 {},
		"a NUL byte":              {Args: []string{"echo", "a\x00b"}},
		"a variable without name": {Args: []string{"true"}, Env: []string{"=x"}},
		"a variable with a dash":  {Args: []string{"true"}, Env: []string{"A-B=x"}},
		"a very long script":      {Script: strings.Repeat("# a line of a script\n", 8000)},
	}

	h := open(t, remote.Config{Type: remote.Local})

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := h.Run(t.Context(), c); !errors.Is(err, remote.ErrConfig) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// stubborn ignores SIGTERM, has a child that does, and one that left session and group.
const stubborn = `trap '' TERM HUP PIPE
(trap '' TERM HUP PIPE; while :; do sleep "$1.1"; done) &
setsid sh -c 'trap "" TERM HUP PIPE; while :; do sleep "$1.2"; done' sh "$1" >/dev/null 2>&1 &
echo begun
while :; do sleep "$1.3"; done`

func TestRun_endsWithAllThatItStarted(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		run  func(ctx context.Context, t *testing.T, h remote.Host, mark string) error
		want error
	}{
		"at its limit": {func(ctx context.Context, _ *testing.T, h remote.Host, mark string) error {
			_, err := h.Run(ctx, remote.Command{Script: stubborn, Params: []string{mark}, Limit: 700 * time.Millisecond})

			return err
		}, remote.ErrTimeout},
		"at the caller's deadline": {func(ctx context.Context, _ *testing.T, h remote.Host, mark string) error {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()

			_, err := h.Run(ctx, remote.Command{Script: stubborn, Params: []string{mark}})

			return err
		}, remote.ErrTimeout},
		"when the caller gives up": {func(ctx context.Context, _ *testing.T, h remote.Host, mark string) error {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)

			_, err := h.Run(ctx, remote.Command{Script: stubborn, Params: []string{mark}})

			return err
		}, context.Canceled},
		"when it says too much": {func(ctx context.Context, _ *testing.T, h remote.Host, mark string) error {
			_, err := h.Run(ctx, remote.Command{Script: "yes & " + stubborn, Params: []string{mark}, MaxOutput: 1 << 16})

			return err
		}, remote.ErrTooLong},
		"when the connection is closed": {func(ctx context.Context, t *testing.T, h remote.Host, mark string) error {
			t.Helper()

			sleep := "sleep " + mark

			return struck(ctx, t, h, remote.Command{Script: stubborn, Params: []string{mark}}, func() { _ = h.Close() }, sleep+".1", sleep+".2", sleep+".3")
		}, remote.ErrLost},
	}

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		end := func(t *testing.T, name string) {
			t.Helper()

			c := cases[name]
			mark := fmt.Sprintf("%d%06d%d", 70000+os.Getpid()%10000, time.Now().UnixNano()%1000000, len(name))
			began := time.Now()

			err := c.run(t.Context(), t, h, mark)
			if !errors.Is(err, c.want) || strings.Contains(fmt.Sprint(err), "may still run") {
				t.Errorf("it ended with %v", err)
			}

			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}

			ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
			defer cancel()

			if !gone(ctx, "sleep "+mark) {
				t.Error("something still runs")
			}
		}

		const last = "when the connection is closed"

		t.Run("while it is open", func(t *testing.T) {
			for name := range cases {
				if name == last {
					continue
				}

				t.Run(name, func(t *testing.T) {
					t.Parallel()
					end(t, name)
				})
			}
		})

		end(t, last)
	})
}

func TestRun_twentyAtOnce(t *testing.T) {
	t.Parallel()

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		var all sync.WaitGroup

		for i := range 20 {
			all.Go(func() {
				want := fmt.Sprintf("%d\n", i)

				r, err := h.Run(t.Context(), remote.Command{Script: `sleep 0.2; echo "$1"`, Params: []string{fmt.Sprint(i)}})
				if err != nil || string(r.Stdout) != want {
					t.Errorf("%d: %q %v", i, r.Stdout, err)
				}
			})
		}

		all.Wait()
	})
}

func TestFiles_writtenAndRead(t *testing.T) {
	t.Parallel()

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		dir := t.TempDir()
		name := filepath.Join(dir, "a file's name")

		for i, data := range [][]byte{[]byte("first"), bytes.Repeat([]byte{0, 1, 2, 255}, 1<<18), {}} {
			owner := []string{"", "root:root", ""}[i]

			if err := h.WriteFile(t.Context(), name, data, owner, 0o640); err != nil {
				t.Fatal(err)
			}

			got, err := h.ReadFile(t.Context(), name)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("read %d bytes of %d, %v", len(got), len(data), err)
			}

			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("%v %v", info, err)
			}
		}

		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("beside the file: %v %v", left, err)
		}

		if got, err := h.ReadFile(t.Context(), "/proc/version"); err != nil || len(got) == 0 {
			t.Errorf("a file of /proc: %q %v", got, err)
		}

		for what, err := range map[string]error{
			"read a file that is not there": second(h.ReadFile(t.Context(), dir+"/none")),
			"write below what is not there": h.WriteFile(t.Context(), dir+"/none/x", nil, "", 0o600),
			"and with an owner":             h.WriteFile(t.Context(), dir+"/none/x", nil, "root", 0o600),
		} {
			if !errors.Is(err, remote.ErrNotFound) {
				t.Errorf("%s: %v", what, err)
			}
		}

		for what, err := range map[string]error{
			"an owner that is no owner":   h.WriteFile(t.Context(), name, nil, "root; id", 0o600),
			"an owner who is not there":   h.WriteFile(t.Context(), name, nil, "nobody-knows-him", 0o600),
			"a folder":                    h.WriteFile(t.Context(), dir, nil, "", 0o600),
			"a folder, and with an owner": h.WriteFile(t.Context(), dir, nil, "root", 0o600),
		} {
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }
