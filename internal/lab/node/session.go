// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// session runs the one command of a session.
func (s *Server) session(conn net.Conn, channel ssh.Channel, requests <-chan *ssh.Request) {
	ended := make(chan struct{}) // by the client
	begun := false

	defer close(ended)

	for r := range requests {
		var line struct{ Command string }

		ok := r.Type == "env" || r.Type == "exec" && !begun && ssh.Unmarshal(r.Payload, &line) == nil
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}

		if ok && r.Type == "exec" {
			begun = true

			go func() {
				defer channel.Close()

				a, alive := s.exec(line.Command, channel, ended)
				if !alive {
					_ = conn.Close()

					return
				}

				_, _ = channel.Write([]byte(a.Stdout))
				_, _ = channel.Stderr().Write([]byte(a.Stderr))
				_ = channel.CloseWrite()
				_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(a.Exit)})) //nolint:gosec // 0 to 255
			}()
		}
	}
}

// maxStdin is how much a command may be given.
const maxStdin = 64 << 20

// exec does one command line. The second result is false where the machine has gone off.
func (s *Server) exec(line string, stdin io.Reader, ended <-chan struct{}) (Answer, bool) {
	r, err := parse(line)
	if err != nil {
		return refuse(2, "sh: 1: %s", err), true
	}

	if r.kill != "" {
		s.kill(r.kill)

		return say("0\n"), true
	}

	var data bytes.Buffer
	if _, err := io.CopyN(&data, stdin, int64(min(r.stdin, maxStdin))); err != nil {
		return refuse(1, "the input ended early"), true
	}

	if s.hangs(r) {
		s.wait(r.token, ended)

		return refuse(143, "Terminated"), true
	}

	a, alive, err := s.do(r, data.Bytes())
	if err != nil {
		a = refuse(255, "%v", err)
	}

	if alive {
		s.trace(traced(s.name, r, a.Exit))
	}

	return a, alive
}

// do answers a command in one transaction.
func (s *Server) do(r request, stdin []byte) (a Answer, alive bool, err error) {
	err = s.store.Update(func(tx store.Tx) error {
		now := time.Now()

		m, ok, err := machine.Load(tx, s.name)
		if alive = ok && m.HasOS(); !alive || err != nil {
			return err
		}

		state, err := Load(tx, s.name)
		if err != nil {
			return err
		}

		devices, err := hardware.Of(tx, now, s.name)
		if err != nil {
			return err
		}

		if alive = !state.Unreachable; !alive {
			return nil
		}

		a = newView(&state, m, devices, now).answer(r, stdin)

		return tx.Put(bucket, s.name, state)
	})

	return a, alive || err != nil, err
}

func traced(name string, r request, exit int) string {
	text := strings.ReplaceAll(r.String(), "\n", " ")

	return name + "." + machine.Domain + ":22 RUN " + text + " " + strconv.Itoa(exit) + "\n"
}

func (s *Server) hangs(r request) bool {
	var state State

	err := s.store.View(func(tx store.Tx) (err error) {
		state, err = Load(tx, s.name)

		return err
	})

	return err == nil && state.Hang != "" && strings.HasPrefix(r.String(), state.Hang)
}

// wait is a command that does not end by itself.
func (s *Server) wait(token string, ended <-chan struct{}) {
	end := make(chan struct{})

	s.mu.Lock()
	s.running[token] = end
	s.mu.Unlock()

	select {
	case <-end:
	case <-ended:
	}

	s.kill(token)
}

func (s *Server) kill(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if end, ok := s.running[token]; ok {
		close(end)
		delete(s.running, token)
	}
}
