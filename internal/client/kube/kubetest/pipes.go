// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"context"
	"net"
	"sync"
)

// pipes is a listener on pipes in memory. Pipes, not sockets: a goroutine that waits for one is
// durably blocked, so the server works in a bubble of synctest.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial reaches a server that is [InMemory], whatever the address; any other by the network.
func (s *Server) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.pipes == nil {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}

	client, server := net.Pipe()

	select {
	case s.pipes.conns <- server:
		return client, nil
	case <-s.pipes.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })

	return nil
}

// Addr is a name.
func (p *pipes) Addr() net.Addr { return pipeName("pipe") }

type pipeName string

func (pipeName) Network() string  { return "pipe" }
func (n pipeName) String() string { return string(n) }
