// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"

	rooms "github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cluster"
)

// commandTakes is how long a command takes on the machine of these tests.
const commandTakes = 45 * time.Minute

// sshMachine is the SSH server of a machine on which each command takes its time, unless the killer of
// commands is asked for.
func sshMachine(t *testing.T) remote.Config {
	t.Helper()

	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatal(err)
	}

	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(signer)

	ctx := t.Context()

	dial := func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()

		go func() {
			_, channels, requests, err := ssh.NewServerConn(far, config)
			if err != nil {
				return
			}

			go ssh.DiscardRequests(requests)

			for c := range channels {
				if channel, requests, err := c.Accept(); err == nil {
					go io.Copy(io.Discard, channel) //nolint:errcheck // it ends with the channel
					go answer(ctx, channel, requests)
				}
			}
		}()

		e := &eager{Conn: near, out: make(chan []byte, 1<<10), done: make(chan struct{})}
		go e.pass()

		return e, nil
	}

	return remote.Config{HostKey: string(ssh.MarshalAuthorizedKey(signer.PublicKey())), Dial: dial}
}

// eager is an end of a pipe that takes what is written at once, as sockets do: both sides of SSH begin by
// writing.
type eager struct {
	net.Conn

	out  chan []byte
	done chan struct{}
	once sync.Once
}

func (e *eager) pass() {
	for {
		select {
		case b := <-e.out:
			_, _ = e.Conn.Write(b)
		case <-e.done:
			return
		}
	}
}

func (e *eager) Write(b []byte) (int, error) {
	select {
	case e.out <- slices.Clone(b):
		return len(b), nil
	case <-e.done:
		return 0, io.ErrClosedPipe
	}
}

func (e *eager) Close() error {
	e.once.Do(func() { close(e.done) })

	return e.Conn.Close()
}

func answer(ctx context.Context, channel ssh.Channel, requests <-chan *ssh.Request) {
	for r := range requests {
		_ = r.Reply(r.Type == "exec", nil)

		if r.Type != "exec" {
			continue
		}

		if strings.HasSuffix(string(r.Payload), " sh -s") {
			_ = wait.Sleep(ctx, commandTakes)
		} else {
			_, _ = channel.Write([]byte("0\n")) // the killer left none
		}

		_, _ = channel.SendRequest("exit-status", false, make([]byte, 4))
		_ = channel.Close()
	}
}

// TestHook_hasTheTimeOfItsVerb: a command without a limit of its own ends with its verb, and not before.
func TestHook_hasTheTimeOfItsVerb(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		verb  time.Duration // its budget
		limit time.Duration // of the command
		took  time.Duration
		want  error // what it ends with
	}{
		"it takes its time":             {time.Hour, 0, commandTakes, nil},
		"it has the rest of the verb":   {20 * time.Minute, 0, 20 * time.Minute, context.DeadlineExceeded},
		"it has a limit":                {time.Hour, 2 * time.Minute, 2 * time.Minute, remote.ErrTimeout},
		"it has a limit that is enough": {time.Hour, 50 * time.Minute, commandTakes, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				pool := remote.NewPool()
				defer pool.Close()

				ctx, _, cancel := wait.WithBudget(t.Context(), c.verb)
				defer cancel()

				began := time.Now()

				err := rooms.HookOf(ctx, pool, sshMachine(t))(ctx, cluster.Machine{Name: "m"}, cluster.Hook{Command: "apt-get upgrade", Timeout: c.limit})
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}

				if took := time.Since(began); took < c.took || took > c.took+10*time.Second {
					t.Errorf("it took %s, want %s", took, c.took)
				}
			})
		})
	}
}

// TestHook_machineWithoutAddress has pools whose machines get their addresses from elsewhere, and a
// connection that names no host: nobody can be asked, which is no reason to go without the hooks.
func TestHook_machineWithoutAddress(t *testing.T) {
	t.Parallel()

	inLab(t, 3, func(w world) {
		bare := func(replicas int, hooks Map) Map {
			return edge(Map{"ip_pools": nil, "workers": Map{"w": pool(replicas, Map{"hooks": merged(Map{"connection": Map{"user": "root", "insecure_host_key": true}}, hooks)})}})
		}

		w.apply(bare(1, Map{"pre_deprovision": []any{"bye"}}))

		o := w.Apply(w.ctx, bare(0, Map{"pre_deprovision": []any{"bye"}}))
		if !strings.Contains(o.Errors, `hook "bye"`) || !strings.Contains(o.Errors, "connection.host") || !strings.Contains(o.Errors, "ip_pools") {
			t.Errorf("errors %q, warnings %q", o.Errors, o.Warnings)
		}

		if got := w.machines(); len(got) != 2 {
			t.Errorf("machines: %v", got)
		}

		w.apply(bare(0, Map{}))

		began := time.Now()

		o = w.Apply(w.ctx, bare(1, Map{"post_provision": []any{"hello"}}))
		if took := time.Since(began); took > 10*time.Minute || !strings.Contains(o.Errors+o.Warnings, `hook "hello"`) || !strings.Contains(o.Errors+o.Warnings, "connection.host") {
			t.Errorf("after %s: errors %q, warnings %q", took, o.Errors, o.Warnings)
		}
	})
}
