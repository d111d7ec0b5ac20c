// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"bytes"
	"io"
	"net"
	"testing"
	"testing/synctest"
)

// greeter is a protocol in which both sides begin with a write.
type greeter struct{ ended chan error }

func (g greeter) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}

		go func() {
			if _, err := c.Write([]byte("hello")); err != nil {
				g.ended <- err

				return
			}

			got := make([]byte, 5)
			if _, err := io.ReadFull(c, got); err != nil {
				g.ended <- err

				return
			}

			if _, err := c.Write(bytes.Repeat(got, 1000)); err != nil {
				g.ended <- err

				return
			}

			g.ended <- c.Close()
		}()
	}
}

func (greeter) Close() error { return nil }

func TestBuffer_bothSidesBeginWithAWrite(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		g := greeter{ended: make(chan error, 1)}

		ln := newListener("node-0.lab:22", g)
		defer ln.Close()

		c, err := ln.dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()

		if _, err := c.Write([]byte("there")); err != nil {
			t.Fatal(err)
		}

		if err := <-g.ended; err != nil { // nobody has read yet
			t.Errorf("the server ended with %v", err)
		}

		all, err := io.ReadAll(c)
		if want := "hello" + string(bytes.Repeat([]byte("there"), 1000)); err != nil || string(all) != want {
			t.Errorf("read %d bytes, %v", len(all), err)
		}
	})
}

func TestBuffer_endsWhenTheOtherSideHasGone(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		b := buffer(server)

		if err := client.Close(); err != nil {
			t.Fatal(err)
		}

		for range 2 {
			if _, err := b.Write([]byte("x")); err != nil {
				return
			}

			synctest.Wait()
		}

		t.Error("a write to nobody is no error")
	})
}
