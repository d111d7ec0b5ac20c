// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package user_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
)

// mon is the part of a cluster that users need, with a memory.
type mon struct {
	api.Commander

	users   map[string]api.User
	changes int
	fail    error
}

func (m *mon) MonCommand(_ context.Context, cmd []byte) ([]byte, string, error) {
	if m.fail != nil {
		return nil, "", m.fail
	}

	var c struct {
		Prefix, Entity string
		Caps           []string
	}
	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	u, there := m.users[c.Entity]
	caps := map[string]string{}

	for i := 0; i+1 < len(c.Caps); i += 2 {
		caps[c.Caps[i]] = c.Caps[i+1]
	}

	switch {
	case c.Prefix == "auth ls":
		all := []any{}
		for _, u := range m.users {
			all = append(all, map[string]any{"entity": u.Entity, "key": u.Key, "caps": u.Caps})
		}

		out, _ := json.Marshal(map[string]any{"auth_dump": all})

		return out, "", nil
	case c.Prefix == "auth get-or-create" && !there:
		u = api.User{Entity: c.Entity, Key: "first", Caps: caps}
		m.users[c.Entity], m.changes = u, m.changes+1
	case c.Prefix == "auth rm":
		delete(m.users, c.Entity)
	case !there:
		return nil, "", &api.Error{Code: -2, Status: "failed to find " + c.Entity + " in keyring"}
	case c.Prefix == "auth caps":
		u.Caps = caps
		m.users[c.Entity], m.changes = u, m.changes+1
	}

	out, err := json.Marshal([]any{map[string]any{"entity": u.Entity, "key": u.Key, "caps": u.Caps}})

	return out, "", err
}

func (m *mon) MonCommandWithInputBuffer(_ context.Context, _, in []byte) ([]byte, string, error) {
	for _, e := range ceph.ParseKeyring(in) {
		m.users[e.Entity], m.changes = api.User{Entity: e.Entity, Key: string(e.Key), Caps: e.Caps}, m.changes+1
	}

	return nil, "imported keyring", nil
}

func TestUser_life(t *testing.T) {
	t.Parallel()

	const vms = "client.vms"

	m := &mon{users: map[string]api.User{}}
	c := api.New(m)
	caps := map[string]string{"mon": "profile rbd", "osd": "profile rbd pool=vms"}

	if _, err := user.Look(t.Context(), c, vms); !errors.Is(err, user.ErrNoUser) {
		t.Errorf("nobody is there: %v", err)
	}

	u, adopted, err := user.Create(t.Context(), c, vms, caps)
	if err != nil || u.Key != "first" || fmt.Sprint(u.Caps) != fmt.Sprint(caps) {
		t.Fatalf("got %v, %v", u.Caps, err)
	}

	if _, again, err := user.Create(t.Context(), c, vms, caps); err != nil || adopted || !again || m.changes != 1 {
		t.Errorf("the same again: %v", err)
	}

	if _, _, err := user.Create(t.Context(), c, vms, map[string]string{"mon": "allow *"}); !errors.Is(err, user.ErrOtherCaps) || !strings.Contains(err.Error(), "osd = profile rbd pool=vms") || m.changes != 1 {
		t.Errorf("other caps: %v", err)
	}

	fewer := map[string]string{"mon": "allow r"}

	if u, err = user.Update(t.Context(), c, vms, fewer, false); err != nil || u.Key != "first" || len(u.Caps) != 1 {
		t.Errorf("other caps keep the key: %v, %v", u.Caps, err)
	}

	if _, err = user.Update(t.Context(), c, vms, fewer, false); err != nil || m.changes != 2 {
		t.Errorf("nothing changes: %v", err)
	}

	if u, err = user.Update(t.Context(), c, vms, fewer, true); err != nil || !ceph.ValidKey(ceph.Secret(u.Key)) || len(u.Caps) != 1 {
		t.Errorf("another key keeps the caps: %v, %v", u.Caps, err)
	}

	m.users["client.admin"] = api.User{Entity: "client.admin"}
	m.users["osd.0"] = api.User{Entity: "osd.0"}

	if all, err := user.List(t.Context(), c); err != nil || len(all) != 1 || all[0].Entity != vms || all[0].Key != "" {
		t.Errorf("listed: %v, %v", len(all), err)
	}

	for range 2 {
		if err := user.Delete(t.Context(), c, vms); err != nil {
			t.Error(err)
		}
	}

	m.fail = api.ErrLost
	if _, err := user.Look(t.Context(), c, vms); errors.Is(err, user.ErrNoUser) || !errors.Is(err, api.ErrLost) {
		t.Errorf("a lost session is no missing user: %v", err)
	}
}

func TestCheckEntity(t *testing.T) {
	t.Parallel()

	for entity, says := range map[string]string{
		"client.vms": "", "client.user@host-1.b_c": "", "client.administrator": "",
		"client.admin": "reserved", "client.crash": "reserved", "client.rgw": "reserved", "client.rgw.a": "reserved", "client.rbd-mirror-peer": "reserved",
		"client.bootstrap-osd": "reserved", "osd.0": "no user of a client", "mon.": "no user of a client", "client.": "no user of a client", "client.a b": "no user of a client", "client.a]": "no user of a client", "": "no user of a client",
	} {
		if err := user.CheckEntity(entity); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", entity, err)
		}
	}
}

func FuzzCheckEntity(f *testing.F) {
	for _, s := range []string{"client.a", "client.admin", "x\n[client.admin]", "client.\""} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		if user.CheckEntity(s) != nil {
			return
		}

		// What is let through is one entry of a keyring.
		all := ceph.ParseKeyring(ceph.Keyring(ceph.Entry{Entity: s, Key: "k"}))
		if len(all) != 1 || all[0].Entity != s || all[0].Key != "k" {
			t.Errorf("%q is read back as %d entries", s, len(all))
		}
	})
}
