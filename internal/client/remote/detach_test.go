// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// daemonize leaves a daemon behind that keeps its standard output and error.
const daemonize = `sh -c 'echo $$; exec sleep "$1.1"' sh "$1" &
echo started; echo careful >&2`

// daemon starts one and returns its process id; it ends with the test.
func daemon(t *testing.T, h remote.Host, m string) int {
	t.Helper()

	var r remote.Result

	took(t, 5*time.Second, "the start", func() {
		var err error

		r, err = h.Run(t.Context(), remote.Command{Script: daemonize, Params: []string{m}, Detach: true})
		if err != nil {
			t.Fatal(err)
		}
	})

	if !strings.Contains(string(r.Stdout), "started\n") || string(r.Stderr) != "careful\n" || r.Exit != 0 {
		t.Errorf("exit %d, stdout %q, stderr %q", r.Exit, r.Stdout, r.Stderr)
	}

	return found(t, m)
}

// found is the daemon's process id.
func found(t *testing.T, m string) int {
	t.Helper()

	return process(t, m+".1")
}

// process is the process that sleeps for so long; it ends with the test.
func process(t *testing.T, seconds string) int {
	t.Helper()

	for range 300 {
		files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, f := range files {
			if raw, err := os.ReadFile(f); err == nil && string(raw) == "sleep\x00"+seconds+"\x00" {
				pid, _ := strconv.Atoi(strings.Split(f, "/")[2])

				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })

				return pid
			}
		}

		time.Sleep(10 * time.Millisecond)
	}

	t.Fatal("no such process")

	return 0
}

// lives fails the test when a daemon has ended. A process that has ended may wait for its
// parent.
func lives(t *testing.T, pid int) {
	t.Helper()

	if _, state := stat(t, pid); state == "" || state == "Z" {
		t.Errorf("the daemon has ended: %q", state)
	}
}

// stat is the session of a process and its state.
func stat(t *testing.T, pid int) (session int, state string) {
	t.Helper()

	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, ""
	}

	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) < 4 {
		t.Fatalf("stat %q", raw)
	}

	session, _ = strconv.Atoi(fields[3])

	return session, fields[0]
}

func TestDetach_aDaemonIsOnItsOwn(t *testing.T) {
	t.Setenv("METAL3_TEST_SECRET", "geheim")

	shells(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		pid := daemon(t, h, mark(t))

		own, _ := stat(t, os.Getpid())
		if session, _ := stat(t, pid); session == own || session == 0 {
			t.Errorf("its session is %d", session)
		}

		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			t.Fatal(err)
		}

		for _, fd := range fds {
			to, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
			if n, _ := strconv.Atoi(fd.Name()); n > 2 || strings.HasPrefix(to, "pipe:") || strings.HasPrefix(to, "socket:") {
				t.Errorf("file %s is %s", fd.Name(), to)
			}
		}

		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			t.Fatal(err)
		}

		for _, word := range []string{"METAL3", "geheim", "SSH_"} {
			if strings.Contains(string(environment), word) {
				t.Errorf("its environment has %s: %q", word, environment)
			}
		}

		if !strings.Contains(string(environment), "PATH=") || !strings.Contains(string(environment), "LC_ALL=C") {
			t.Errorf("its environment is %q", environment)
		}

		if dir, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err != nil || dir != "/" {
			t.Errorf("its folder is %q, %v", dir, err)
		}
	})
}

