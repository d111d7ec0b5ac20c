// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package maintenance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/maintenance"
)

// cluster has three hosts with an OSD and a monitor each, and answers as it is told.
type cluster struct {
	api.Commander

	refusals int    // how often ok-to-stop says no
	monSays  string // of mon ok-to-stop; empty: yes
	mons     int    // in the map
	dirty    int    // how often the placement groups are not clean
	flag     bool
	fail     string // this command fails
	active   string // the MDS that serves; empty: there is no file system
	standby  string // one that stands by
	sent     []string
}

func (c *cluster) MonCommand(_ context.Context, cmd []byte) ([]byte, string, error) {
	var r struct {
		Prefix string
		Flags  string
		Who    []string
	}
	if err := json.Unmarshal(cmd, &r); err != nil {
		return nil, "", err
	}

	if r.Prefix == c.fail {
		return nil, "", &api.Error{Code: -22, Status: "not like this"}
	}

	names := []string{"a", "b", "c"}[:c.mons]

	switch r.Prefix {
	case "osd dump":
		flags := ""
		if c.flag {
			flags = `"h1":["noout"]`
		}

		return []byte(`{"epoch":1,"osds":[{"osd":0,"up":1,"in":1},{"osd":1,"up":1,"in":1},{"osd":2,"up":1,"in":1}],"pools":[],"crush_node_flags":{` + flags + `}}`), "", nil
	case "osd tree":
		return []byte(`{"nodes":[{"id":-1,"name":"default","type":"root","children":[-2,-3,-4]},{"id":-2,"name":"h1","type":"host","children":[0]},{"id":-3,"name":"h2","type":"host","children":[1]},
			{"id":-4,"name":"h3","type":"host","children":[2]},{"id":0,"name":"osd.0","type":"osd"},{"id":1,"name":"osd.1","type":"osd"},{"id":2,"name":"osd.2","type":"osd"}],"stray":[]}`), "", nil
	case "mon metadata":
		all := []any{}
		for i, n := range names {
			all = append(all, map[string]any{"name": n, "hostname": fmt.Sprintf("h%d", i+1)})
		}

		out, err := json.Marshal(all)

		return out, "", err
	case "mgr metadata":
		return []byte(`[{"name":"x","hostname":"h1"},{"name":"y","hostname":"h2"}]`), "", nil
	case "mgr dump":
		return []byte(`{"active_name":"x","available":true,"standbys":[{"name":"y"}],"modules":[],"services":{}}`), "", nil
	case "mds metadata":
		return []byte(`[{"name":"m1","hostname":"h1"},{"name":"m2","hostname":"h2"},{"name":"n1","hostname":"h1"}]`), "", nil
	case "fs dump":
		standbys, list := []any{}, []any{}
		if c.standby != "" {
			standbys = append(standbys, map[string]any{"name": c.standby, "state": "up:standby"})
		}

		if c.active != "" {
			list = append(list, map[string]any{"id": 1, "mdsmap": map[string]any{"fs_name": "f", "max_mds": 1, "info": map[string]any{"gid": map[string]any{"name": c.active, "state": "up:active"}}}})
		}

		out, err := json.Marshal(map[string]any{"epoch": 1, "standbys": standbys, "filesystems": list})

		return out, "", err
	case "quorum_status":
		all := []any{}
		for i, n := range names {
			all = append(all, map[string]any{"name": n, "rank": i})
		}

		out, err := json.Marshal(map[string]any{"quorum_names": names, "quorum_leader_name": "a", "monmap": map[string]any{"fsid": "f", "epoch": 1, "mons": all}})

		return out, "", err
	case "mon ok-to-stop":
		if c.monSays != "" {
			return nil, c.monSays, &api.Error{Code: -16, Status: c.monSays}
		}

		return nil, "quorum should be preserved", nil
	case "osd set-group", "osd unset-group":
		c.sent = append(c.sent, r.Prefix+" "+r.Flags+" "+strings.Join(r.Who, " "))

		return nil, "", nil
	default:
		return nil, "", &api.Error{Code: -22, Status: "what is " + r.Prefix + "?"}
	}
}

func (c *cluster) MgrCommand(_ context.Context, cmd [][]byte) ([]byte, string, error) {
	if strings.Contains(string(cmd[0]), "pg stat") {
		if c.dirty > 0 {
			c.dirty--

			return []byte(`{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"active+clean","num":3},{"name":"active+undersized+degraded","num":5}]}}`), "", nil
		}

		return []byte(`{"pg_ready":true,"pg_summary":{"num_pg_by_state":[{"name":"active+clean","num":8}]}}`), "", nil
	}

	if c.refusals > 0 {
		c.refusals--

		return nil, "", &api.Error{
			Code: -16, Status: "unsafe to stop osd(s) at this time (2 PGs are or would become offline)",
			Out: []byte(`{"ok_to_stop":false,"osds":[0],"num_not_ok_pgs":2,"bad_become_inactive":["2.b","2.a"]}`),
		}
	}

	return []byte(`{"ok_to_stop":true,"osds":[0],"num_ok_pgs":8,"num_not_ok_pgs":0}`), "", nil
}

