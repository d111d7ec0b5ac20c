// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"net"
	"slices"
	"sync"
)

// buffered is a connection whose writes do not wait for the reader. A protocol in which both
// sides begin with a write, as SSH does, would never get over that on a plain pipe.
type buffered struct {
	net.Conn

	mu      sync.Mutex
	some    *sync.Cond // there is something to send, or to end
	queue   []byte
	closed  bool
	failure error // of a write that came too late to be told
}

// buffer gives one end of a pipe a buffer. It ends with the connection, whichever side closes it.
func buffer(c net.Conn) net.Conn {
	b := &buffered{Conn: c}
	b.some = sync.NewCond(&b.mu)

	go b.pump()

	return b
}

// Write puts bytes into the queue.
func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()

	switch {
	case b.failure != nil:
		return 0, b.failure
	case b.closed:
		return 0, net.ErrClosed
	}

	b.queue = append(b.queue, p...)
	b.some.Signal()

	return len(p), nil
}

// Close lets out what is in the queue, and then closes the connection.
func (b *buffered) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.closed = true
	b.some.Signal()

	return nil
}

func (b *buffered) pump() {
	defer b.Conn.Close()

	for {
		p, ok := b.take()
		if !ok {
			return
		}

		if _, err := b.Conn.Write(p); err != nil {
			b.mu.Lock()
			b.failure = err
			b.mu.Unlock()

			return
		}
	}
}

// take waits for something to send; false: there is nothing more.
func (b *buffered) take() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()

	for len(b.queue) == 0 && !b.closed {
		b.some.Wait()
	}

	p := slices.Clone(b.queue)
	b.queue = b.queue[:0]

	return p, len(p) > 0
}
