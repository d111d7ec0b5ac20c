// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// talk is a session that is closed with the test.
func talk(t *testing.T, h remote.Host, cmd remote.Command) remote.Session {
	t.Helper()

	s, err := h.Open(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = s.Close() })

	return s
}

// took fails a test whose step takes longer.
func took(t *testing.T, limit time.Duration, what string, f func()) {
	t.Helper()

	began := time.Now()

	f()

	if d := time.Since(began); d > limit {
		t.Errorf("%s took %s", what, d)
	}
}

func TestSession_thousandLinesBackAndForth(t *testing.T) {
	t.Parallel()

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		s := talk(t, h, remote.Command{Script: "cat; echo ended >&2", Stdin: []byte("first\n")})
		lines := bufio.NewReader(s)

		if got, err := lines.ReadString('\n'); err != nil || got != "first\n" {
			t.Fatalf("got %q, %v", got, err)
		}

		for i := range 1000 {
			want := fmt.Sprintf("line %d\n", i)
			if _, err := io.WriteString(s, want); err != nil {
				t.Fatal(err)
			}

			if got, err := lines.ReadString('\n'); err != nil || got != want {
				t.Fatalf("got %q for %q, %v", got, want, err)
			}
		}

		if err := s.Close(); err != nil {
			t.Error(err)
		}

		// Its word and no time: on a busy machine the end may take as long as it may at all.
		if said := s.Stderr(); said != "ended\n" {
			t.Errorf("it did not end by itself: %q", said)
		}

		if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("a read after the end: %v", err)
		}

		if _, err := s.Write([]byte("x")); !errors.Is(err, os.ErrClosed) && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a write after the end: %v", err)
		}
	})
}

func TestSession_longLines(t *testing.T) {
	t.Parallel()

	line := append(bytes.Repeat([]byte("0123456789abcdef"), 1<<16), '\n') // 1 MiB

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		s := talk(t, h, remote.Command{Args: []string{"cat"}})

		go func() {
			for range 5 {
				_, _ = s.Write(line)
			}
		}()

		lines := bufio.NewReader(s)

		for range 5 {
			if got, err := lines.ReadBytes('\n'); err != nil || !bytes.Equal(got, line) {
				t.Fatalf("%d bytes of %d, %v", len(got), len(line), err)
			}
		}
	})
}

func TestSession_aProgramThatEnds(t *testing.T) {
	t.Parallel()

	many := strings.Repeat("y", 16<<10-4) + "end\n" // what is kept of them

	cases := map[string]struct {
		cmd    remote.Command
		out    string
		want   error
		words  string // in the error
		stderr string
	}{
		"well":                     {remote.Command{Script: "echo out; echo err >&2"}, "out\n", nil, "", "err\n"},
		"with a status":            {remote.Command{Script: "echo out; echo bad >&2; exit 3"}, "out\n", io.ErrUnexpectedEOF, "exit status 3: bad", "bad\n"},
		"by a signal":              {remote.Command{Script: "kill -KILL $$"}, "", io.ErrUnexpectedEOF, "exit status 137", ""},
		"before it began":          {remote.Command{Args: []string{"no-such-program"}}, "", io.ErrUnexpectedEOF, "exit status 127", ""},
		"with a long output":       {remote.Command{Script: "head -c 1000000 /dev/zero | tr '\\0' x"}, strings.Repeat("x", 1000000), nil, "", ""},
		"after it closed its ends": {remote.Command{Script: "exec <&- >&-; sleep 0.3; exit 4"}, "", io.ErrUnexpectedEOF, "exit status 4", ""},
		"with many words":          {remote.Command{Script: "head -c 100000 /dev/zero | tr '\\0' y >&2; echo end >&2"}, "", nil, "", many},
	}

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				s := talk(t, h, c.cmd)

				out, err := io.ReadAll(s)
				if string(out) != c.out || !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.words) {
					t.Errorf("got %.100q (%d), %v", out, len(out), err)
				}

				if c.stderr != "" && s.Stderr() != c.stderr {
					t.Errorf("standard error: %d bytes, %.100q", len(s.Stderr()), s.Stderr())
				}

				if _, err := s.Write([]byte("x")); err == nil || c.words != "" && !strings.Contains(err.Error(), c.words) {
					t.Errorf("a write: %v", err)
				}

				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// What is written counts as lost when the program is gone, though nobody reads its output.
