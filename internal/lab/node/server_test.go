// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
)

func (r *rig) try() error {
	_, err := r.host.Run(r.t.Context(), remote.Command{Args: []string{"true"}, Limit: 5 * time.Second})

	return err
}

func (r *rig) power(change func(*machine.Machine)) {
	r.t.Helper()
	r.tx(func(tx store.Tx) error {
		m, _, err := machine.Load(tx, name)
		if err != nil {
			return err
		}

		change(&m)

		return machine.Save(tx, m)
	})
}

func TestServer_whoAnswers(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		steps := []struct {
			what   string
			change func()
			want   error
		}{
			{"a machine that nobody ever switched", func() {}, nil},
			{"switched off", func() { r.power(func(m *machine.Machine) { m.SetPower("ForceOff", time.Now(), 0) }) }, remote.ErrLost},
			{"still off", func() {}, remote.ErrUnreachable},
			{"switched on, but still booting", func() { r.power(func(m *machine.Machine) { m.SetPower("On", time.Now(), 0) }) }, remote.ErrUnreachable},
			{"and up", func() { time.Sleep(time.Minute) }, nil},
			{"nobody listens", func() { r.change(func(s *node.State) { s.Unreachable = true }) }, remote.ErrLost},
			{"still nobody", func() {}, remote.ErrUnreachable},
			{"installed anew", func() { r.change(func(s *node.State) { s.Unreachable, s.HostKeys = false, 1 }) }, remote.ErrHostKey},
			{"no login", func() { r.change(func(s *node.State) { s.HostKeys, s.RefuseLogin = 0, true }) }, remote.ErrAuth},
			{"as in the beginning", func() { r.change(func(s *node.State) { s.RefuseLogin = false }) }, nil},
			{"a command hangs", func() { r.change(func(s *node.State) { s.Hang = "true" }) }, remote.ErrTimeout},
		}

		for _, s := range steps {
			s.change()

			if err := r.try(); !errors.Is(err, s.want) {
				t.Errorf("%s: %v, want %v", s.what, err, s.want)
			}
		}
	})
}

func TestServer_aBootForgets(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		d := r.attach(hardware.GPU)

		if _, err := r.release(d, false); err != nil {
			t.Fatal(err)
		}

		if got := r.visible(); len(got) != 0 {
			t.Errorf("removed, and visible: %v", got)
		}

		r.power(func(m *machine.Machine) { m.SetPower("PowerCycle", time.Now(), 0) })
		time.Sleep(time.Minute)

		if got := r.visible(); len(got) != 1 {
			t.Errorf("after a boot: %v", got)
		}
	})
}

func TestServer_theClientGivesUp(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		r.change(func(s *node.State) { s.Hang = "sleep" })

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		_, err := r.host.Run(ctx, remote.Command{Args: []string{"sleep", "3600"}, Limit: time.Hour})
		if !errors.Is(err, remote.ErrTimeout) || strings.Contains(err.Error(), "may still run") {
			t.Errorf("got %v", err)
		}
	})
}

func TestServer_filesAndPrograms(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		big := []byte(strings.Repeat("0123456789abcdef", 1<<14))

		for path, data := range map[string][]byte{"/etc/a file's name": []byte("text"), "/etc/big": big, "/etc/empty": nil} {
			if err := r.host.WriteFile(t.Context(), path, data, "root:root", 0o600); err != nil {
				t.Fatal(err)
			}

			if got, err := r.host.ReadFile(t.Context(), path); err != nil || string(got) != string(data) {
				t.Errorf("%s: %d bytes of %d, %v", path, len(got), len(data), err)
			}
		}

		if _, err := r.host.ReadFile(t.Context(), "/etc/none"); !errors.Is(err, remote.ErrNotFound) {
			t.Errorf("a file that is not there: %v", err)
		}

		if got := r.run("echo", "a b", "c'd", "$HOME;`id`"); got != "a b c'd $HOME;`id`\n" {
			t.Errorf("echo said %q", got)
		}

		for what, c := range map[string]remote.Command{
			"a program that is not there": {Args: []string{"no-such-program"}},
			"a script of somebody":        {Script: "rm -rf /"},
		} {
			res, err := r.host.Run(t.Context(), c)
			if err != nil || res.Exit != 127 {
				t.Errorf("%s: %+v %v", what, res, err)
			}
		}
	})
}

func TestServer_manyAtOnce(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		var all sync.WaitGroup

		for i := range 20 {
			all.Go(func() {
				if got := r.run("echo", fmt.Sprint(i)); got != fmt.Sprintf("%d\n", i) {
					t.Errorf("%d: %q", i, got)
				}
			})
		}

		all.Wait()
	})
}

func TestServer_outlivesItsProcess(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")

	for i := range 2 {
		synctest.Test(t, func(t *testing.T) {
			l, err := lab.Open(lab.Options{Dir: dir, Trace: trace})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()

			h, err := remote.New(config(l))
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()

			if i == 0 {
				if err := h.WriteFile(t.Context(), "/root/x", []byte("kept"), "", 0o600); err != nil {
					t.Fatal(err)
				}
			}

			if got, err := h.ReadFile(t.Context(), "/root/x"); err != nil || string(got) != "kept" {
				t.Errorf("run %d: %q %v", i, got, err)
			}
		})
	}

	if raw, err := os.ReadFile(trace); err != nil || !strings.Contains(string(raw), "node-0.lab:22 RUN cat -- /root/x 0\n") {
		t.Errorf("trace %q %v", raw, err)
	}
}

func TestCXL_comesAndGoes(t *testing.T) {
	t.Parallel()

	bubble(t, func(r *rig) {
		t := r.t

		ops := cxl.New(r.host)

		d := r.attach(hardware.CXL)

		all, err := ops.List(t.Context())
		if err != nil || len(all) != 1 || !cxl.SameSerial(all[0].Serial, d.Serial) {
			t.Fatalf("list: %+v %v", all, err)
		}

		r.change(func(s *node.State) { s.CXLInUse = true })

		if _, err := ops.Release(t.Context(), all[0]); !errors.Is(err, cxl.ErrInUse) {
			t.Errorf("in use: %v", err)
		}

		r.change(func(s *node.State) { s.CXLInUse = false })

		released, err := ops.Release(t.Context(), all[0])
		if err != nil {
			t.Fatalf("release: %v; %q", err, r.state().Commands)
		}

		// The fabric did not take it: it comes back, and goes again.
		if err := ops.Restore(t.Context(), released); err != nil {
			t.Errorf("restore: %v; %q", err, r.state().Commands)
		}

		if _, err := ops.Release(t.Context(), all[0]); err != nil {
			t.Errorf("release again: %v", err)
		}

		r.detach(d)

		if all, err := ops.List(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("after the detach: %+v %v", all, err)
		}

		if s := r.state(); len(s.Surprises) > 0 {
			t.Errorf("surprises: %v", s.Surprises)
		}
	})
}
