// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func TestDrain_evictsWhatDoesNotBelongToTheNode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-1", Ready: "True"})
		server.AddNode(kubetest.Node{Name: "edge-w-10", Ready: "True"})
		server.AddPod(kubetest.Pod{Name: "web", Node: "edge-w-1", Owner: "ReplicaSet/web"})
		server.AddPod(kubetest.Pod{Name: "alone", Node: "edge-w-1", Namespace: "team"})
		server.AddPod(kubetest.Pod{Name: "agent", Node: "edge-w-1", Owner: "DaemonSet/agent"})
		server.AddPod(kubetest.Pod{Name: "kube-proxy", Node: "edge-w-1", Mirror: true})
		server.AddPod(kubetest.Pod{Name: "job", Node: "edge-w-1", Phase: "Succeeded"})
		server.AddPod(kubetest.Pod{Name: "failed", Node: "edge-w-1", Phase: "Failed"})
		server.AddPod(kubetest.Pod{Name: "other", Node: "edge-w-10"})

		if err := nodes.Drain(t.Context(), client, "edge-w-1", nodes.Options{Timeout: time.Minute}); err != nil {
			t.Fatal(err)
		}

		evicted := server.Evictions()
		slices.Sort(evicted)

		if !slices.Equal(evicted, []string{"default/web", "team/alone"}) || server.HasPod("default", "web") || !server.HasPod("default", "agent") {
			t.Errorf("evicted %v", evicted)
		}

		if !server.Cordoned("edge-w-1") || server.Cordoned("edge-w-10") {
			t.Error("the wrong Node is cordoned")
		}

		if err := nodes.Uncordon(t.Context(), client, "edge-w-1"); err != nil || server.Cordoned("edge-w-1") {
			t.Errorf("uncordon: %v", err)
		}
	})
}

func Test11_6_drainHonoursDisruptionBudgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
		server.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"})
		server.AddPod(kubetest.Pod{Name: "web", Node: "edge-w-0"})
		server.Block("default", "db", 3, 10)

		start := time.Now()

		if err := nodes.Drain(t.Context(), client, "edge-w-0", nodes.Options{Timeout: time.Minute}); err != nil {
			t.Fatal(err)
		}

		// three refusals, the eviction, and a look that sees it gone; not 10 times client-go's
		if took := time.Since(start).Round(time.Second); took < 15*time.Second || took > 25*time.Second {
			t.Errorf("took %s", took)
		}

		if n := len(server.Evictions()); n != 5 {
			t.Errorf("evictions: %v", server.Evictions())
		}
	})
}

func TestDrain_saysWhatBlocks(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		seed func(*kubetest.Server)
		o    nodes.Options
		err  []string // parts; none means that it is drained
	}{
		"a disruption budget": {
			seed: func(s *kubetest.Server) {
				s.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"})
				s.Block("default", "db", -1, 0)
			},
			err: []string{"drain Node edge-w-0", "1 Pods are left: default/db", "guard-db needs 1 healthy pods"},
		},
		"a Pod that does not end": {
			seed: func(s *kubetest.Server) { s.AddPod(kubetest.Pod{Name: "slow", Node: "edge-w-0", Lingers: -1}) },
			err:  []string{"default/slow (is ending)"},
		},
		"a volume": {
			seed: func(s *kubetest.Server) { s.AddVolumeAttachment("csi-1", "edge-w-0") },
			err:  []string{"1 volumes are attached: csi-1"},
		},
		"a volume that is not waited for": {
			seed: func(s *kubetest.Server) { s.AddVolumeAttachment("csi-1", "edge-w-0") },
			o:    nodes.Options{SkipVolumes: true},
		},
		"a volume of another Node": {
			seed: func(s *kubetest.Server) { s.AddVolumeAttachment("csi-1", "edge-w-00") },
		},
		"rights that are missing": {
			seed: func(s *kubetest.Server) {
				s.AddPod(kubetest.Pod{Name: "web", Node: "edge-w-0"})
				s.OnRequest(kubetest.Fault{Path: "/eviction", Status: 403, Message: "forbidden"})
			},
			err: []string{"evict the Pod default/web", "403"},
		},
		"an API server that is away": {
			seed: func(s *kubetest.Server) { s.OnRequest(kubetest.Fault{Status: 503, Message: "starting"}) },
			err:  []string{"not reached after 1m0s", "starting"},
		},
		"a Node that is gone": {seed: func(s *kubetest.Server) { s.Remove("nodes", "", "edge-w-0") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := strict(t)

				server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
				c.seed(server)

				c.o.Timeout = time.Minute
				err := nodes.Drain(t.Context(), client, "edge-w-0", c.o)

				if (err != nil) != (len(c.err) > 0) {
					t.Fatalf("got %v", err)
				}

				for _, part := range c.err {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("got %v without %q", err, part)
					}
				}
			})
		})
	}
}