func TestDetach_aTableOfStarters(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		cmd    remote.Command
		stdout string
		stderr string
		exit   int
	}{
		"it fails":                    {remote.Command{Script: "echo no >&2; exit 9"}, "", "no\n", 9},
		"it is not there":             {remote.Command{Args: []string{"no-such-program"}}, "", "no-such-program", 127},
		"it reads a secret":           {remote.Command{Args: []string{"cat"}, Stdin: []byte("geheim")}, "geheim", "", 0},
		"it has nothing to read":      {remote.Command{Script: "readlink /proc/self/fd/0"}, "/dev/null\n", "", 0},
		"it has variables":            {remote.Command{Script: `echo "$A"`, Env: []string{"A=b 'c'"}}, "b 'c'\n", "", 0},
		"it has awkward arguments":    {remote.Command{Args: []string{"printf", "%s|", "a b", "", "A=b", "'"}}, "a b||A=b|'|", "", 0},
		"it has a mask":               {remote.Command{Script: "umask"}, "0022\n", "", 0},
		"it may open many files":      {remote.Command{Script: `[ "$(ulimit -S -n)" = "$(ulimit -H -n)" ] || ulimit -S -n`}, "", "", 0},
		"it leads its session":        {remote.Command{Script: `read -r s </proc/$$/stat; set -- ${s##*) }; [ "$4" = $$ ] && echo yes`}, "yes\n", "", 0},
		"it is killed":                {remote.Command{Script: "kill -KILL $$"}, "", "", 137},
		"it prints much":              {remote.Command{Script: "head -c 3000000 /dev/zero"}, strings.Repeat("\x00", 3000000), "", 0},
		"it leaves a daemon and ends": {remote.Command{Script: "sleep 5 & exit 3"}, "", "", 3},
	}

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				c.cmd.Detach = true

				took(t, 20*time.Second, "it", func() {
					r, err := h.Run(t.Context(), c.cmd)
					if err != nil || string(r.Stdout) != c.stdout && string(r.Stdout) != strings.Replace(c.stdout, "0022", "022", 1) ||
						!strings.Contains(string(r.Stderr), c.stderr) || c.stderr == "" && len(r.Stderr) > 0 || r.Exit != c.exit {
						t.Errorf("exit %d, stdout %.100q, stderr %.200q, %v", r.Exit, r.Stdout, r.Stderr, err)
					}
				})
			})
		}
	})
}

// A daemon outlives whatever happens to what started it.
func TestDetach_aDaemonSurvives(t *testing.T) {
	t.Parallel()

	shells(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		m := mark(t)
		pid := daemon(t, h, m)

		lives(t, pid)

		// The next command is cancelled.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		if _, err := h.Run(ctx, remote.Command{Args: []string{"sleep", "60"}}); !errors.Is(err, remote.ErrTimeout) {
			t.Error(err)
		}

		lives(t, pid)

		// The connection ends while another runs.
		err := struck(t.Context(), t, h, remote.Command{Script: `exec sleep "$1.2"`, Params: []string{m}}, func() { _ = h.Close() }, "sleep "+m+".2")
		if !errors.Is(err, remote.ErrLost) {
			t.Error(err)
		}

		time.Sleep(4 * time.Second) // the wrapper has ended what it had to
		lives(t, pid)
	})
}

// A starter that hangs ends with its command, also one that ignores SIGTERM; the daemon does not.
func TestDetach_aStarterThatHangs(t *testing.T) {
	t.Parallel()

	cases := map[string]string{
		"it hangs":            `sleep "$1.1" & exec sleep "$1.2"`,
		"and ignores SIGTERM": `sleep "$1.1" & trap "" TERM; sleep "$1.2"; :`,
	}

	shells(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		for name, script := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				m := mark(t)

				_, err := h.Run(t.Context(), remote.Command{Script: script, Params: []string{m}, Detach: true, Limit: 3 * time.Second})
				if !errors.Is(err, remote.ErrTimeout) || strings.Contains(err.Error(), "may still run") {
					t.Errorf("got %v", err)
				}

				lives(t, found(t, m))

				switch {
				case running("sh " + m):
					t.Error("the starter's shell still runs")
				case name != "it hangs":
					process(t, m+".2") // of the starter's children nobody knows which is the daemon
				case running("sleep " + m + ".2"):
					t.Error("the starter still runs")
				}
			})
		}
	})
}
