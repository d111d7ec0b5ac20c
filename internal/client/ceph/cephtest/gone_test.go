// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephtest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

var (
	monStat = []byte(`{"prefix":"mon stat"}`)
	pgStat  = []byte(`{"prefix":"pg stat","format":"json"}`)
)

// noManager is O-CEPH-03: commands that a manager answers never return without one.
func noManager(t *testing.T, one *acctest.One) {
	t.Helper()

	w := wayTo(one)
	w.limit = 3 * time.Second
	all := openAll(t, w)

	// So that they notice soon. With less than two of their ticks they never do: they take
	// themselves for slow, and forgive the manager.
	if _, status, err := all[0].MonCommand(t.Context(), []byte(`{"prefix":"config set","who":"mon","name":"mon_mgr_beacon_grace","value":"9"}`)); err != nil {
		t.Fatal(err, status)
	}

	one.Stop(t, "mgr.x")

	t.Run("O-CEPH-03: a command has its limit", func(t *testing.T) {
		each(all, func(c opened) {
			begun := time.Now()
			_, _, err := c.MonCommand(t.Context(), pgStat)

			if took := time.Since(begun); !errors.Is(err, api.ErrTimedOut) || took < 2*time.Second || took > 15*time.Second {
				t.Errorf("%s: %v after %s", c.name, err, took)
			}
		})

		if all := left(one, client.isBridge); len(all) > 0 {
			t.Errorf("these still run: %v", all)
		}
	})

	t.Run("a context ends a command", func(t *testing.T) {
		each(all, func(c opened) {
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			begun := time.Now()
			_, _, err := c.MgrCommand(ctx, [][]byte{pgStat})

			cancel()

			if took := time.Since(begun); err == nil || took > 6*time.Second {
				t.Errorf("%s: %v after %s", c.name, err, took)
			}

			if _, _, err := c.MonCommand(t.Context(), monStat); err != nil {
				t.Errorf("%s: afterwards: %v", c.name, err)
			}
		})
	})

	t.Run("the monitors know that there is none", func(t *testing.T) {
		unavailable(t, all[0])

		each(all, func(c opened) {
			if _, _, err := c.MgrCommand(t.Context(), [][]byte{pgStat}); !errors.Is(err, api.ErrNoManager) || !errors.Is(err, api.ErrTimedOut) {
				t.Errorf("%s: %v", c.name, err)
			}

			if _, err := c.Batch(t.Context(), [][]byte{monStat, pgStat, monStat}); !errors.Is(err, api.ErrNoManager) {
				t.Errorf("%s: a batch: %v", c.name, err)
			}
		})
	})

	t.Run("nothing is left on the host", func(t *testing.T) {
		each(all, func(c opened) {
			if err := c.Close(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		})

		if all := left(one, func(client) bool { return false }); len(all) > 0 {
			t.Errorf("these still run: %v", all)
		}
	})

	one.Start(t, "mgr.x")
}

// unavailable waits until the monitors say that there is no manager.
func unavailable(t *testing.T, c opened) {
	t.Helper()

	for range 60 {
		out, _, err := c.MonCommand(t.Context(), []byte(`{"prefix":"mgr stat","format":"json"}`))
		if err != nil {
			t.Fatal(err)
		}

		if strings.Contains(string(out), `"available":false`) {
			return
		}

		time.Sleep(time.Second)
	}

	t.Fatal("the monitors still say that there is a manager")
}

// each asks all transports at a time.
func each(all []opened, ask func(c opened)) {
	var work sync.WaitGroup

	for _, c := range all {
		work.Go(func() { ask(c) })
	}

	work.Wait()
}

// client is a process that talks to the cluster and is none of its daemons.
type client struct {
	pid  int
	line string
}

// clients are those that run now.
func clients(one *acctest.One) []client {
	var all []client

	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), one.Conf) {
			continue
		}

		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))

		words := strings.Split(string(text), "\x00")
		if err == nil && !strings.HasPrefix(filepath.Base(words[0]), "ceph-") {
			all = append(all, client{pid, strings.Join(words, " ")})
		}
	}

	return all
}

// isBridge tells whether it is the program of a session.
func (c client) isBridge() bool { return strings.Contains(c.line, "rados.Rados(") }

// left are the clients that are still there after a moment, without those that may be.
func left(one *acctest.One, may func(c client) bool) []client {
	var all []client

	for range 50 {
		if all = slices.DeleteFunc(clients(one), may); len(all) == 0 {
			return nil
		}

		time.Sleep(100 * time.Millisecond)
	}

	return all
}

// stuck is O-CEPH-03, too: the program of a session does not come back, and can only be ended.
func stuck(t *testing.T, one *acctest.One) {
	t.Helper()

	w := wayTo(one)
	w.limit = 2 * time.Second

	c, err := openBridge(t, w)
	if err != nil {
		t.Fatal(err)
	}

	var stopped []int

	for _, p := range clients(one) {
		if p.isBridge() && strings.HasPrefix(p.line, "/usr/bin/python3") {
			stopped = append(stopped, p.pid)

			if err := syscall.Kill(p.pid, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
		}
	}

	begun := time.Now()

	_, _, err = c.MonCommand(t.Context(), monStat)
	if took := time.Since(begun); len(stopped) != 1 || !errors.Is(err, api.ErrTimedOut) || !errors.Is(err, api.ErrLost) || took > 20*time.Second {
		t.Errorf("%d stopped: %v after %s", len(stopped), err, took)
	}

	if all := left(one, func(c client) bool { return !slices.Contains(stopped, c.pid) }); len(all) > 0 {
		t.Errorf("these still run: %v", all)
	}

	if _, _, err := c.MonCommand(t.Context(), monStat); err != nil {
		t.Error("the next command:", err)
	}
}

func noMonitor(t *testing.T, one *acctest.One) {
	t.Helper()

	w := wayTo(one)
	w.limit = 3 * time.Second
	all := openAll(t, w)

	one.Stop(t, "mon.a")

	each(all, func(c opened) {
		begun := time.Now()
		_, _, err := c.MonCommand(t.Context(), monStat)

		if took := time.Since(begun); !errors.Is(err, api.ErrNoQuorum) || took > 15*time.Second {
			t.Errorf("%s: %v after %s", c.name, err, took)
		}

		if _, err := c.Batch(t.Context(), [][]byte{monStat, monStat, monStat}); !errors.Is(err, api.ErrNoQuorum) {
			t.Errorf("%s: a batch: %v", c.name, err)
		}
	})

	for _, tr := range transports() {
		begun := time.Now()

		if err := ask(t, tr, w); !errors.Is(err, api.ErrNoQuorum) || time.Since(begun) > 8*time.Second {
			t.Errorf("%s: a new connection: %v after %s", tr.name, err, time.Since(begun))
		}
	}

	one.Start(t, "mon.a")

	each(all, func(c opened) {
		var err error

		for range 5 {
			if _, _, err = c.MonCommand(t.Context(), monStat); err == nil {
				break
			}
		}

		if err != nil {
			t.Errorf("%s: the monitor is back: %v", c.name, err)
		}
	})
}