func TestDrain_oneFailureDoesNotHoldTheOthersUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(node("edge-w-0", ""))
		f.pods = []kube.Pod{{Name: "a", Node: "edge-w-0"}, {Name: "b", Node: "edge-w-0"}}
		f.fails["evict a"] = []error{transient(), transient()}
		f.setVolumes(kube.VolumeAttachment{Name: "v", Node: "edge-w-0"})
		time.AfterFunc(32*time.Second, func() { f.setVolumes() })

		start := time.Now()

		if err := nodes.Drain(t.Context(), f, "edge-w-0", nodes.Options{}); err != nil || time.Since(start) != 35*time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}

		if f.count("evict a") != 3 || f.count("evict b") != 1 || f.count("cordon edge-w-0") != 1 {
			t.Errorf("did %v", f.calls())
		}
	})
}

func TestDrain_podsOfOtherNodesAreNeverEvicted(t *testing.T) {
	t.Parallel()

	f := newFake(node("edge-w-0", ""))
	f.pods = []kube.Pod{{Name: "a", Node: "edge-w-1"}, {Name: "b"}} // a far side that does not honour the selector

	if err := nodes.Drain(t.Context(), f, "edge-w-0", nodes.Options{}); err != nil || len(f.pods) != 2 {
		t.Errorf("%v, did %v", err, f.calls())
	}
}

