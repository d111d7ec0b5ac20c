// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"errors"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Server is the SSH server of one machine.
type Server struct {
	store *store.Store
	name  string
	trace func(line string)

	mu       sync.Mutex
	closed   bool
	listener net.Listener
	conns    map[net.Conn]bool
	running  map[string]chan struct{} // closed to end what runs under a token
}

// New returns the server of a machine. trace, which may be nil, gets a line a command.
func New(st *store.Store, name string, trace func(line string)) *Server {
	if trace == nil {
		trace = func(string) {}
	}

	return &Server{store: st, name: name, trace: trace, conns: map[net.Conn]bool{}, running: map[string]chan struct{}{}}
}

// Refused says that nobody listens on the machine.
var Refused = errors.New("connection refused") //nolint:revive,errname,staticcheck // what the system says

// Answers tells whether the machine has a system that answers on its SSH port: nil, or Refused.
func Answers(st *store.Store, name string) error {
	return st.View(func(tx store.Tx) error {
		m, ok, err := machine.Load(tx, name)
		if err != nil {
			return err
		}

		s, err := Load(tx, name)

		switch {
		case err != nil:
			return err
		case !ok || !m.HasOS() || s.Unreachable:
			return Refused
		default:
			return nil
		}
	})
}

// Serve answers connections until Close.
func (s *Server) Serve(l net.Listener) error {
	s.mu.Lock()
	s.listener = l
	closed := s.closed
	s.mu.Unlock()

	if closed {
		return l.Close()
	}

	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}

		go s.connection(conn)
	}
}

// Close ends Serve and all connections.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.closed = true

	for c := range s.conns {
		_ = c.Close()
	}

	if s.listener == nil {
		return nil
	}

	return s.listener.Close()
}

func (s *Server) hold(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if !s.closed {
		s.conns[conn] = true
	}

	return !s.closed
}

func (s *Server) connection(conn net.Conn) {
	defer conn.Close()

	if Answers(s.store, s.name) != nil || !s.hold(conn) {
		return
	}

	defer func() {
		s.mu.Lock()
		delete(s.conns, conn)
		s.mu.Unlock()
	}()

	config, err := s.config()
	if err != nil {
		return
	}

	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}

	go answerRequests(requests)

	for c := range channels {
		if c.ChannelType() != "session" {
			_ = c.Reject(ssh.UnknownChannelType, "the lab's machines have sessions only")

			continue
		}

		channel, requests, err := c.Accept()
		if err != nil {
			return
		}

		go s.session(conn, channel, requests)
	}
}

// answerRequests answers the signs of life that a client asks for.
func answerRequests(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
}

// config takes any login, and none, unless the machine was told to refuse.
func (s *Server) config() (*ssh.ServerConfig, error) {
	var state State

	err := s.store.View(func(tx store.Tx) (err error) {
		state, err = Load(tx, s.name)

		return err
	})
	if err != nil {
		return nil, err
	}

	decide := func() (*ssh.Permissions, error) {
		if state.RefuseLogin {
			return nil, errors.New("refused")
		}

		return &ssh.Permissions{}, nil
	}

	c := &ssh.ServerConfig{
		NoClientAuth:      !state.RefuseLogin,
		PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return decide() },
		PasswordCallback:  func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return decide() },
		ServerVersion:     "SSH-2.0-lab",
		MaxAuthTries:      -1,
	}
	c.AddHostKey(hostKey(s.name, state.HostKeys))

	return c, nil
}
