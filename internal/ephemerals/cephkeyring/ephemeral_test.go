// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkeyring_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

const fsid = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19"

// world is hosts that lead to one cluster.
type world struct {
	mu       sync.Mutex
	down     map[string]bool // hosts
	connects []string
	lost     bool // the next command ends its session
}

// host is one of them.
type host struct {
	ceph.Host

	of  *world
	cfg remote.Config
}

func (h host) Name() string {
	if h.cfg.Type == remote.Local {
		return "this machine"
	}

	return fmt.Sprintf("%s@%s:%d", h.cfg.User, h.cfg.Host, h.cfg.Port)
}

func (h host) Connect(_ context.Context, l ceph.Layout) (api.Commander, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()

	h.of.connects = append(h.of.connects, h.Name()+l.Dir)

	if h.of.down[h.cfg.Host] {
		return nil, fmt.Errorf("%w: %s", ceph.ErrUnreachable, h.Name())
	}

	return session{of: h.of}, nil
}

type session struct {
	api.Commander

	of *world
}

func (s session) Close() error { return nil }

func (s session) MonCommand(_ context.Context, cmd []byte) ([]byte, string, error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()

	switch {
	case strings.Contains(string(cmd), `"fsid"`):
		return []byte(fsid + "\n"), "", nil
	case s.of.lost:
		s.of.lost = false

		return nil, "", api.ErrLost
	case strings.Contains(string(cmd), "client.admin"):
		return []byte(`[{"entity":"client.admin","key":"s3cret","caps":{"mon":"allow *"}}]`), "", nil
	case strings.Contains(string(cmd), "client.bug"):
		panic("a bug of ours")
	case strings.Contains(string(cmd), "client.vms"):
		return []byte(`[{"entity":"client.vms","key":"v","caps":{"mon":"allow r"}}]`), "", nil
	default:
		return nil, "", &api.Error{Code: -2, Status: "failed to find it in keyring"}
	}
}

func (w *world) server(t *testing.T, of block) *providertest.Server {
	t.Helper()

	s := providertest.NewServer(t, provider.WithCephHost(func(cfg remote.Config) ceph.Host { return host{of: w, cfg: cfg} }))
	if text := providertest.Errors(s.Configure(t, of)); text != "" {
		t.Fatal(text)
	}

	return s
}

const id = fsid + "@h1,h2:2222/var/lib/c"

func TestKeyring(t *testing.T) {
	t.Parallel()

	w := &world{down: map[string]bool{"h1": true}}
	s := w.server(t, block{"ssh": block{"user": "admin"}})

	for range 2 {
		got, diags := s.Open(t, "metal3_ceph_keyring", block{"cluster_id": id})
		if got["key"] != "s3cret" || got["entity"] != "client.admin" || got["keyring"] != "[client.admin]\n\tkey = s3cret\n" {
			t.Errorf("got %v: %s", got, providertest.Errors(diags))
		}
	}

	if want := "[admin@h1:0/var/lib/c admin@h2:2222/var/lib/c]"; fmt.Sprint(w.connects) != want {
		t.Errorf("connected to %v, want %v: one session for all", w.connects, want)
	}

	if got, diags := s.Open(t, "metal3_ceph_keyring", block{"client_id": id + "#client.vms"}); got["key"] != "v" || got["cluster_id"] != id || got["entity"] != "client.vms" {
		t.Errorf("got %v: %s", got, providertest.Errors(diags))
	}

	// A session that broke is not used again.
	w.lost = true

	if _, diags := s.Open(t, "metal3_ceph_keyring", block{"cluster_id": id}); !strings.Contains(providertest.Errors(diags), "session with the cluster lost") {
		t.Errorf("got %s", providertest.Errors(diags))
	}

	if got, diags := s.Open(t, "metal3_ceph_keyring", block{"cluster_id": id}); got["key"] != "s3cret" || len(w.connects) != 4 {
		t.Errorf("after a lost session: %s, connected to %v", providertest.Errors(diags), w.connects)
	}

	// A connection of its own is another way.
	connection := block{"cluster_id": id, "cluster_connection": block{"host": "h3", "port": 22, "user": "root"}}
	if got, diags := s.Open(t, "metal3_ceph_keyring", connection); got["key"] != "s3cret" || w.connects[len(w.connects)-1] != "root@h3:22/var/lib/c" {
		t.Errorf("through a connection: %s, connected to %v", providertest.Errors(diags), w.connects)
	}
}

func TestKeyring_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		provider, block block
		down            []string
		says            []string
	}{
		"no such user":           {nil, block{"cluster_id": id, "entity": "client.x"}, nil, []string{"No key of client.x", "no such user", "client_id = metal3_ceph_client.NAME.id"}},
		"a bug of ours":          {nil, block{"cluster_id": id, "entity": "client.bug"}, nil, []string{"Bug in the provider", "a bug of ours"}},
		"no user of that id":     {nil, block{"client_id": id + "#client.x"}, nil, []string{"No key of client.x", "no such user"}},
		"two ways to say who":    {nil, block{"client_id": id + "#client.x", "entity": "client.x"}, nil, []string{"client_id", "entity"}},
		"two clusters":           {nil, block{"client_id": id + "#client.x", "cluster_id": id}, nil, []string{"client_id", "cluster_id"}},
		"no cluster":             {nil, block{}, nil, []string{"client_id", "cluster_id"}},
		"an id of no user":       {nil, block{"client_id": id}, nil, []string{"CLUSTER_ID#ENTITY"}},
		"an id of a daemon":      {nil, block{"client_id": id + "#mds.a"}, nil, []string{"no user of a client"}},
		"a user of no fsid":      {nil, block{"client_id": "h1/d#client.x"}, nil, []string{"has no fsid"}},
		"no host answers":        {nil, block{"cluster_id": id}, []string{"h1", "h2"}, []string{fsid, "2 hosts", "@h1:0", "@h2:2222", "cannot be reached"}},
		"another cluster":        {nil, block{"cluster_id": strings.Replace(id, "4b5c", "ffff", 1)}, nil, []string{"another cluster", "ffff8c0a", fsid}},
		"no id":                  {nil, block{"cluster_id": "h1"}, nil, []string{"Invalid id", "FSID@HOST"}},
		"an id without the fsid": {nil, block{"cluster_id": "h1/d"}, nil, []string{"has no fsid"}},
		"ssh is not known yet":   {block{"ssh": block{"user": providertest.Unknown{}}}, block{"cluster_id": id}, nil, []string{"yet", "ssh.user", "Let client_id or cluster_id come from"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := &world{down: map[string]bool{}}
			for _, h := range c.down {
				w.down[h] = true
			}

			got, diags := w.server(t, c.provider).Open(t, "metal3_ceph_keyring", c.block)

			for _, want := range c.says {
				if text := providertest.Errors(diags); !strings.Contains(text, want) {
					t.Errorf("no %q in %q: %v", want, text, got)
				}
			}
		})
	}
}
