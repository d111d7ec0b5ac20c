// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
)

// runs gives every process the same result, and keeps what it was.
type runs struct {
	result cli.Result
	err    error
	takes  time.Duration
	argv   []string
	stdin  []byte
	limit  time.Duration
	n      int
}

func (r *runs) run(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (cli.Result, error) {
	r.argv, r.stdin, r.limit = argv, stdin, limit
	r.n++

	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	select {
	case <-ctx.Done():
		return cli.Result{}, errors.New("command took too long")
	case <-time.After(r.takes):
		return r.result, r.err
	}
}

func TestArgv_ofTheTool(t *testing.T) {
	t.Parallel()

	r := &runs{}
	c := cli.New(r.run, cli.Config{
		Conf: "/c", Name: "client.x", Keyring: "/k", Connect: 2500 * time.Millisecond, Limit: 30 * time.Second,
	}, "podman", "exec", "-i", "mon", "ceph")

	if _, _, err := c.MgrCommandWithInputBuffer(t.Context(), [][]byte{[]byte(`{"prefix":"crash `), []byte(`post"}`)}, []byte("in")); err != nil {
		t.Fatal(err)
	}

	want := "podman exec -i mon ceph --conf /c --name client.x --keyring=/k --connect-timeout 3 --rados_mon_op_timeout=30 -i - -- crash post"
	if got := strings.Join(r.argv, " "); got != want || string(r.stdin) != "in" || r.limit != 37500*time.Millisecond {
		t.Errorf("%s < %q in %s", got, r.stdin, r.limit)
	}

	if _, _, err := c.MonCommand(t.Context(), []byte(`{"prefix":"x"}`)); err != nil || slices.Contains(r.argv, "-i") && r.argv[len(r.argv)-3] == "-i" || r.stdin != nil {
		t.Errorf("%q %q %v", r.argv, r.stdin, err)
	}

	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestLimit_isHard(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		r := &runs{takes: time.Hour}
		c := cli.New(r.run, cli.Config{Connect: 5 * time.Second, Limit: 30 * time.Second})
		begun := time.Now()

		// The command, then the question whether there is a manager: nobody answers that one either.
		_, _, err := c.MonCommand(t.Context(), []byte(`{"prefix":"pg stat"}`))
		if !errors.Is(err, api.ErrTimedOut) || !errors.Is(err, api.ErrNoQuorum) || !strings.Contains(err.Error(), "pg stat") {
			t.Error(err)
		}

		if took := time.Since(begun); took != 40*time.Second+15*time.Second || r.n != 2 {
			t.Errorf("%d processes in %s", r.n, took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		_, _, err = c.MonCommand(ctx, []byte(`{"prefix":"pg stat"}`))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}

		n := r.n
		if _, _, err = c.MonCommand(ctx, []byte(`{"prefix":"pg stat"}`)); !errors.Is(err, context.DeadlineExceeded) || r.n != n {
			t.Error("after its end:", err)
		}
	})
}

func TestRun_anErrorIsPassedOn(t *testing.T) {
	t.Parallel()

	r := &runs{err: errors.New("connection lost")}
	c := cli.New(r.run, cli.Config{})

	if _, _, err := c.MonCommand(t.Context(), []byte(`{"prefix":"x"}`)); !errors.Is(err, r.err) || errors.Is(err, api.ErrTimedOut) {
		t.Error(err)
	}

	if _, err := c.Batch(t.Context(), [][]byte{[]byte(`{"prefix":"x"}`)}); !errors.Is(err, r.err) {
		t.Error(err)
	}

	if _, _, err := c.MonCommand(t.Context(), []byte(`{`)); !errors.Is(err, api.ErrInvalid) {
		t.Error(err)
	}

	if _, err := c.Batch(t.Context(), [][]byte{[]byte(`{`)}); !errors.Is(err, api.ErrInvalid) {
		t.Error(err)
	}
}

// stand is a ceph command of our own, and what runs it.
func stand(t *testing.T, script string) *cli.CLI {
	t.Helper()

	tool := filepath.Join(t.TempDir(), "ceph")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}

	return cli.New(func(ctx context.Context, argv []string, stdin []byte, _ time.Duration) (cli.Result, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)

		var out, said bytes.Buffer

		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &said
		err := cmd.Run()

		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = nil
		}

		return cli.Result{Stdout: out.Bytes(), Stderr: said.Bytes(), Exit: cmd.ProcessState.ExitCode()}, err
	}, cli.Config{}, tool)
}

