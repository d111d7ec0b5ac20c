// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package workload_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/workload"
)

const tainted = "k8s.io/device-uuid=" + uuidA + ":NoSchedule of gpu.nvidia.com/node-0/gpu-a"

func with(present ...string) func(*world) {
	return func(w *world) {
		w.present = present
		w.start()
	}
}

// TestRelease_whole is a GPU that goes: tainted, detached, no longer shown, the taint gone.
func TestRelease_whole(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		with(uuidA, uuidB)(w)
		w.claim("train", uuidB, "train-0") // O-GPU-10: another GPU at work is in nobody's way

		r, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
		if err != nil || r.Absent || w.rule() != tainted {
			t.Fatalf("%+v, %v, rule %q", r, err, w.rule())
		}

		w.present = []string{uuidB}

		if err := w.node.Finish(t.Context(), r); err != nil || w.rule() != "" || len(w.told) != 1 {
			t.Errorf("%v, rule %q, the cluster shows %v", err, w.rule(), w.told)
		}
	})
}

// TestRelease_stillShown keeps the taint: a pod would be sent to a GPU that is gone.
func TestRelease_stillShown(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		with(uuidA)(w)

		r, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
		if err != nil {
			t.Fatal(err)
		}

		w.deaf = true

		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()

		err = w.node.Finish(limited, r)
		if err == nil || !strings.Contains(err.Error(), "kubectl delete devicetaintrule metal3-aaaaaaaa") || w.rule() == "" {
			t.Errorf("%v, rule %q", err, w.rule())
		}
	})
}

// TestOGPU10_podsThatUseIt: a GPU that a pod has stays, and the error names the pod; nothing
// was changed.
func TestOGPU10_podsThatUseIt(t *testing.T) {
	t.Parallel()

	gpuPod := kubetest.Pod{Namespace: "team", Name: "train-0", Node: here, Limits: map[string]string{"nvidia.com/gpu": "1"}}
	done := gpuPod
	done.Phase = "Succeeded"
	part := gpuPod
	part.Limits = map[string]string{"nvidia.com/mig-1g.5gb": "1"}
	elsewhere := gpuPod
	elsewhere.Node = "node-9"

	add := func(p kubetest.Pod) func(*world) { return func(w *world) { w.AddPod(p) } }

	cases := map[string]struct {
		mode workload.Mode
		set  func(*world)
		how  workload.Options
		want string // empty: it goes
	}{
		"DRA: it is free":                     {mode: workload.DRA},
		"DRA: a pod has it":                   {mode: workload.DRA, set: func(w *world) { w.claim("c", uuidA, "train-0") }, want: "in use by pod team/train-0 (ResourceClaim team/c)"},
		"DRA: a claim without a pod has it":   {mode: workload.DRA, set: func(w *world) { w.claim("c", uuidA) }, want: "in use by ResourceClaim team/c"},
		"DRA: a pod has another":              {mode: workload.DRA, set: func(w *world) { w.claim("c", uuidB, "train-0") }},
		"DRA: a connection changes nothing":   {mode: workload.DRA, how: workload.Options{Precise: true}, set: func(w *world) { w.claim("c", uuidA, "train-0") }, want: "team/train-0"},
		"plug-in: no pod has any":             {mode: workload.DevicePlugin},
		"plug-in: a pod has one":              {mode: workload.DevicePlugin, set: add(gpuPod), want: "does not tell which pod has GPU " + uuidA + ": pod team/train-0"},
		"plug-in: a pod has a part":           {mode: workload.DevicePlugin, set: add(part), want: "team/train-0"},
		"plug-in: it is over":                 {mode: workload.DevicePlugin, set: add(done)},
		"plug-in: it is on another node":      {mode: workload.DevicePlugin, set: add(elsewhere)},
		"plug-in: forced":                     {mode: workload.DevicePlugin, set: add(gpuPod), how: workload.Options{Force: true}},
		"plug-in: one of two, and we see it":  {mode: workload.DevicePlugin, set: add(gpuPod), how: workload.Options{Precise: true}},
		"plug-in: a part, and we see the GPU": {mode: workload.DevicePlugin, set: add(part), how: workload.Options{Precise: true}, want: "team/train-0"},
		"plug-in: both of two, and we see it": {
			mode: workload.DevicePlugin, how: workload.Options{Precise: true}, want: "team/train-0, pod team/train-1",
			set: func(w *world) {
				w.AddPod(gpuPod)

				second := gpuPod
				second.Name = "train-1"
				w.AddPod(second)
			},
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, c.mode, func(w *world) {
				t := w.t

				with(uuidA, uuidB)(w)

				if c.set != nil {
					c.set(w)
				}

				_, err := w.node.Release(t.Context(), target(uuidA), c.how)
				if errors.Is(err, workload.ErrInUse) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v", err)
				}

				if c.want != "" && len(w.Writes()) != 0 {
					t.Errorf("changed: %v", w.Writes())
				}
			})
		})
	}
}

// TestRelease_race has a pod get the GPU between the first look and the taint.
func TestRelease_race(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		with(uuidA)(w)
		w.OnRequest(kubetest.Fault{Method: http.MethodPost, Path: "/devicetaintrules", Do: func(*http.Request) { w.claim("late", uuidA, "late-0") }})

		_, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
		if !errors.Is(err, workload.ErrInUse) || !strings.Contains(err.Error(), "late-0") || w.rule() != "" {
			t.Errorf("%v, rule %q", err, w.rule())
		}
	})
}

