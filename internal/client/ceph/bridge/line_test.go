// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge_test

import (
	"bytes"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
)

func TestLines_mayBeLong(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("this is the short run")
	}

	b := serves(greets((*far).echo)).open(t)
	in := bytes.Repeat([]byte("0123456789abcdef"), 2<<20) // 32 MiB, 43 on the wire

	if out, _, err := b.MonCommandWithInputBuffer(t.Context(), command("a"), in); err != nil || !bytes.Equal(out, in) {
		t.Errorf("%d bytes of %d: %v", len(out), len(in), err)
	}
}

func TestLines_haveABound(t *testing.T) {
	t.Parallel()

	b := serves(greets(func(f *far) {
		f.next()

		chunk := string(bytes.Repeat([]byte("x"), 1<<20))
		for range bridge.MaxLine>>20 + 1 {
			f.say(chunk)
		}
	}), greets((*far).echo)).open(t)

	_, _, err := b.MonCommand(t.Context(), command("a"))
	wants(t, err, api.ErrAnswer, api.ErrLost)

	if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
		t.Error(err)
	}
}

func FuzzGreeting(f *testing.F) {
	for _, seed := range []string{greeting, "", "{", `{"bridge":1}`, `{"bridge":1,"rc":-13,"s":"x"}`, `{"bridge":"1"}`, "[]", "null"} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, line []byte) {
		if ok, err := bridge.Greeting(line); ok && err == nil && !bytes.Contains(line, []byte("ridge")) && !bytes.Contains(line, []byte(`\u`)) &&
			!bytes.Contains(bytes.ToLower(line), []byte("bridge")) {
			t.Errorf("%q is taken for a greeting", line)
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, seed := range []string{`{"id":0,"rc":0,"s":"","out":"eA=="}`, `{"id":1}`, `{"id":null}`, `{"id":0,"rc":110}`, `{"id":0,"out":"%"}`, "", "{}", `{"id":0,"rc":-9223372036854775808}`} {
		f.Add([]byte(`{"prefix":"status"}`), []byte(seed))
	}

	f.Fuzz(func(_ *testing.T, cmd, line []byte) {
		if _, err := bridge.Reply(cmd, line); err != nil {
			_ = err.Error()
		}
	})
}
