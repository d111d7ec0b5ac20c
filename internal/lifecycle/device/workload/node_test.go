// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

func target(uuid string) workload.Target { return workload.Target{ID: uuid} }

func TestCheck(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		mode workload.Mode
		set  func(*world)
		want string // empty: fit
	}{
		"a node with DRA":        {mode: workload.DRA},
		"a node with a plug-in":  {mode: workload.DevicePlugin},
		"no such node":           {mode: workload.DRA, set: func(w *world) { w.Remove("nodes", "", here) }, want: `has no node "node-0"`},
		"a cluster without DRA":  {mode: workload.DRA, set: func(w *world) { w.ServeDevices(nil) }, want: `resource_type = "device_plugin"`},
		"a cluster without it":   {mode: workload.DevicePlugin, set: func(w *world) { w.Remove("daemonsets", workload.DefaultNamespace, "nvidia-device-plugin-daemonset") }, want: "install the device plug-in"},
		"an API that is refused": {mode: workload.DRA, set: func(w *world) { w.OnRequest(kubetest.Fault{Status: 403, Message: "no"}) }, want: "is workload right?"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, c.mode, func(w *world) {
				t := w.t

				if c.set != nil {
					c.set(w)
				}

				err := w.node.Check(t.Context())
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			})
		})
	}
}

// TestSee has a GPU come, in both modes: the cluster shows it once its plug-ins were restarted.
func TestSee(t *testing.T) {
	t.Parallel()

	for _, mode := range []workload.Mode{workload.DRA, workload.DevicePlugin} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			inCluster(t, mode, func(w *world) {
				t := w.t

				w.present = []string{uuidB}
				w.start()

				if err := w.node.Remember(t.Context()); err != nil {
					t.Fatal(err)
				}

				w.present = []string{uuidB, uuidA}

				if _, err := w.node.See(t.Context(), target(uuidA)); !errors.Is(err, workload.ErrHidden) {
					t.Fatalf("before the restart: %v", err)
				}

				starts := w.starts

				if done, err := w.node.Announce(t.Context()); err != nil || !done || w.starts != starts+len(w.pods()) {
					t.Fatalf("announced %t, %v, %d starts", done, err, w.starts)
				}

				seen, err := w.node.See(t.Context(), target(uuidA))
				if err != nil || mode == workload.DRA && (seen.UUID != uuidA || seen.BusID != busA) {
					t.Errorf("%+v, %v", seen, err)
				}
			})
		})
	}
}

// pods is how many plug-ins a restart finds.
func (w *world) pods() []string {
	var out []string

	for _, r := range w.Writes() {
		if strings.HasPrefix(r, http.MethodDelete+" ") && strings.Contains(r, "plugin") {
			out = append(out, r)
		}
	}

	return out
}

// TestSee_whichOne are GPUs whose name the fabric does not tell, or tells otherwise.
func TestSee_whichOne(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		after  []string
		target workload.Target
		want   string // empty: hidden
	}{
		"the only new one":                 {after: []string{uuidB, uuidA}, want: uuidA},
		"two new ones":                     {after: []string{uuidB, uuidA, uuidC}},
		"a UUID of another form":           {after: []string{uuidB, uuidA}, target: target(strings.ToUpper(uuidA[4:])), want: uuidA},
		"a serial, and the only new one":   {after: []string{uuidB, uuidA}, target: target("S-0001"), want: uuidA},
		"a serial and an address":          {after: []string{uuidB, uuidA, uuidC}, target: workload.Target{ID: "S-0001", BusID: busA}, want: uuidA},
		"another one came":                 {after: []string{uuidB, uuidC}, target: target(uuidA)},
		"it is in an older generation":     {after: []string{uuidB}, target: target(uuidC)},
		"the fabric says nothing, nor did": {after: []string{uuidB}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, workload.DRA, func(w *world) {
				t := w.t

				w.present = []string{uuidB}
				w.start()
				w.slice("old", 1, uuidC)

				if err := w.node.Remember(t.Context()); err != nil {
					t.Fatal(err)
				}

				w.present = c.after
				w.start()

				seen, err := w.node.See(t.Context(), c.target)
				if seen.UUID != c.want || errors.Is(err, workload.ErrHidden) != (c.want == "") {
					t.Errorf("%+v, %v", seen, err)
				}
			})
		})
	}
}

// TestRemember_restarting: a node whose plug-in starts offers nothing, and what it has is not new.
func TestRemember_restarting(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DevicePlugin, func(w *world) {
		t := w.t

		w.present = []string{uuidB}
		w.start()

		w.present, w.deaf = nil, true // the plug-in is up again, and says nothing yet
		w.told = nil

		if _, err := w.node.Announce(t.Context()); err != nil {
			t.Fatal(err)
		}

		time.AfterFunc(3*time.Second, func() {
			w.told = []string{uuidB}
			w.tell()
		})
		w.AddPod(kubetest.Pod{
			Node: here, Namespace: workload.DefaultNamespace, Name: "starting", Owner: "DaemonSet/nvidia-device-plugin-daemonset", NotReady: true,
		})
		time.AfterFunc(4*time.Second, func() { w.RemovePod(workload.DefaultNamespace, "starting") })

		if err := w.node.Remember(t.Context()); err != nil {
			t.Fatal(err)
		}

		if _, err := w.node.See(t.Context(), target(uuidA)); !errors.Is(err, workload.ErrHidden) {
			t.Errorf("what was there before looks new: %v", err)
		}
	})
}

// TestRestart_notTwice: what starts is not restarted, and a wait restarts nothing each minute.
func TestRestart_notTwice(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		for range 3 {
			if err := w.node.Restart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		if w.starts != 2 {
			t.Errorf("%d starts", w.starts)
		}

		time.Sleep(time.Minute)

		if err := w.node.Restart(t.Context()); err != nil || w.starts != 3 {
			t.Errorf("after a minute: %d starts, %v", w.starts, err)
		}
	})
}

func TestUsed(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		w.present = []string{uuidA, uuidB}
		w.start()
		w.claim("train", uuidB, "train-0")

		got, err := w.node.Used(t.Context(), []workload.Target{target(uuidA), target(uuidB), target("S-1")})
		if err != nil || got[0] != workload.Free || got[1] != workload.InUse || got[2] != workload.Untold {
			t.Errorf("%v, %v", got, err)
		}

		if len(w.Writes()) != 0 {
			t.Errorf("a look changed something: %v", w.Writes())
		}
	})
}