// The tool's stand-in does what its last word says.
const standIn = `
for w; do :; done
case $w in
  text) printf 'a\nb' ;;
  bytes) printf '\n\000\377\n' ;;
  nothing) ;;
  words) echo out; echo some words >&2 ;;
  no) echo '{"why":1}'; echo 'Error EBUSY: not now' >&2; exit 16 ;;
  silent) echo timed out >&2; exit 1 ;;
  stdin) cat ;;
  long) i=0; while [ $i -lt 2000 ]; do echo "0123456789012345678901234567890123456789"; i=$((i+1)); done ;;
  *) printf '[%s]' "$w" ;;
esac
`

func TestBatch_isOneProcess(t *testing.T) {
	t.Parallel()

	c := stand(t, standIn)

	var cmds [][]byte
	for _, what := range []string{"text", "bytes", "nothing", "words", "no", "stdin", "long", "it's a \\\"word\\\" $HOME"} {
		cmds = append(cmds, []byte(`{"prefix":"x","do":"`+what+`"}`))
	}

	all, err := c.Batch(t.Context(), cmds)
	if err != nil || len(all) != len(cmds) {
		t.Fatal(all, err)
	}

	for i, want := range []string{"a\nb", "\n\x00\xff\n", "", "out\n", "{\"why\":1}\n", "", strings.Repeat("0123456789012345678901234567890123456789\n", 2000), `[it's a "word" $HOME]`} {
		if string(all[i].Out) != want {
			t.Errorf("%s: %q", cmds[i], all[i].Out)
		}
	}

	if all[3].Status != "some words" || !errors.Is(all[4].Err, api.ErrBusy) || all[4].Status != "not now" || all[0].Status != "" {
		t.Errorf("%+v", all)
	}
}

func TestBatch_endsWhenNobodyAnswers(t *testing.T) {
	t.Parallel()

	c := stand(t, standIn)
	text, silent := []byte(`{"prefix":"x","do":"text"}`), []byte(`{"prefix":"x","do":"silent"}`)

	if all, err := c.Batch(t.Context(), [][]byte{text, silent, text}); !errors.Is(err, api.ErrNoQuorum) || all != nil {
		t.Errorf("%v, %v", all, err)
	}
}

func TestBatch_ofAnyLength(t *testing.T) {
	t.Parallel()

	c := stand(t, standIn)

	var cmds [][]byte

	for range 8 {
		cmds = append(cmds, []byte(`{"prefix":"x","do":"`+strings.Repeat("y", 10<<10)+`"}`))
	}

	all, err := c.Batch(t.Context(), cmds)
	if err != nil || len(all) != len(cmds) || len(all[7].Out) != 10<<10+2 {
		t.Fatal(len(all), err)
	}
}

func TestBatch_outputsThatAreNone(t *testing.T) {
	t.Parallel()

	cases := map[string]cli.Result{
		"nothing":              {},
		"no base64 there":      {Exit: 126},
		"only half":            {Stdout: []byte("eA==\nM\n"), Stderr: []byte("\nM 0\n")},
		"outputs without code": {Stdout: []byte("eA==\nM\neA==\nM\n"), Stderr: []byte("\nM 0\n")},
		"a code that is none":  {Stdout: []byte("eA==\nM\neA==\nM\n"), Stderr: []byte("\nM 0\n\nM x\n")},
		"no base64":            {Stdout: []byte("eA==\nM\n%%\nM\n"), Stderr: []byte("\nM 0\n\nM 0\n")},
	}

	for name, r := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if n, err := cli.Outputs(2, "M", r); !errors.Is(err, api.ErrAnswer) {
				t.Errorf("%d, %v", n, err)
			}
		})
	}
}
