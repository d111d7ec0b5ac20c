// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// server is what answers on a port: HTTP, or another protocol.
type server interface {
	Serve(l net.Listener) error
	Close() error // ends Serve and all connections
}

// listener is a server on one name, reached through pipes in memory. Pipes, not sockets: a
// goroutine that waits for one is durably blocked, so a lab works in a bubble of synctest.
type listener struct {
	addr     string
	server   server
	buffered bool // see buffer
	conns    chan net.Conn
	done     chan struct{}
	once     sync.Once
}

func newListener(addr string, s server) *listener {
	_, web := s.(*http.Server)
	ln := &listener{addr: addr, server: s, buffered: !web, conns: make(chan net.Conn), done: make(chan struct{})}

	go func() { _ = ln.server.Serve(ln) }() // ends with Close

	return ln
}

func webServer(h http.Handler) *http.Server {
	// A dropped connection is what tests ask for: nothing to log.
	return &http.Server{Handler: h, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
}

// dial hands the server one end of a pipe and returns the other.
func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	if l.buffered {
		server = buffer(server)
	}

	select {
	case l.conns <- server:
		return client, nil
	case <-l.done:
		return nil, &net.OpError{Op: "dial", Net: "lab", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })

	return nil
}

// Addr is the name and port.
func (l *listener) Addr() net.Addr { return name(l.addr) }

type name string

func (name) Network() string  { return "lab" }
func (n name) String() string { return string(n) }