// TestRelease_forced ends the pods that have the GPU, and waits for them.
func TestRelease_forced(t *testing.T) {
	t.Parallel()

	for name, stubborn := range map[string]bool{"they go": false, "they do not go": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, workload.DRA, func(w *world) {
				t := w.t

				with(uuidA)(w)
				w.claim("c", uuidA, "train-0")
				w.OnRequest(kubetest.Fault{Method: http.MethodPost, Path: "/devicetaintrules", Do: func(*http.Request) {
					if !stubborn {
						time.AfterFunc(20*time.Second, func() { w.Remove("resourceclaims", "team", "c") })
					}
				}})

				limited, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				defer cancel()

				_, err := w.node.Release(limited, target(uuidA), workload.Options{Force: true})
				if errors.Is(err, workload.ErrInUse) != stubborn || (err != nil) != stubborn {
					t.Errorf("error %v", err)
				}

				if stubborn == strings.Contains(w.rule(), ":NoExecute") {
					t.Errorf("rule %q", w.rule())
				}
			})
		})
	}
}

// TestRelease_leftRule is a rule of a killed run, for another place or with another effect.
func TestRelease_leftRule(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		with(uuidA)(w)

		for _, force := range []bool{false, false, true, false} {
			r, err := w.node.Release(t.Context(), target(uuidA), workload.Options{Force: force})
			if err != nil || strings.Contains(w.rule(), "NoExecute") != force {
				t.Fatalf("force %t: %+v, %v, rule %q", force, r, err, w.rule())
			}
		}

		if err := w.node.Welcome(t.Context(), workload.Seen{UUID: uuidA}); err != nil || w.rule() != "" {
			t.Errorf("welcome: %v, rule %q", err, w.rule())
		}
	})
}

// TestRelease_unknown are GPUs that no slice offers.
func TestRelease_unknown(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		present []string
		set     func(*world)
		target  workload.Target
		doubt   bool
	}{
		"the node does not have it":                        {present: []string{uuidB}, target: target(uuidA)},
		"another is in use":                                {present: []string{uuidB}, target: target(uuidA), set: func(w *world) { w.claim("c", uuidB, "p") }},
		"the plug-in is down, and somebody has one":        {target: target(uuidA), set: func(w *world) { w.claim("c", uuidA, "p") }, doubt: true},
		"the plug-in is down, and nobody has one":          {target: target(uuidA)},
		"a serial, and nobody has one":                     {present: []string{uuidA, uuidB}, target: target("S-1")},
		"a serial, and somebody has one":                   {present: []string{uuidA, uuidB}, target: target("S-1"), set: func(w *world) { w.claim("c", uuidB, "p") }, doubt: true},
		"a serial, and an address that some do not show":   {present: []string{uuidB}, target: workload.Target{ID: "S-1", BusID: busA}, set: func(w *world) { w.claim("c", uuidB, "p") }, doubt: true},
		"a serial, and an address where all show another":  {present: []string{uuidA}, target: workload.Target{ID: "S-1", BusID: "0000:2f:00.0"}, set: func(w *world) { w.claim("c", uuidA, "p") }},
		"a UUID, and another has the address that it had ": {present: []string{uuidA}, target: workload.Target{ID: uuidB, BusID: busA}},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, workload.DRA, func(w *world) {
				t := w.t

				with(c.present...)(w)

				if c.set != nil {
					c.set(w)
				}

				r, err := w.node.Release(t.Context(), c.target, workload.Options{})
				if errors.Is(err, workload.ErrInDoubt) != c.doubt || (err != nil) != c.doubt || !r.Absent || len(w.Writes()) != 0 {
					t.Errorf("%+v, %v, changed %v", r, err, w.Writes())
				}
			})
		})
	}
}

// TestRelease_noRules: a cluster that knows no such taints is passed over with a warning.
func TestRelease_noRules(t *testing.T) {
	t.Parallel()
	inCluster(t, workload.DRA, func(w *world) {
		t := w.t

		w.ServeDevices(map[string]string{"resourceslices": "v1beta1", "resourceclaims": "v1beta1"})
		with(uuidA)(w)

		r, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
		warned := w.node.Warnings()

		if err != nil || r.Absent || len(r.Rules) != 0 || len(warned) != 1 {
			t.Errorf("%+v, %v, %v", r, err, warned)
		}
	})
}

// TestRelease_noAnswer: nothing is taken away where the cluster does not say that nobody has it.
func TestRelease_noAnswer(t *testing.T) {
	t.Parallel()

	for name, fault := range map[string]kubetest.Fault{
		"no connection":        {Close: true},
		"no right":             {Status: 403, Message: "forbidden"},
		"no claims are told":   {Path: "/resourceclaims", Status: 500},
		"nothing is tainted":   {Method: http.MethodPost, Status: 403},
		"another kind of page": {Body: "<html>"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, workload.DRA, func(w *world) {
				t := w.t

				with(uuidA)(w)
				w.OnRequest(fault)

				_, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
				if !errors.Is(err, workload.ErrUnreachable) || w.rule() != "" {
					t.Errorf("error %v, rule %q", err, w.rule())
				}
			})
		})
	}
}

// TestFinish_counted waits until the node no longer offers the GPU, also where it was the last.
func TestFinish_counted(t *testing.T) {
	t.Parallel()

	for name, rest := range map[string][]string{"beside another": {uuidB}, "the last": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inCluster(t, workload.DevicePlugin, func(w *world) {
				t := w.t

				with(append([]string{uuidA}, rest...)...)(w)

				r, err := w.node.Release(t.Context(), target(uuidA), workload.Options{})
				if err != nil {
					t.Fatal(err)
				}

				w.present = rest

				limited, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()

				if err := w.node.Finish(limited, r); err != nil || len(w.told) != len(rest) {
					t.Errorf("%v, told %v", err, w.told)
				}
			})
		})
	}
}
