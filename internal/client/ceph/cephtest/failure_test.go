// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephtest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func sameBatches(t *testing.T, one *acctest.One) {
	t.Helper()

	cmds := [][]byte{
		[]byte(`{"prefix":"osd dump","format":"json"}`), []byte(`{"prefix":"mon getmap"}`),
		[]byte(`{"prefix":"auth get","entity":"client.nobody"}`), []byte(`{"prefix":"config dump","format":"json"}`),
		[]byte(`{"prefix":"osd ok-to-stop","ids":["0","1"],"format":"json"}`), []byte(`{"prefix":"fsid"}`),
	}

	for _, c := range openAll(t, wayTo(one)) {
		all, err := c.Batch(t.Context(), cmds)
		if err != nil || len(all) != len(cmds) {
			t.Errorf("%s: %d answers: %v", c.name, len(all), err)

			continue
		}

		for i, cmd := range cmds {
			out, status, err := c.MonCommand(t.Context(), cmd)
			got := all[i]

			if !equal(got.Out, out) || got.Status != status || (got.Err == nil) != (err == nil) || (err != nil && got.Err.Error() != err.Error()) {
				t.Errorf("%s: %s: %q %q %v in a batch, and alone %q %q %v", c.name, cmd, got.Out, got.Status, got.Err, out, status, err)
			}
		}

		if all, err := c.Batch(t.Context(), nil); err != nil || len(all) != 0 {
			t.Errorf("%s: no commands: %v, %v", c.name, all, err)
		}
	}
}

// manyCommands: 200 over one session, from many sides; the tool connects anew each time, so that
// it gets fewer.
func manyCommands(t *testing.T, one *acctest.One) {
	t.Helper()

	for _, c := range openAll(t, wayTo(one)) {
		n := 200
		if c.name == "cli" {
			n = 10
		}

		begun := time.Now()

		var work sync.WaitGroup

		for i := range n {
			work.Go(func() {
				value := strings.Repeat("x", i*100)
				cmd := fmt.Appendf(nil, `{"prefix":"config-key set","key":"m/%s/%d"}`, c.name, i)

				if _, status, err := c.MonCommandWithInputBuffer(t.Context(), cmd, []byte(value)); err != nil {
					t.Errorf("%s: %v, %q", c.name, err, status)
				}

				out, _, err := c.MonCommand(t.Context(), fmt.Appendf(nil, `{"prefix":"config-key get","key":"m/%s/%d"}`, c.name, i))
				if err != nil || string(out) != value {
					t.Errorf("%s: %d bytes of %d: %v", c.name, len(out), len(value), err)
				}
			})
		}

		work.Wait()
		t.Logf("%s: %d writes and reads in %s", c.name, n, time.Since(begun).Round(time.Millisecond))
	}
}

func wrongKeys(t *testing.T, one *acctest.One) {
	t.Helper()

	dir := t.TempDir()
	write := func(name, key string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("[client.admin]\n\tkey = "+key+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		return path
	}

	cases := map[string]struct {
		change func(w *way)
		want   error
	}{
		"a key of somebody else": {func(w *way) { w.keyring = write("wrong", key1) }, api.ErrPermission},
		"a name without a key":   {func(w *way) { w.name = "client.nobody" }, api.ErrPermission},
		"a keyring is not there": {func(w *way) { w.keyring = filepath.Join(dir, "absent") }, api.ErrNotFound},
		"a ceph.conf is missing": {func(w *way) { w.conf = filepath.Join(dir, "absent.conf") }, api.ErrNotFound},
		"a keyring that is none": {func(w *way) { w.keyring = write("garbage", "hunter2secret") }, &api.Error{Code: -5}},
		"a file that is no ceph.conf": {func(w *way) {
			w.conf = filepath.Join(dir, "no.conf")
			if err := os.WriteFile(w.conf, []byte("no = [[[\nx"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, api.ErrInvalid},
	}

	for name, c := range cases {
		for _, tr := range transports() {
			t.Run(name+", "+tr.name, func(t *testing.T) {
				w := wayTo(one)
				c.change(&w)

				err := ask(t, tr, w)
				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}

				if err != nil && strings.Contains(err.Error(), "hunter2") {
					t.Errorf("the error holds a key: %v", err)
				}
			})
		}
	}
}

// ask opens a connection, and sends a command where that does not fail.
func ask(t *testing.T, tr transport, w way) error {
	t.Helper()

	c, err := tr.open(t, w)
	if err != nil {
		return err
	}

	defer func() { _ = c.Close() }()

	_, _, err = c.MonCommand(t.Context(), monStat)

	return err
}

// poorHosts: the host has no ceph command, or one that says little of an interpreter.
func poorHosts(t *testing.T, one *acctest.One) {
	t.Helper()

	// pathWith is a PATH with a ceph command before all others.
	pathWith := func(t *testing.T, text string) []string {
		t.Helper()

		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "ceph"), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}

		// This interpreter can have no librados: it has no modules at all.
		if err := os.WriteFile(filepath.Join(dir, "python3-bare"), []byte("#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}

		return []string{"PATH=" + dir + ":/usr/bin:/bin", "BARE=" + dir}
	}

	cases := map[string]struct {
		ceph string
		want error
	}{
		"ceph is a shell script":                   {ceph: "#!/bin/sh\nexec false\n"},
		"ceph is no script":                        {ceph: "\x7fELF\x00\x00\n"},
		"an interpreter by way of env":             {ceph: "#!/usr/bin/env python3\n"},
		"an interpreter with an option":            {ceph: "#! /usr/bin/python3 -s\r\n"},
		"an interpreter that is not there":         {ceph: "#!/no/such/python3\n", want: api.ErrNoLibrados},
		"one by way of env that is not there":      {ceph: "#!/usr/bin/env python9\n"},
		"the interpreter does not find the module": {ceph: "#!/usr/bin/python3 -S\n", want: api.ErrNoLibrados},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := wayTo(one)
			w.env = pathWith(t, c.ceph)

			if err := ask(t, transport{"bridge", openBridge}, w); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}

	t.Run("no ceph command", func(t *testing.T) {
		w := wayTo(one)
		w.env = []string{"PATH=" + t.TempDir()}

		if err := ask(t, transport{"cli", openCLI}, w); !errors.Is(err, api.ErrNoTool) {
			t.Errorf("%v", err)
		}
	})
}
