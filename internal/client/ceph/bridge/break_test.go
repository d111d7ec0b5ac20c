// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// hangs takes a command and never answers.
func hangs(f *far) {
	f.next()
	f.next() // until the session ends
}

func TestBreak_theSessionEndsInACommand(t *testing.T) {
	t.Parallel()

	f := serves(greets(func(f *far) { f.next() }), greets((*far).echo))
	f.stderr = "2024-01-01T00:00:00.000+0000 7f00 -1 auth: key AQBpKQRkAAAAABAAnRHLg2Y5ZkGfPTTg4ZbEVg==\nTraceback: out of memory\n"
	b := f.open(t)

	_, _, err := b.MonCommand(t.Context(), command("osd new"))
	wants(t, err, api.ErrLost)

	if text := err.Error(); !strings.Contains(text, "osd new") || !strings.Contains(text, "out of memory") || strings.Contains(text, "AQBp") {
		t.Error(text)
	}

	if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
		t.Error("the next command:", err)
	}

	if started, closed := f.counts(); started != 2 || closed != 1 {
		t.Errorf("%d sessions, %d closed", started, closed)
	}
}

func TestBreak_anIdleSessionIsReplacedUnseen(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := serves(greets(func(f *far) {
			a, _ := f.next()
			f.answer(a, 0, "", "first")
		}), greets((*far).echo))
		b := f.open(t)

		if out, _, err := b.MonCommand(t.Context(), command("a")); err != nil || string(out) != "first" {
			t.Fatal(out, err)
		}

		synctest.Wait()

		if _, _, err := b.MonCommand(t.Context(), command("b")); err != nil {
			t.Error(err)
		}

		_ = b.Close()
	})
}

func TestBreak_theNextSessionIsTriedOnceForEachCommand(t *testing.T) {
	t.Parallel()

	f := serves(greets(func(f *far) { f.next() }), greets((*far).echo))
	b := f.open(t)

	_, _, err := b.MonCommand(t.Context(), command("a"))
	wants(t, err, api.ErrLost)

	f.mu.Lock()
	f.failed = 1
	f.mu.Unlock()

	if _, _, err := b.MonCommand(t.Context(), command("a")); err == nil || !strings.Contains(err.Error(), "host not reached") {
		t.Error(err)
	}

	if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
		t.Error(err)
	}
}

func TestBreak_answersThatDoNotFit(t *testing.T) {
	t.Parallel()

	cases := map[string]string{
		"an answer to something else": `{"id":77,"rc":0}` + "\n",
		"noise without end":           strings.Repeat("{}\n", 2000),
	}

	for name, says := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := serves(greets(func(f *far) {
				f.next()
				f.say(says)
			}), greets((*far).echo))
			b := f.open(t)

			_, _, err := b.MonCommand(t.Context(), command("a"))
			wants(t, err, api.ErrAnswer)

			if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestOCEPH03_aCommandThatHangsInLibrados: the session is the only thing that can be ended.
func TestOCEPH03_aCommandThatHangsInLibrados(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		then func(f *far) // what the next session says to "mgr stat"
		want error
	}{
		"there is a manager": {then: func(f *far) {
			a, _ := f.next()
			f.answer(a, 0, "", `{"available":true}`)
			f.echo()
		}, want: api.ErrTimedOut},
		"there is none": {then: func(f *far) {
			a, _ := f.next()
			f.answer(a, 0, "", `{"available":false}`)
			f.echo()
		}, want: api.ErrNoManager},
		"no monitor answers": {then: func(f *far) {
			a, _ := f.next()
			f.answer(a, -110, "", "")
			f.echo()
		}, want: api.ErrNoQuorum},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				f := serves(greets(hangs), greets(c.then))
				b := f.open(t)
				begun := time.Now()

				_, _, err := b.MgrCommand(t.Context(), [][]byte{command("pg stat")})
				wants(t, err, c.want, api.ErrTimedOut, api.ErrLost)

				if errors.Is(c.want, api.ErrTimedOut) && (errors.Is(err, api.ErrNoManager) || errors.Is(err, api.ErrNoQuorum)) {
					t.Error(err)
				}

				if took := time.Since(begun); took != 35*time.Second {
					t.Errorf("it took %s", took)
				}

				if !strings.Contains(err.Error(), "no answer within 30s") {
					t.Error(err)
				}

				_ = b.Close()

				if started, closed := f.counts(); started != 2 || closed != 2 {
					t.Errorf("%d sessions, %d closed", started, closed)
				}
			})
		})
	}
}

