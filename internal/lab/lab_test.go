// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

type client struct {
	t *testing.T
	l *lab.Lab
}

// do sends a request to any host of the lab and returns status and decoded body.
func (c client) do(method, url, body string) (int, map[string]any) {
	c.t.Helper()

	req, err := http.NewRequestWithContext(context.Background(), method, url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}

	req.Header.Set("X-OpenStack-Ironic-API-Version", "1.96")
	req.SetBasicAuth("admin", "password")

	res, err := c.l.Transport().RoundTrip(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer res.Body.Close()

	raw, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}

	var out map[string]any
	if len(raw) > 0 && json.Unmarshal(raw, &out) != nil {
		out = map[string]any{"raw": string(raw)}
	}

	return res.StatusCode, out
}

func open(t *testing.T, o lab.Options) client {
	t.Helper()

	l, err := lab.Open(o)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})

	return client{t, l}
}

const node0 = `{"name":"metal3~node-0","driver":"redfish","boot_interface":"redfish-virtual-media","inspect_interface":"agent",
	"driver_info":{"redfish_address":"http://node-0.lab","redfish_system_id":"/redfish/v1/Systems/1",
	"redfish_username":"admin","redfish_password":"password"}}`

const provision = lab.Endpoint + "/v1/nodes/metal3~node-0/states/provision"

func (c client) state() string {
	_, n := c.do(http.MethodGet, lab.Endpoint+"/v1/nodes/metal3~node-0", "")

	return n["provision_state"].(string)
}

// wait polls until the transition is over; time is virtual.
func (c client) wait(want string) {
	c.t.Helper()

	for range 100 {
		if c.state() == want {
			return
		}

		time.Sleep(time.Second)
	}

	c.t.Fatalf("still %s, want %s", c.state(), want)
}

func TestLab_aWholeLifeInVirtualTime(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		l, err := lab.Open(lab.Options{Machines: 2})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()

		c := client{t, l}
		began := time.Now()

		if code, body := c.do(http.MethodPost, lab.Endpoint+"/v1/nodes", node0); code != http.StatusCreated {
			t.Fatalf("create: %d %v", code, body)
		}

		for _, step := range [][2]string{{"manage", "manageable"}, {"inspect", "manageable"}, {"provide", "available"}} {
			if code, body := c.do(http.MethodPut, provision, `{"target":"`+step[0]+`"}`); code != http.StatusAccepted {
				t.Fatalf("%s: %d %v", step[0], code, body)
			}

			c.wait(step[1])
		}

		c.do(http.MethodPatch, lab.Endpoint+"/v1/nodes/metal3~node-0", `[
			{"op":"add","path":"/instance_info/image_source","value":"http://images.lab/debian-12.qcow2"},
			{"op":"add","path":"/instance_info/image_checksum","value":"http://images.lab/SHA256SUMS"}]`)

		if code, body := c.do(http.MethodPut, provision, `{"target":"active"}`); code != http.StatusAccepted {
			t.Fatalf("active: %d %v", code, body)
		}

		c.wait("active")

		if took := time.Since(began); took < 9*time.Second || took > 16*time.Second {
			t.Errorf("from nothing to active took %s, want 10 to 15 paces", took)
		}

		_, system := c.do(http.MethodGet, "http://node-0.lab/redfish/v1/Systems/1", "")
		if system["PowerState"] != "On" {
			t.Errorf("the BMC says %v", system["PowerState"])
		}

		c.do(http.MethodPut, provision, `{"target":"deleted"}`)
		c.wait("available")

		if code, body := c.do(http.MethodDelete, lab.Endpoint+"/v1/nodes/metal3~node-0", ""); code != http.StatusNoContent {
			t.Errorf("delete: %d %v", code, body)
		}
	})
}

func TestLab_outlivesItsProcess(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	trace := filepath.Join(dir, "trace")

	first := open(t, lab.Options{Dir: dir, Pace: time.Millisecond, Trace: trace})
	first.do(http.MethodPost, lab.Endpoint+"/v1/nodes", node0)
	first.do(http.MethodPut, provision, `{"target":"manage"}`)

	if err := first.l.Close(); err != nil {
		t.Fatal(err)
	}

	second := open(t, lab.Options{Dir: dir, Pace: time.Millisecond, Trace: trace})
	time.Sleep(5 * time.Millisecond)

	if got := second.state(); got != "manageable" {
		t.Errorf("after a restart: %s", got)
	}

	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}

	if want := "ironic.lab:6385 POST /v1/nodes 201\n"; !strings.HasPrefix(string(lines), want) {
		t.Errorf("trace begins %q, want %q", lines, want)
	}
}

func TestLab_knowsItsOwnNamesOnly(t *testing.T) {
	t.Parallel()

	c := open(t, lab.Options{Machines: 2})

	for addr, refused := range map[string]bool{
		"ironic.lab:80": false, "ironic.lab:6385": false, "node-1.lab:80": false, "images.lab:80": false, "fabric.lab:80": false,
		"node-2.lab:80": true, "node-01.lab:80": true, "example.com:80": true, "127.0.0.1:80": true, "ironic.lab:22": true,
		"fabric.lab:443": true,
	} {
		conn, err := c.l.Dial(context.Background(), "tcp", addr)
		if (err != nil) != refused {
			t.Errorf("%s: %v", addr, err)
		}

		if conn != nil {
			_ = conn.Close()
		}
	}

	if _, err := c.l.Dial(context.Background(), "tcp", "example.com:80"); !errors.Is(err, lab.ErrNoHost) {
		t.Errorf("a foreign name: %v", err)
	}
}

func TestLab_theFabricIsAsFastAsTheLab(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		add, remove         time.Duration
		wantAdd, wantRemove time.Duration
	}{
		"by itself":       {wantAdd: 2 * time.Minute, wantRemove: time.Minute},
		"as it is told":   {add: time.Second, remove: time.Hour, wantAdd: time.Second, wantRemove: time.Hour},
		"in no time":      {add: -1, remove: -1},
		"one of them not": {remove: -1, wantAdd: 2 * time.Minute},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := lab.Options{Pace: time.Minute, Machines: 2, GPUs: map[string]int{"H100": 1}}
			o.Fabric.AddTime, o.Fabric.RemoveTime = c.add, c.remove

			far := open(t, o).l.Fabric
			if h := far.Env().Hardware; h.AddTime != c.wantAdd || h.RemoveTime != c.wantRemove {
				t.Errorf("add %s, remove %s", h.AddTime, h.RemoveTime)
			}

			all, err := far.Devices()
			if err != nil || len(all) != 3 || all[0].Model != "H100" {
				t.Errorf("devices %+v, %v", all, err)
			}
		})
	}
}
