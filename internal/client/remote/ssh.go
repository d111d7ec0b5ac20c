// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// OpenSSH allows ten sessions on a connection (MaxSessions). Some are kept for those that end
// the others.
const (
	maxSessions = 8
	maxSpares   = 2
	maxLasting  = 4                      // of the sessions, those that are spoken to
	fullRest    = 100 * time.Millisecond // before a server that is full is asked again
	fullLimit   = 5 * time.Second
)

// sshLink is one connection to a host, made at the first need and again when it was lost.
type sshLink struct {
	cfg     Config
	bastion *sshLink

	lock   chan struct{} // held while connecting
	slots  chan struct{}
	spares chan struct{}
	talks  chan struct{}

	mu     sync.Mutex
	conn   *connection
	closed bool
}

func newSSH(cfg Config) *sshLink {
	l := &sshLink{
		cfg: cfg, lock: make(chan struct{}, 1),
		slots: make(chan struct{}, maxSessions), spares: make(chan struct{}, maxSpares), talks: make(chan struct{}, maxLasting),
	}

	if cfg.Bastion != nil {
		l.bastion = newSSH(*cfg.Bastion)
	}

	return l
}

func (l *sshLink) name() string { return l.cfg.name() }

func (l *sshLink) session(ctx context.Context) (session, error) { return l.open(ctx, l.slots) }

func (l *sshLink) spare(ctx context.Context) (session, error) { return l.open(ctx, l.spares) }

func (l *sshLink) lasting(ctx context.Context) (session, error) { return l.open(ctx, l.talks, l.slots) }

// open waits for a place of each kind and opens a session.
func (l *sshLink) open(ctx context.Context, places ...chan struct{}) (*sshSession, error) {
	taken := 0
	free := func() {
		for _, p := range places[:taken] {
			<-p
		}
	}

	for _, p := range places {
		select {
		case p <- struct{}{}:
			taken++
		case <-ctx.Done():
			free()

			return nil, fmt.Errorf("waiting for one of %d sessions: %w", cap(p), cancelled(ctx))
		}
	}

	s, conn, err := l.channel(ctx)
	if err != nil {
		free()

		return nil, err
	}

	return &sshSession{Session: s, conn: conn, free: free}, nil
}

// channel opens a session on the connection. A connection that turns out to be dead is made
// anew, once: no command has been sent yet.
func (l *sshLink) channel(ctx context.Context) (*ssh.Session, *connection, error) {
	began := time.Now()

	for lost := 0; ; {
		conn, err := l.connected(ctx)
		if err != nil {
			return nil, nil, err
		}

		s, err := conn.newSession(ctx)
		if err == nil {
			return s, conn, nil
		}

		var refused *ssh.OpenChannelError

		switch {
		case ctx.Err() != nil:
			return nil, nil, cancelled(ctx)
		// OpenSSH counts a session that has ended until it gets round to it.
		case errors.As(err, &refused) && refused.Reason != ssh.Prohibited && time.Since(began) < fullLimit:
			if err := wait.Sleep(ctx, fullRest); err != nil {
				return nil, nil, cancelled(ctx)
			}
		case refused != nil:
			return nil, nil, fmt.Errorf("%w: it opens no more sessions: %w", ErrRefused, err)
		case lost > 0:
			return nil, nil, fmt.Errorf("%w: before the command was sent: %w", ErrLost, err)
		default:
			lost++

			l.drop(conn)
		}
	}
}

// connected returns the connection, and makes it where there is none.
func (l *sshLink) connected(ctx context.Context) (*connection, error) {
	select {
	case l.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for the connection: %w", cancelled(ctx))
	}

	defer func() { <-l.lock }()

	l.mu.Lock()
	conn, closed := l.conn, l.closed
	l.mu.Unlock()

	switch {
	case closed:
		return nil, fmt.Errorf("%w: the connection was closed", net.ErrClosed)
	case conn != nil && conn.alive():
		return conn, nil
	case conn != nil:
		l.drop(conn)
	}

	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.closed {
		conn.end()

		return nil, fmt.Errorf("%w: the connection was closed", net.ErrClosed)
	}

	l.conn = conn

	return conn, nil
}

// drop forgets a connection that is of no use.
func (l *sshLink) drop(conn *connection) {
	conn.end()

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.conn == conn {
		l.conn = nil
	}
}

func (l *sshLink) close() error {
	l.mu.Lock()
	l.closed = true
	conn := l.conn
	l.conn = nil
	l.mu.Unlock()

	if conn != nil {
		conn.end()
	}

	if l.bastion != nil {
		return l.bastion.close()
	}

	return nil
}

// sshSession is a session on a connection.
type sshSession struct {
	*ssh.Session

	conn *connection
	free func()
	once sync.Once
}

func (s *sshSession) close() {
	s.once.Do(func() {
		_ = s.Session.Close() //nolint:staticcheck // not ours, the embedded one
		s.free()
	})
}

func (s *sshSession) start(argv []string, stdout, stderr io.Writer) (*program, error) {
	s.Stdout, s.Stderr = stdout, stderr

	in, err := s.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLost, err)
	}

	switch err := s.Start(line(argv)); {
	case err == nil:
		return &program{stdin: in, wait: func() (int, error) { return exitOf(s.Wait()) }}, nil
	// The library's words for a refusal repeat the whole command, so they are not told.
	case strings.HasPrefix(err.Error(), "ssh: command "):
		return nil, fmt.Errorf("%w: it refused the command: the user may be restricted (ForceCommand, a shell that is none)", ErrRefused)
	default:
		return nil, fmt.Errorf("%w: before the server confirmed the command: %w", ErrLost, err)
	}
}

// exitOf makes an exit status of what the SSH library says of the end of a command.
func exitOf(err error) (int, error) {
	var (
		status  *ssh.ExitError
		missing *ssh.ExitMissingError
	)

	switch {
	case err == nil:
		return 0, nil
	case errors.As(err, &status):
		if n, ok := signals[status.Signal()]; ok {
			return 128 + n, nil
		}

		return status.ExitStatus(), nil
	case errors.As(err, &missing):
		return 0, fmt.Errorf("%w: no exit status came", ErrLost)
	default:
		return 0, fmt.Errorf("%w: %w", ErrLost, err)
	}
}

// signals are the numbers by which a shell tells of a command's end.
var signals = map[string]int{"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "SEGV": 11, "PIPE": 13, "ALRM": 14, "TERM": 15}
