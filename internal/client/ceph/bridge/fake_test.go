// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
)

const greeting = `{"bridge":1,"rc":0,"fsid":"f","librados":"3.0.0"}` + "\n"

// ask is a request as the program sees it.
type ask struct {
	ID    int64  `json:"id"`
	To    string `json:"to"`
	Cmd   string `json:"cmd"`
	In    []byte `json:"in"`
	Limit int    `json:"limit"`
}

// far is the host's end of a session.
type far struct {
	net.Conn

	in *bufio.Reader
}

// next reads a request; ok is false once there are no more.
func (f *far) next() (a ask, ok bool) {
	line, err := f.in.ReadBytes('\n')

	return a, err == nil && json.Unmarshal(line, &a) == nil
}

// say writes text; nobody may hear it.
func (f *far) say(text string) { _, _ = io.WriteString(f, text) }

// answer answers a request.
func (f *far) answer(a ask, code int, status, out string) {
	line, _ := json.Marshal(map[string]any{"id": a.ID, "rc": code, "s": status, "out": []byte(out)})
	f.say(string(line) + "\n")
}

// echo answers all requests with their input, or their own text.
func (f *far) echo() {
	for {
		a, ok := f.next()
		if !ok {
			return
		}

		out := string(a.In)
		if out == "" {
			out = a.Cmd
		}

		f.answer(a, 0, a.To, out)
	}
}

// near is our end.
type near struct {
	net.Conn

	stderr string
	closed func()
	once   sync.Once
}

func (n *near) Stderr() string { return n.stderr }

func (n *near) Close() error {
	n.once.Do(n.closed)

	return n.Conn.Close()
}

// fake starts sessions: the n-th is served by the n-th function, the last serves the rest.
type fake struct {
	serve []func(f *far)

	mu                      sync.Mutex
	started, closed, failed int
	stderr                  string
	argv                    []string
}

func (f *fake) start(ctx context.Context, argv []string) (bridge.Session, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.failed > 0 {
		f.failed--

		return nil, errors.New("host not reached")
	}

	serve := f.serve[min(f.started, len(f.serve)-1)]
	f.started++
	f.argv = argv

	ours, theirs := net.Pipe()

	go func() {
		defer func() { _ = theirs.Close() }()

		serve(&far{theirs, bufio.NewReader(theirs)})
	}()

	n := &near{Conn: ours, stderr: f.stderr, closed: func() {
		f.mu.Lock()
		defer f.mu.Unlock()

		f.closed++
	}}

	context.AfterFunc(ctx, func() { _ = n.Close() })

	return n, nil
}

func (f *fake) counts() (started, closed int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.started, f.closed
}

func serves(serve ...func(f *far)) *fake { return &fake{serve: serve} }

// greets is a session that begins well.
func greets(serve func(f *far)) func(f *far) {
	return func(f *far) {
		f.say(greeting)
		serve(f)
	}
}

func (f *fake) open(t *testing.T) *bridge.Bridge {
	t.Helper()

	b, err := bridge.Open(t.Context(), f.start, bridge.Config{Connect: 5 * time.Second, Limit: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = b.Close() })

	return b
}

// wants fails the test unless the error is all of these.
func wants(t *testing.T, err error, kinds ...error) {
	t.Helper()

	for _, kind := range kinds {
		if !errors.Is(err, kind) {
			t.Errorf("the error is %v, and no %v", err, kind)
		}
	}
}

func command(prefix string) []byte {
	return []byte(`{"prefix":"` + strings.TrimSpace(prefix) + `"}`)
}
