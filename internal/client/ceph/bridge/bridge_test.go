// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
)

func TestOpen_whatAHostSaysFirst(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		says string
		want error
	}{
		"it is connected":        {says: greeting},
		"a banner stands before": {says: "Welcome to {h1} [prod]\n{\"not\":\"ours\"}\n[1]\n\n" + greeting},
		"windows line ends":      {says: strings.TrimSpace(greeting) + "\r\n"},
		"no monitor":             {says: `{"bridge":1,"rc":-110,"s":"timed out"}` + "\n", want: api.ErrNoQuorum},
		"the key is not taken":   {says: `{"bridge":1,"rc":-13,"s":"permission denied"}` + "\n", want: api.ErrPermission},
		"the same, in old words": {says: `{"bridge":1,"rc":-1,"s":"error connecting"}` + "\n", want: api.ErrPermission},
		"no keyring":             {says: `{"bridge":1,"rc":-2,"s":"object not found"}` + "\n", want: api.ErrNotFound},
		"no librados":            {says: `{"bridge":1,"rc":-2,"no":"librados","s":"No module named 'rados'"}` + "\n", want: api.ErrNoLibrados},
		"no Python":              {says: `{"bridge":1,"rc":-2,"no":"python"}` + "\n", want: api.ErrNoLibrados},
		"it ends":                {says: "", want: api.ErrLost},
		"it ends in a line":      {says: `{"bridge":1,"rc":0`, want: api.ErrLost},
		"it never comes to it":   {says: strings.Repeat("y\n", 2000), want: api.ErrAnswer},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := serves(func(f *far) { f.say(c.says) })

			b, err := bridge.Open(t.Context(), f.start, bridge.Config{})
			if c.want == nil {
				if err != nil || b.FSID() != "f" || b.Librados() != "3.0.0" {
					t.Fatal(err)
				}

				err = b.Close()
			}

			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}

			if started, closed := f.counts(); started != 1 || closed != 1 {
				t.Errorf("%d sessions, %d closed", started, closed)
			}
		})
	}
}

func TestOpen_aHostThatSaysNothing(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := serves(func(f *far) { f.next() })
		begun := time.Now()

		_, err := bridge.Open(t.Context(), f.start, bridge.Config{Connect: 5 * time.Second})
		wants(t, err, api.ErrLost)

		if took := time.Since(begun); took != 25*time.Second {
			t.Errorf("it took %s", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()

		_, err = bridge.Open(ctx, f.start, bridge.Config{})
		wants(t, err, api.ErrLost, context.DeadlineExceeded)

		if started, closed := f.counts(); started != 2 || closed != 2 {
			t.Errorf("%d sessions, %d closed", started, closed)
		}
	})
}

func TestOpen_aHostThatIsNotReached(t *testing.T) {
	t.Parallel()

	f := serves(greets((*far).echo))
	f.failed = 1

	if _, err := bridge.Open(t.Context(), f.start, bridge.Config{}); err == nil || !strings.Contains(err.Error(), "host not reached") {
		t.Error(err)
	}
}

func TestOpen_theContextOfTheOpeningIsNotThatOfTheSession(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	f := serves(greets((*far).echo))

	b, err := bridge.Open(ctx, f.start, bridge.Config{})
	if err != nil {
		t.Fatal(err)
	}

	cancel()

	if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
		t.Error(err)
	}

	if err := b.Close(); err != nil {
		t.Error(err)
	}

	if err := b.Close(); err != nil {
		t.Error("the second time:", err)
	}

	if _, _, err := b.MonCommand(t.Context(), command("a")); err == nil {
		t.Error("a closed bridge answers")
	}
}

func TestArgv_holdsNoSecretAndAllPaths(t *testing.T) {
	t.Parallel()

	f := serves(greets((*far).echo))

	b, err := bridge.Open(t.Context(), f.start, bridge.Config{
		Conf: "/a b/ceph.conf", Name: "client.x", Keyring: "/k", Connect: 1500 * time.Millisecond, Limit: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}

	_ = b.Close()

	if got := f.argv[len(f.argv)-5:]; !slices.Equal(got, []string{"/a b/ceph.conf", "client.x", "/k", "2", "60"}) {
		t.Errorf("%q", got)
	}

	// All of it is one line of a shell somewhere, which takes 128 KiB.
	if n := len(strings.Join(f.argv, " ")); n > 16<<10 {
		t.Errorf("the program has %d bytes", n)
	}
}

func TestCommands_goToWhomTheyShould(t *testing.T) {
	t.Parallel()

	b := serves(greets((*far).echo)).open(t)
	in := []byte("in\x00\n\xff")

	out, status, err := b.MonCommand(t.Context(), command("a"))
	same(t, out, status, err, `{"prefix":"a"}`, "mon")

	out, status, err = b.MonCommandWithInputBuffer(t.Context(), command("a"), in)
	same(t, out, status, err, string(in), "mon")

	out, status, err = b.MgrCommand(t.Context(), [][]byte{[]byte(`{"prefix":`), []byte(`"b"}`)})
	same(t, out, status, err, `{"prefix":"b"}`, "mgr")

	out, status, err = b.MgrCommandWithInputBuffer(t.Context(), [][]byte{command("b")}, in)
	same(t, out, status, err, string(in), "mgr")
}

func same(t *testing.T, out []byte, status string, err error, wantOut, wantStatus string) {
	t.Helper()

	if err != nil || string(out) != wantOut || status != wantStatus {
		t.Errorf("%q %q %v, want %q %q", out, status, err, wantOut, wantStatus)
	}
}

func TestCommands_areSafeSideBySide(t *testing.T) {
	t.Parallel()

	f := serves(greets((*far).echo))
	b := f.open(t)

	var work sync.WaitGroup

	for i := range 200 {
		work.Go(func() {
			want := fmt.Sprintf(`{"prefix":"%d"}`, i)

			if out, _, err := b.MonCommand(t.Context(), []byte(want)); err != nil || string(out) != want {
				t.Errorf("%q: %v", out, err)
			}
		})
	}

	work.Wait()

	if started, _ := f.counts(); started != 1 {
		t.Errorf("%d sessions", started)
	}
}

func TestBatch_allIsSentBeforeAnAnswerIsRead(t *testing.T) {
	t.Parallel()

	b := serves(greets(func(f *far) {
		var all []ask

		for range 3 {
			a, _ := f.next()
			all = append(all, a)
		}

		f.answer(all[0], 0, "one", "1")
		f.say("a line that is none\n")
		f.answer(all[1], -16, "busy", `{"why":1}`)
		f.answer(all[2], 0, "", "")
		f.echo()
	})).open(t)

	all, err := b.Batch(t.Context(), [][]byte{command("a"), command("b c"), command("d")})
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}

	var busy *api.Error

	if !errors.As(all[1].Err, &busy) || busy.Command != "b c" || string(busy.Out) != `{"why":1}` || busy.Status != "busy" {
		t.Errorf("%+v", all[1])
	}

	if string(all[0].Out) != "1" || all[0].Status != "one" || all[0].Err != nil || all[2].Err != nil {
		t.Errorf("%+v", all)
	}
}
