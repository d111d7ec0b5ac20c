// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

const (
	fsid = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19"
	way  = fsid + "@h1/var/lib/c"
)

// users are the users of a cluster, which has one host.
type users struct {
	mu   sync.Mutex
	keys map[string]string
	caps map[string]map[string]string
}

type host struct {
	ceph.Host

	of *users
}

func (h host) Name() string { return "root@h1" }

func (h host) Connect(context.Context, ceph.Layout) (api.Commander, error) {
	return session{of: h.of}, nil
}

type session struct {
	api.Commander

	of *users
}

func (session) Close() error { return nil }

var entry = regexp.MustCompile(`(?m)^\s*(key|caps \w+) = "?([^"\n]*)"?$`)

func (s session) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	return s.MonCommandWithInputBuffer(ctx, cmd, nil)
}

func (s session) MonCommandWithInputBuffer(_ context.Context, cmd, in []byte) ([]byte, string, error) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()

	var c struct {
		Prefix, Entity string
		Caps           []string
	}
	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	caps := map[string]string{}
	for i := 0; i+1 < len(c.Caps); i += 2 {
		caps[c.Caps[i]] = c.Caps[i+1]
	}

	switch c.Prefix {
	case "fsid":
		return []byte(fsid), "", nil
	case "auth get-or-create":
		s.of.keys[c.Entity], s.of.caps[c.Entity] = "first", caps
	case "auth caps":
		s.of.caps[c.Entity] = caps
	case "auth import":
		of := "client.vms"
		s.of.caps[of] = map[string]string{}

		for _, m := range entry.FindAllStringSubmatch(string(in), -1) {
			if kind, is := strings.CutPrefix(m[1], "caps "); is {
				s.of.caps[of][kind] = m[2]
			} else {
				s.of.keys[of] = m[2]
			}
		}

		return nil, "", nil
	case "auth rm":
		delete(s.of.keys, c.Entity)

		return nil, "", nil
	}

	if s.of.keys[c.Entity] == "" {
		return nil, "", &api.Error{Code: -2, Status: "failed to find it"}
	}

	out, err := json.Marshal([]any{map[string]any{"entity": c.Entity, "key": s.of.keys[c.Entity], "caps": s.of.caps[c.Entity]}})

	return out, "", err
}

func TestClient_keyVersion(t *testing.T) {
	t.Parallel()

	u := &users{keys: map[string]string{"client.vms": "old"}, caps: map[string]map[string]string{"client.vms": {"mon": "allow r"}}}
	core := acctest.NewCore(t, "metal3_ceph_client", nil, provider.WithCephHost(func(remote.Config) ceph.Host { return host{of: u} }))

	config := func(version any) acctest.Map {
		return acctest.Map{"cluster_id": way, "entity": "client.vms", "caps": acctest.Map{"mon": "allow r"}, "key_version": version}
	}

	if o := core.Import(t.Context(), way+"#client.vms"); o.Errors != "" {
		t.Fatal(o.Errors)
	}

	for _, step := range []struct {
		version any
		warns   string
		keeps   bool
	}{
		{1, "", true}, {2, "key_version changes from 1 to 2", false}, {nil, "", true}, {7, "", true}, {8, "ends at once", false}, {8, "", true},
	} {
		before := u.keys["client.vms"]

		o := core.Apply(t.Context(), config(step.version))
		if o.Errors != "" || !strings.Contains(o.Warnings, step.warns) || step.warns == "" && o.Warnings != "" || step.keeps != (before == u.keys["client.vms"]) {
			t.Errorf("key_version %v: key %q, then %q: %s %s", step.version, before, u.keys["client.vms"], o.Errors, o.Warnings)
		}

		if fmt.Sprint(u.caps["client.vms"]) != "map[mon:allow r]" {
			t.Errorf("caps %v", u.caps)
		}
	}
}

// TestClient_adopted takes over a user that was there with a warning, and no other one.
func TestClient_adopted(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		there string // its caps
		warns bool
	}{"a new one": {"", false}, "one that was there": {"allow r", true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			u := &users{keys: map[string]string{}, caps: map[string]map[string]string{}}
			if c.there != "" {
				u.keys["client.vms"], u.caps["client.vms"] = "old", map[string]string{"mon": c.there}
			}

			core := acctest.NewCore(t, "metal3_ceph_client", nil, provider.WithCephHost(func(remote.Config) ceph.Host { return host{of: u} }))

			o := core.Apply(t.Context(), acctest.Map{"cluster_id": way, "entity": "client.vms", "caps": acctest.Map{"mon": "allow r"}})
			if o.Errors != "" || strings.Contains(o.Warnings, "was there already") != c.warns {
				t.Errorf("%s %s", o.Errors, o.Warnings)
			}
		})
	}
}