func TestDrain_aNodeThatDoesNotAnswerIsNotWaitedForForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lost := node("edge-w-0", "")
		lost.Ready = "Unknown"

		f := newFake(lost)
		f.pods = []kube.Pod{{Name: "a", Node: "edge-w-0", Deleting: true}}
		f.setVolumes(kube.VolumeAttachment{Name: "v", Node: "edge-w-0"})

		start := time.Now()

		if err := nodes.Drain(t.Context(), f, "edge-w-0", nodes.Options{Timeout: time.Hour}); err != nil || time.Since(start) != 5*time.Minute {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

// away is a workload cluster that answers so many lists of Pods, and then nothing any more.
type away struct {
	nodes.Workload

	answers int
}

func (a *away) Node(ctx context.Context, name string) (kube.Node, error) {
	if a.answers == 0 {
		return kube.Node{}, transient()
	}

	return a.Workload.Node(ctx, name)
}

func (a *away) PodsOn(ctx context.Context, node string) ([]kube.Pod, error) {
	a.answers--

	return a.Workload.PodsOn(ctx, node)
}

// TestDrain_nobodyAnswers tells Pods that may not go from a cluster of which nothing is known.
func TestDrain_nobodyAnswers(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		answers    int
		unanswered bool
	}{
		"never":                          {0, true},
		"until it has said what is left": {1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := strict(t)

				server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True"})
				server.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"})
				server.Block("default", "db", 1000, 10)

				err := nodes.Drain(t.Context(), &away{Workload: client, answers: c.answers}, "edge-w-0", nodes.Options{Timeout: time.Minute})

				var late *wait.TimeoutError
				if errors.Is(err, nodes.ErrUnanswered) != c.unanswered || errors.As(err, &late) == c.unanswered || !strings.Contains(err.Error(), errBroken.Error()) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestUncordon_aNodeThatIsGone(t *testing.T) {
	t.Parallel()

	f := newFake()
	if err := nodes.Uncordon(t.Context(), f, "edge-w-0"); err != nil {
		t.Error(err)
	}

	f = newFake(node("edge-w-0", mine))
	if err := nodes.Drain(t.Context(), f, "edge-w-0", nodes.Options{}); err != nil {
		t.Fatal(err)
	}

	f.fails["cordon edge-w-0"] = []error{errBroken}
	if err := nodes.Uncordon(t.Context(), f, "edge-w-0"); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// TestJoin_endsACordonOfADrain that was cut short before its end, once its machine is to take Pods; never
// one that a person made.
func TestJoin_endsACordonOfADrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, c := range map[string]struct {
			person, inService, stays bool
		}{"in service": {false, true, false}, "to be made anew": {false, false, true}, "a person's": {true, true, true}} {
			server, client := strict(t)
			server.AddNode(kubetest.Node{Name: "edge-w-0", ProviderID: mine, Ready: "True"})

			if c.person {
				if err := client.Cordon(t.Context(), "edge-w-0", true); err != nil {
					t.Fatal(err)
				}
			}

			if err := nodes.Drain(t.Context(), client, "edge-w-0", nodes.Options{}); err != nil {
				t.Fatal(err)
			}

			w := nodes.Want{Machine: "edge-w-0", ProviderID: mine, InService: c.inService}

			states, err := nodes.Status(t.Context(), client, []nodes.Want{w})
			if told := len(states["edge-w-0"].Differs) > 0; err != nil || told == c.stays {
				t.Errorf("%s: %v, %v", name, err, states)
			}

			if _, err := nodes.Join(t.Context(), client, w, nil, time.Minute); err != nil || server.Cordoned("edge-w-0") != c.stays {
				t.Errorf("%s: cordoned %t, %v", name, server.Cordoned("edge-w-0"), err)
			}

			// Whoever cordons it next is not us.
			if err := client.Cordon(t.Context(), "edge-w-0", true); err != nil {
				t.Fatal(err)
			}

			if _, err := nodes.Join(t.Context(), client, w, nil, time.Minute); err != nil || !server.Cordoned("edge-w-0") {
				t.Errorf("%s: it took a person's cordon away: %v", name, err)
			}
		}
	})
}

func Test11_6_fence(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "Unknown"})
		server.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"})
		server.AddPod(kubetest.Pod{Name: "agent", Node: "edge-w-0", Owner: "DaemonSet/agent", Tolerations: []string{""}})
		server.AddPod(kubetest.Pod{Name: "kube-apiserver", Node: "edge-w-0", Mirror: true})
		server.AddPod(kubetest.Pod{Name: "job", Node: "edge-w-0", Phase: "Succeeded"})
		server.AddVolumeAttachment("csi-1", "edge-w-0")

		before := server.Taints("edge-w-0")

		time.AfterFunc(12*time.Second, func() { server.RemovePod("default", "db") }) // the controllers' work
		time.AfterFunc(22*time.Second, func() { server.Remove("volumeattachments", "", "csi-1") })

		start := time.Now()

		backup, err := nodes.Fence(t.Context(), client, "edge-w-0", time.Hour)
		if err != nil || backup.Deleted {
			t.Fatalf("got %+v, %v", backup, err)
		}

		if took := time.Since(start).Round(time.Second); took != 25*time.Second {
			t.Errorf("took %s", took)
		}

		if got := server.Taints("edge-w-0"); !slices.Equal(got, append(before, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")) {
			t.Errorf("taints are %v", got)
		}

		if len(server.Evictions()) > 0 {
			t.Error("it evicted Pods itself")
		}

		for range 2 {
			if err := nodes.Unfence(t.Context(), client, "edge-w-0", backup); err != nil {
				t.Fatal(err)
			}

			if got := server.Taints("edge-w-0"); !slices.Equal(got, before) {
				t.Errorf("taints are %v", got)
			}
		}
	})
}

