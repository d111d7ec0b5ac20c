// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

func TestFailure_ofCodes(t *testing.T) {
	t.Parallel()

	cmd := []byte(`{"prefix":"osd purge","id":1}`)

	if err := command.Failure(cmd, 0, "done", nil); err != nil {
		t.Error(err)
	}

	for code, want := range map[int]error{-16: api.ErrBusy, 110: api.ErrTimedOut, -110: api.ErrTimedOut, -2: api.ErrNotFound} {
		err := command.Failure(cmd, code, "words", []byte("out"))

		var e *api.Error
		if !errors.Is(err, want) || !errors.As(err, &e) || e.Command != "osd purge" || e.Status != "words" || string(e.Out) != "out" {
			t.Errorf("%d: %+v", code, err)
		}
	}
}

func TestRefused_ofCodes(t *testing.T) {
	t.Parallel()

	for code, want := range map[int]error{-110: api.ErrNoQuorum, -1: api.ErrPermission, -13: api.ErrPermission, -2: api.ErrNotFound} {
		if err := command.Refused(code, "words"); !errors.Is(err, want) || !strings.Contains(err.Error(), "words") {
			t.Errorf("%d: %v", code, err)
		}
	}
}

func TestJoin_asLibradosDoes(t *testing.T) {
	t.Parallel()

	for want, parts := range map[string][][]byte{"": nil, "a": {[]byte("a")}, "abc": {[]byte("a"), nil, []byte("bc")}} {
		if got := command.Join(parts); string(got) != want {
			t.Errorf("%q: %q", parts, got)
		}
	}
}

func TestWords_holdNoLogAndNoKeys(t *testing.T) {
	t.Parallel()

	cases := map[string]struct{ said, want string }{
		"nothing":         {"", ""},
		"words":           {"osd.1 does not exist\n", "osd.1 does not exist"},
		"colours":         {"\x1b[1;31mno\x1b[0m\r\n", "no"},
		"a log":           {"2024-02-03T04:05:06.789+0000 7f8a3179b6c0 -1 auth: key val=xxx: Malformed\n\n[errno 5] x\n", "[errno 5] x"},
		"an older log":    {"2020-02-03 04:05:06.789 7f8a3179b6c0 -1 monclient: hunting\nno\n", "no"},
		"a key":           {"key = AQBpKQRkAAAAABAAnRHLg2Y5ZkGfPTTg4ZbEVg== is bad", "key = *** is bad"},
		"several lines":   {"\n\na\n\nb\n\n", "a\n\nb"},
		"a date in words": {"2024 was a year", "2024 was a year"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := command.Words(c.said); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestExplain_asksOnce(t *testing.T) {
	t.Parallel()

	late := &api.Error{Code: command.TimedOut}
	lost := errors.New("connection lost")

	cases := map[string]struct {
		err    error
		out    string
		why    error
		want   []error
		not    []error
		unused bool
	}{
		"there was an answer": {err: nil, unused: true},
		"an answer of Ceph":   {err: api.ErrBusy, want: []error{api.ErrBusy}, unused: true},
		"it is known":         {err: errors.Join(api.ErrNoQuorum, late), want: []error{late}, unused: true},
		"no manager":          {err: late, out: `{"available":false}`, want: []error{late, api.ErrNoManager}},
		"a manager":           {err: late, out: `{"available":true}`, want: []error{late}, not: []error{api.ErrNoManager, api.ErrNoQuorum}},
		"nobody knows":        {err: late, out: `{"epoch":1}`, want: []error{late}, not: []error{api.ErrNoManager}},
		"no text":             {err: late, out: `<html>`, want: []error{late}, not: []error{api.ErrNoManager}},
		"no monitor":          {err: late, why: late, want: []error{late, api.ErrNoQuorum}},
		"none to connect to":  {err: late, why: api.ErrNoQuorum, want: []error{late, api.ErrNoQuorum}},
		"no host":             {err: late, why: lost, want: []error{late}, not: []error{lost, api.ErrNoQuorum}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			asked := 0
			err := command.Explain(t.Context(), c.err, func(_ context.Context, cmd []byte) ([]byte, error) {
				asked++

				if command.Prefix(cmd) != "mgr stat" {
					t.Errorf("%s", cmd)
				}

				return []byte(c.out), c.why
			})

			for _, want := range c.want {
				if !errors.Is(err, want) {
					t.Errorf("%v is no %v", err, want)
				}
			}

			for _, not := range c.not {
				if errors.Is(err, not) {
					t.Errorf("%v is a %v", err, not)
				}
			}

			if (asked == 0) != c.unused {
				t.Errorf("asked %d times", asked)
			}
		})
	}
}

func FuzzWords(f *testing.F) {
	f.Add("2024-02-03T04:05:06.789+0000 7f8a3179b6c0 -1 auth\nError EBUSY: x")
	f.Add("\x1b[0m\xff")

	f.Fuzz(func(t *testing.T, said string) {
		if got := command.Last(command.Words(said)); len(got) > 610 || utf8.ValidString(said) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
	})
}

func FuzzPrefix(f *testing.F) {
	f.Add([]byte(`{"prefix":"status"}`))
	f.Add([]byte(`{"prefix":1}`))

	f.Fuzz(func(_ *testing.T, cmd []byte) { _ = command.Prefix(cmd) })
}
