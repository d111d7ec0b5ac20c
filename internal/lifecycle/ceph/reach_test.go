// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// gate is a host that leads to a cluster, or does not.
type gate struct {
	ceph.Host

	name string
	fsid string
	err  error // of Connect
	mute bool  // Connect goes on for ever
	last *line
}

func (g *gate) Name() string { return g.name }

func (g *gate) Connect(ctx context.Context, _ ceph.Layout) (api.Commander, error) {
	if g.mute {
		<-ctx.Done()

		return nil, ctx.Err()
	}

	if g.err != nil {
		return nil, g.err
	}

	g.last = &line{ctx: ctx, fsid: g.fsid}

	return g.last, nil
}

// line is a session that knows its fsid.
type line struct {
	api.Commander

	ctx    context.Context
	fsid   string
	err    error
	closed bool
}

func (l *line) MonCommand(context.Context, []byte) ([]byte, string, error) {
	return []byte("\n" + l.fsid + "\n"), "", l.err
}

func (l *line) Close() error {
	l.closed = true

	return nil
}

func TestOpen(t *testing.T) {
	t.Parallel()

	const other = "11111111-2222-4333-8444-555555555555"

	for name, c := range map[string]struct {
		fsid  string
		hosts []*gate
		via   int
		says  []string
	}{
		"the first host leads to it": {anFSID, []*gate{{name: "root@a:22", fsid: anFSID}, {name: "root@b:22", err: errors.New("never asked")}}, 0, nil},
		"the first is down, the second leads to it": {
			anFSID, []*gate{{name: "root@a:22", err: ceph.ErrUnreachable}, {name: "root@b:22", fsid: anFSID}}, 1, nil,
		},
		"an import takes the cluster that is there": {"", []*gate{{name: "root@a:22", fsid: strings.ToUpper(anFSID)}}, 0, nil},
		"each host says why it did not": {
			anFSID,
			[]*gate{
				{name: "root@a:22", err: ceph.ErrUnreachable},
				{name: "root@b:22", err: errors.New("on root@b:22: login refused")},
				{name: "root@c:22", fsid: other},
				{name: "root@d:22", fsid: "?"},
			},
			-1,
			[]string{anFSID, "4 hosts", "\n- root@a:22: the host cannot be reached", "\n- on root@b:22: login refused", "\n- root@c:22: another cluster is there", other, "\n- root@d:22: ", "unreadable"},
		},
		"one host says why it did not": {anFSID, []*gate{{name: "root@a:22", err: ceph.ErrUnreachable}}, -1, []string{"cannot be reached: root@a:22: the host"}},
		"no host":                      {anFSID, nil, -1, []string{"no host of it is known"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var hosts []ceph.Host
			for _, g := range c.hosts {
				hosts = append(hosts, g)
			}

			r, err := ceph.Open(t.Context(), ceph.Location{FSID: c.fsid, Hosts: []string{"h"}, Dir: "/d"}, hosts)
			if (err == nil) != (c.via >= 0) {
				t.Fatalf("got %v, %v", r, err)
			}

			if err != nil {
				for _, want := range c.says {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("no %q in %q", want, err)
					}
				}

				return
			}

			if r.Location.FSID != anFSID || r.Layout.FSID != anFSID || r.Layout.Dir != "/d" || c.hosts[c.via].last.closed {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestOpen_outlivesTheVerb ends the context of the verb that opened a session.
func TestOpen_outlivesTheVerb(t *testing.T) {
	t.Parallel()

	g := &gate{name: "root@a:22", fsid: anFSID}
	ctx, cancel := context.WithCancel(t.Context())

	r, err := ceph.Open(ctx, ceph.Location{FSID: anFSID, Dir: "/d"}, []ceph.Host{g})
	if err != nil {
		t.Fatal(err)
	}

	cancel()

	if g.last.ctx.Err() != nil {
		t.Error("the session ended with the verb")
	}

	if err := r.Session.Close(); err != nil || !g.last.closed || g.last.ctx.Err() == nil || !r.Session.Lost() {
		t.Errorf("it was not closed: %v", err)
	}
}

func TestOpen_aHostThatSaysNothing(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		hosts := []ceph.Host{&gate{name: "root@a:22", mute: true}, &gate{name: "root@b:22", fsid: anFSID}}

		if _, err := ceph.Open(t.Context(), ceph.Location{FSID: anFSID, Dir: "/d"}, hosts); err != nil {
			t.Errorf("the second was not tried: %v", err)
		}

		_, err := ceph.Open(t.Context(), ceph.Location{FSID: anFSID, Dir: "/d"}, hosts[:1])
		if err == nil || !strings.Contains(err.Error(), "no answer within") {
			t.Errorf("got %v", err)
		}

		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the verb is over"))
		defer cancel()

		begin := time.Now()

		if _, err := ceph.Open(ctx, ceph.Location{FSID: anFSID, Dir: "/d"}, hosts); err == nil || !strings.Contains(err.Error(), "the verb is over") {
			t.Errorf("got %v", err)
		}

		if took := time.Since(begin); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestSession_isLostOnce(t *testing.T) {
	t.Parallel()

	l := &line{fsid: anFSID, err: api.ErrInvalid}
	s := ceph.NewSession(l)

	if _, _, err := s.MonCommand(t.Context(), nil); !errors.Is(err, api.ErrInvalid) || s.Lost() {
		t.Errorf("an answer ends the session: %v", err)
	}

	if all, err := s.Batch(t.Context(), [][]byte{nil, nil}); err != nil || len(all) != 2 || !errors.Is(all[1].Err, api.ErrInvalid) {
		t.Errorf("a batch without batches: %v, %v", all, err)
	}

	l.err = api.ErrLost

	if _, err := s.Batch(t.Context(), [][]byte{nil, nil}); !errors.Is(err, api.ErrLost) || !s.Lost() {
		t.Errorf("a lost session is not: %v", err)
	}
}