func TestSession_nobodyReads(t *testing.T) {
	t.Parallel()

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		s := talk(t, h, remote.Command{Script: "echo unread; exit 1"})

		took(t, 10*time.Second, "to find out", func() {
			for {
				if _, err := s.Write(make([]byte, 1<<20)); err != nil {
					break
				}
			}
		})

		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSession_endsWithAllThatItStarted(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		end  func(h remote.Host, s remote.Session, cancel context.CancelFunc)
		want error
	}{
		"when it is closed":          {func(_ remote.Host, s remote.Session, _ context.CancelFunc) { _ = s.Close() }, os.ErrClosed},
		"when its context ends":      {func(_ remote.Host, _ remote.Session, cancel context.CancelFunc) { cancel() }, context.Canceled},
		"when the connection closes": {func(h remote.Host, _ remote.Session, _ context.CancelFunc) { _ = h.Close() }, remote.ErrLost},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kinds(t, func(t *testing.T, h remote.Host) {
				t.Helper()

				m := mark(t)

				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()

				s, err := h.Open(ctx, remote.Command{Script: stubborn, Params: []string{m}})
				if err != nil {
					t.Fatal(err)
				}

				if got, err := bufio.NewReader(s).ReadString('\n'); err != nil || got != "begun\n" {
					t.Fatalf("got %q, %v", got, err)
				}

				read := make(chan error, 1)

				go func() {
					_, err := s.Read(make([]byte, 1))
					read <- err
				}()

				c.end(h, s, cancel)

				select {
				case err := <-read:
					if !errors.Is(err, c.want) {
						t.Errorf("the read: %v", err)
					}
				case <-time.After(8 * time.Second):
					t.Error("the read goes on")
				}

				if _, err := s.Write(make([]byte, 1)); err == nil {
					t.Error("a write works")
				}

				waited, stop := context.WithTimeout(t.Context(), 8*time.Second)
				defer stop()

				if !gone(waited, "sleep "+m) {
					t.Error("something still runs")
				}

				took(t, 8*time.Second, "the end", func() { _ = s.Close() })
			})
		})
	}
}

func TestSession_severalAtOnce(t *testing.T) {
	t.Parallel()

	kinds(t, func(t *testing.T, h remote.Host) {
		t.Helper()

		var all sync.WaitGroup

		for i := range 6 { // over SSH four at once
			all.Go(func() {
				s, err := h.Open(t.Context(), remote.Command{Args: []string{"cat"}})
				if err != nil {
					t.Error(err)

					return
				}
				defer s.Close()

				lines := bufio.NewReader(s)

				for j := range 20 {
					want := fmt.Sprintf("%d %d\n", i, j)
					_, _ = io.WriteString(s, want)

					if got, err := lines.ReadString('\n'); err != nil || got != want {
						t.Errorf("got %q for %q, %v", got, want, err)
					}

					if r, err := h.Run(t.Context(), remote.Command{Args: []string{"echo", "x"}}); err != nil || string(r.Stdout) != "x\n" {
						t.Errorf("a command beside it: %q %v", r.Stdout, err)
					}
				}
			})
		}

		all.Wait()
	})
}

func TestOpen_whatCannotBeOpened(t *testing.T) {
	t.Parallel()

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	cases := map[string]struct {
		ctx  context.Context
		cmd  remote.Command
		want error
	}{
		"nothing":                {t.Context(), remote.Command{}, remote.ErrConfig},
		"a daemon":               {t.Context(), remote.Command{Args: []string{"cat"}, Detach: true}, remote.ErrConfig},
		"a context that is over": {ended, remote.Command{Args: []string{"cat"}}, context.Canceled},
	}

	h := open(t, remote.Config{Type: remote.Local})

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := h.Open(c.ctx, c.cmd); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSession_sudoThatAsks(t *testing.T) {
	t.Parallel()

	h := open(t, sshd(t).config(as(plain, true)))

	if _, err := io.ReadAll(talk(t, h, remote.Command{Args: []string{"cat"}})); !errors.Is(err, remote.ErrSudo) {
		t.Errorf("got %v", err)
	}
}

// Debian and others let sudo put a terminal between (use_pty): what passes must stay as it is.
func TestSession_sudoWithATerminalBetween(t *testing.T) {
	t.Parallel()

	s := sshd(t)
	s.file("sudoers", "Defaults use_pty\nroot ALL=(ALL) ALL\n"+sudoer+" ALL=(ALL) NOPASSWD: ALL\n", 0o440)

	h := open(t, s.config(as(sudoer, true)))
	spoken := talk(t, h, remote.Command{Args: []string{"cat"}})
	all := bytes.Repeat([]byte{0, 3, 4, 10, 13, 17, 26, 28, 127, 255}, 5000)

	go func() { _, _ = spoken.Write(all) }()

	got := make([]byte, len(all))
	if _, err := io.ReadFull(spoken, got); err != nil || !bytes.Equal(got, all) {
		t.Errorf("it became something else, %v", err)
	}

	took(t, 3*time.Second, "the end", func() {
		if err := spoken.Close(); err != nil {
			t.Error(err)
		}
	})

	m := mark(t)
	pid := daemon(t, h, m)

	if err := h.Close(); err != nil {
		t.Error(err)
	}

	time.Sleep(2 * time.Second)
	lives(t, pid)
}
