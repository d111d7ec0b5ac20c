// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// The test binary is a provider of its own when it is told so: it starts a daemon, and then
// runs a command that would take long.
const helperName = "METAL3_TEST_STARTER"

// helper is what that provider is told.
type helper struct {
	Config remote.Config
	Mark   string
}

func TestDetach_theProviderOfTheTestsBelow(t *testing.T) { //nolint:paralleltest // it is a process of its own
	text := os.Getenv(helperName)
	if text == "" {
		return // it is no test, and nothing is missing
	}

	var told helper
	if err := json.Unmarshal([]byte(text), &told); err != nil {
		t.Fatal(err)
	}

	// Who runs the tests without a terminal may ignore these, and what they start does, too.
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGINT, syscall.SIGHUP)

	go func() {
		<-ends
		os.Exit(1)
	}()

	h := open(t, told.Config)

	r, err := h.Run(t.Context(), remote.Command{Script: daemonize, Params: []string{told.Mark}, Detach: true})
	if err != nil || r.Exit != 0 {
		t.Fatal(r, err)
	}

	_, _ = h.Run(t.Context(), remote.Command{Script: `echo >"$2"; exec sleep "$1.5"`, Params: []string{told.Mark, os.Getenv("METAL3_TEST_FILE")}})
}

// provider runs one, and returns once its long command runs.
func provider(t *testing.T, c remote.Config, m string) *exec.Cmd {
	t.Helper()

	text, err := json.Marshal(struct {
		Config map[string]any
		Mark   string
	}{map[string]any{
		"Type": c.Type, "Host": c.Host, "Port": c.Port, "User": c.User, "PrivateKey": c.PrivateKey, "HostKey": c.HostKey, "Sudo": c.Sudo,
	}, m})
	if err != nil {
		t.Fatal(err)
	}

	ready := t.TempDir() + "/ready"

	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDetach_theProviderOfTheTestsBelow$")
	cmd.Env = append(os.Environ(), helperName+"="+string(text), "METAL3_TEST_FILE="+ready)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	for range 1000 {
		if _, err := os.Stat(ready); err == nil {
			return cmd
		}

		time.Sleep(10 * time.Millisecond)
	}

	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	t.Fatal("the provider does not come so far")

	return nil
}

// What the end of a provider does: its commands end, its daemons do not.
func TestDetach_survivesTheProvider(t *testing.T) {
	t.Parallel()

	cases := map[string]func(*exec.Cmd) error{
		"Ctrl-C, to the whole group":  func(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) },
		"hang-up, to the whole group": func(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGHUP) },
		"SIGKILL":                     func(c *exec.Cmd) error { return c.Process.Kill() },
	}

	places := map[string]func(t *testing.T) remote.Config{
		"on this machine":    func(*testing.T) remote.Config { return remote.Config{Type: remote.Local} },
		"over SSH":           func(t *testing.T) remote.Config { t.Helper(); return sshd(t).config() },
		"over SSH with sudo": func(t *testing.T) remote.Config { t.Helper(); return sshd(t).config(as(sudoer, true)) },
	}

	for place, config := range places {
		for name, end := range cases {
			t.Run(place+": "+name, func(t *testing.T) {
				t.Parallel()

				m := mark(t)
				cmd := provider(t, config(t), m)
				pid := found(t, m)

				if err := end(cmd); err != nil {
					t.Error(err)
				}

				_ = cmd.Wait()

				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()

				if !gone(ctx, "sleep "+m+".5") {
					t.Error("its command still runs")
				}

				time.Sleep(time.Second)
				lives(t, pid)
			})
		}
	}
}

// A connection that is cut ends commands and sessions, and no daemon.
func TestDetach_survivesTheConnection(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	h := open(t, s.config())
	m := mark(t)
	pid := daemon(t, h, m)
	spoken := talk(t, h, remote.Command{Script: `echo $$; exec sleep "$1.5"`, Params: []string{m}})

	line, err := bufio.NewReader(spoken).ReadString('\n')
	if _, failed := strconv.Atoi(strings.TrimSpace(line)); err != nil || failed != nil {
		t.Fatal(line, err)
	}

	cmd := remote.Command{Script: `exec sleep "$1.6"`, Params: []string{m}}
	if err := struck(t.Context(), t, h, cmd, s.kill, "sleep "+m+".5", "sleep "+m+".6"); !errors.Is(err, remote.ErrLost) {
		t.Errorf("the command: %v", err)
	}

	if _, err := spoken.Read(make([]byte, 1)); !errors.Is(err, remote.ErrLost) {
		t.Errorf("the session, a read: %v", err)
	}

	if _, err := spoken.Write(make([]byte, 1)); !errors.Is(err, remote.ErrLost) {
		t.Errorf("the session, a write: %v", err)
	}

	took(t, time.Second, "the end of the session", func() { _ = spoken.Close() })

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()

	for _, what := range []string{".5", ".6"} {
		if !gone(ctx, "sleep "+m+what) {
			t.Error("something still runs")
		}
	}

	time.Sleep(time.Second)
	lives(t, pid)
}