func TestEnter(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		cluster cluster
		host    string
		want    error
		says    []string // in what was said, and in the error
		sent    []string
	}{
		"a host that can be spared":       {cluster{mons: 3}, "h1", nil, []string{"osd.0, mon.a", "mgr.x", "is in maintenance"}, []string{"osd set-group noout h1"}},
		"the manager says no for a while": {cluster{mons: 3, refusals: 3}, "h1", nil, []string{"unsafe to stop"}, []string{"osd set-group noout h1"}},
		"the manager says no":             {cluster{mons: 3, refusals: 1000}, "h1", maintenance.ErrNotNow, []string{"2.a, 2.b", "would become offline"}, nil},
		"the monitors say no":             {cluster{mons: 3, monSays: "not enough monitors would be available"}, "h1", maintenance.ErrNotNow, []string{"monitor a", "not enough"}, nil},
		"the only monitor":                {cluster{mons: 1}, "h1", maintenance.ErrNotNow, []string{"no quorum", "0 of 1"}, nil},
		"one of two monitors":             {cluster{mons: 2}, "h1", maintenance.ErrNotNow, []string{"no quorum", "1 of 2"}, nil},
		"a host without a monitor":        {cluster{mons: 1}, "h3", nil, []string{"osd.2"}, []string{"osd set-group noout h3"}},
		"a host that is out already":      {cluster{mons: 3, flag: true}, "h1", nil, []string{"already"}, nil},
		"the only MDS":                    {cluster{mons: 3, active: "m1"}, "h1", maintenance.ErrNotNow, []string{"file system f is served by mds.m1", "no MDS stands by"}, nil},
		"a standby on the same host":      {cluster{mons: 3, active: "m1", standby: "n1"}, "h1", maintenance.ErrNotNow, []string{"file system f"}, nil},
		"a standby on another host":       {cluster{mons: 3, active: "m1", standby: "m2"}, "h1", nil, []string{"another MDS takes over"}, []string{"osd set-group noout h1"}},
		"an MDS that only stands by":      {cluster{mons: 3, active: "m2", standby: "m1"}, "h1", nil, []string{"mds.m1"}, []string{"osd set-group noout h1"}},
		"no such host":                    {cluster{mons: 3}, "h9", maintenance.ErrNoHost, []string{"h1, h2, h3"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				said, err := run(t, &c.cluster, c.host, maintenance.Enter)
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v", err)
				}

				for _, want := range c.says {
					if !strings.Contains(said+fmt.Sprint(err), want) {
						t.Errorf("no %q in %q, %v", want, said, err)
					}
				}

				if !slices.Equal(c.cluster.sent, c.sent) {
					t.Errorf("sent %v, want %v", c.cluster.sent, c.sent)
				}
			})
		})
	}
}

func TestExit(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		c := &cluster{mons: 3, flag: true, dirty: 3}

		said, err := run(t, c, "h1", maintenance.Exit)
		if err != nil || !slices.Equal(c.sent, []string{"osd unset-group noout h1"}) {
			t.Errorf("%v, sent %v", err, c.sent)
		}

		if strings.Count(said, "5 placement groups are active+undersized+degraded") != 1 || !strings.Contains(said, "All placement groups are clean") {
			t.Errorf("said %q", said)
		}

		if _, err := run(t, &cluster{mons: 3, dirty: 1 << 20}, "h1", maintenance.Exit); err == nil || !strings.Contains(err.Error(), "undersized") || !strings.Contains(err.Error(), "not reached") {
			t.Errorf("a cluster that never heals: %v", err)
		}

		if _, err := run(t, &cluster{mons: 3, fail: "osd unset-group"}, "h1", maintenance.Exit); !errors.Is(err, api.ErrInvalid) {
			t.Errorf("the flag stays: %v", err)
		}
	})
}

func run(t *testing.T, c *cluster, host string, verb func(context.Context, *api.Cluster, string, maintenance.Say) error) (string, error) {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Minute, errors.New("it takes too long"))
	defer cancel()

	var said []string

	err := verb(ctx, api.New(c), host, func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) })

	return strings.Join(said, "\n"), err
}