func TestBatch_oneWithoutAnAnswerEndsAll(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := serves(greets(func(f *far) {
			a, _ := f.next()
			f.answer(a, 110, "", "") // positive: so does librados 16 for a manager's command
			hangs(f)
		}), func(f *far) { f.say(`{"bridge":1,"rc":-110,"s":"timed out"}` + "\n") })
		b := f.open(t)

		all, err := b.Batch(t.Context(), [][]byte{command("a"), command("b"), command("c")})
		wants(t, err, api.ErrTimedOut, api.ErrNoQuorum)

		if all != nil {
			t.Error(all)
		}
	})
}

func TestBreak_theContextEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := serves(greets(hangs), greets((*far).echo))
		b := f.open(t)

		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("interrupted")

		time.AfterFunc(time.Second, func() { cancel(why) })

		begun := time.Now()

		_, _, err := b.MonCommand(ctx, command("a"))
		wants(t, err, why, api.ErrLost)

		if time.Since(begun) != time.Second {
			t.Error(time.Since(begun))
		}

		if _, _, err := b.MonCommand(ctx, command("a")); !errors.Is(err, why) || errors.Is(err, api.ErrLost) {
			t.Error("nothing was sent:", err)
		}

		if _, _, err := b.MonCommand(t.Context(), command("a")); err != nil {
			t.Error(err)
		}

		if started, _ := f.counts(); started != 2 {
			t.Errorf("%d sessions", started)
		}

		_ = b.Close()
	})
}

func TestBreak_othersWaitForTheirTurnAsLongAsTheyLike(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		b := serves(greets(hangs), greets((*far).echo)).open(t)

		go func() { _, _, _ = b.MonCommand(t.Context(), command("slow")) }()

		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()

		_, _, err := b.MonCommand(ctx, command("a"))
		wants(t, err, context.DeadlineExceeded)

		if _, _, err := b.MonCommand(t.Context(), command("b")); err != nil {
			t.Error(err)
		}

		_ = b.Close()
	})
}

// A command's limit is shorter than its context, so that librados gives up first.
func TestCommands_haveTheLimitOfTheirContext(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		limits := make(chan int, 3)
		b := serves(greets(func(f *far) {
			for {
				a, ok := f.next()
				if !ok {
					return
				}

				limits <- a.Limit

				f.answer(a, 0, "", "")
			}
		})).open(t)

		for left, want := range map[time.Duration]int{time.Hour: 30, 10*time.Second - time.Nanosecond: 9, 100 * time.Millisecond: 1} {
			ctx, cancel := context.WithTimeout(t.Context(), left)
			_, _, err := b.MonCommand(ctx, command("a"))

			cancel()

			if got := <-limits; got != want || err != nil {
				t.Errorf("%s left: limit %d, want %d: %v", left, got, want, err)
			}
		}

		_ = b.Close()
	})
}

func TestClose_givesUpWhatIsUnderWay(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		f := serves(greets(hangs))
		b := f.open(t)
		done := make(chan error)

		go func() {
			_, _, err := b.MonCommand(t.Context(), command("a"))
			done <- err
		}()

		synctest.Wait()

		begun := time.Now()
		_ = b.Close()

		if err := <-done; err == nil || time.Since(begun) != 0 {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}