func TestFence_saysWhatIsLeft(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		seed func(*kubetest.Server)
		err  string
	}{
		"a Pod that nobody ends": {func(s *kubetest.Server) { s.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"}) }, "1 Pods are left: default/db"},
		"a toleration for another taint": {func(s *kubetest.Server) {
			s.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0", Tolerations: []string{"node.kubernetes.io/unreachable"}})
		}, "default/db"},
		"a volume": {func(s *kubetest.Server) { s.AddVolumeAttachment("csi-1", "edge-w-0") }, "1 volumes are attached: csi-1"},
		"a version that nobody tells": {func(s *kubetest.Server) {
			s.OnRequest(kubetest.Fault{Path: "/version", Status: 500, Message: "broken"})
		}, "broken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server, client := strict(t)

				server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "Unknown"})
				c.seed(server)

				var timeout *wait.TimeoutError

				_, err := nodes.Fence(t.Context(), client, "edge-w-0", time.Minute)
				if !errors.As(err, &timeout) || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), "fence Node edge-w-0") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func Test11_6_fenceBeforeTheTaintExisted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.SetVersion(1, 27)
		server.AddNode(kubetest.Node{
			Name: "edge-w-0", Ready: "Unknown",
			Labels: map[string]string{"tier": "edge", "kept": "old"}, Annotations: map[string]string{"note": "a"},
		})

		backup, err := nodes.Fence(t.Context(), client, "edge-w-0", time.Hour)
		if err != nil || !backup.Deleted || backup.Labels["tier"] != "edge" || server.Object("nodes", "", "edge-w-0") != nil {
			t.Fatalf("got %+v, %v", backup, err)
		}

		time.AfterFunc(time.Minute, func() { // kubelet registers again
			server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "True", Labels: map[string]string{"kept": "new"}})
		})

		start := time.Now()

		if err := nodes.Unfence(t.Context(), client, "edge-w-0", backup); err != nil || time.Since(start) < time.Minute {
			t.Fatalf("%v after %s", err, time.Since(start))
		}

		if got := server.Labels("edge-w-0"); got["tier"] != "edge" || got["kept"] != "new" {
			t.Errorf("labels are %v", got)
		}

		if got := annotations(server); got["note"] != "a" {
			t.Errorf("annotations are %v", got)
		}
	})
}

func TestFence_aMachineThatIsNotOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		running := node("edge-w-0", "")
		running.UID = "1"

		f := newFake(running)
		f.version = kube.Version{Major: 1, Minor: 27}

		time.AfterFunc(time.Second, func() {
			running.UID = "2"
			f.add(running)
		})

		backup, err := nodes.Fence(t.Context(), f, "edge-w-0", time.Hour)
		if !errors.Is(err, nodes.ErrMismatch) || !backup.Deleted {
			t.Errorf("got %+v, %v", backup, err)
		}
	})
}

func TestFence_aNodeThatIsNotThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, client := strict(t)

		backup, err := nodes.Fence(t.Context(), client, "edge-w-0", time.Hour)
		if err != nil || backup.Deleted {
			t.Errorf("got %+v, %v", backup, err)
		}

		if err := nodes.Unfence(t.Context(), client, "edge-w-0", backup); err != nil {
			t.Error(err)
		}
	})
}

// TestOCL09_aFenceThatLostItsRunIsEnded: the run that fenced was killed, and with it what it
// remembered. The next one ends the fence all the same.
func TestOCL09_aFenceThatLostItsRunIsEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, client := strict(t)

		server.AddNode(kubetest.Node{Name: "edge-w-0", Ready: "Unknown"})
		server.AddPod(kubetest.Pod{Name: "db", Node: "edge-w-0"})

		ctx, kill := context.WithTimeout(t.Context(), time.Second)
		defer kill()

		if _, err := nodes.Fence(ctx, client, "edge-w-0", time.Hour); err == nil {
			t.Fatal("it was not killed")
		}

		if err := nodes.Unfence(t.Context(), client, "edge-w-0", nodes.Backup{}); err != nil {
			t.Fatal(err)
		}

		if got := strings.Join(server.Taints("edge-w-0"), " "); strings.Contains(got, "out-of-service") {
			t.Errorf("taints are %s", got)
		}
	})
}
