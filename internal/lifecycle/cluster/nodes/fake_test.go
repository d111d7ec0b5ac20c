// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// fake is a workload cluster in memory, for tests of rhythms: it is not strict, kubetest is.
type fake struct {
	nodes.Workload // what it does not play panics

	mu      sync.Mutex
	version kube.Version
	all     map[string]kube.Node
	pods    []kube.Pod
	volumes []kube.VolumeAttachment
	log     []string
	fails   map[string][]error // by call; each is given once
	evict   func(kube.Pod) error
	slow    func(ctx context.Context) // before a list is answered
}

func newFake(all ...kube.Node) *fake {
	f := &fake{version: kube.Version{Major: 1, Minor: 37}, all: map[string]kube.Node{}, fails: map[string][]error{}}
	for _, n := range all {
		f.all[n.Name] = n
	}

	return f
}

var errBroken = errors.New("the connection broke")

func transient() error { return wait.Transient(errBroken) }

// told notes a call, and fails it where a test says so.
func (f *fake) told(call string) error {
	f.log = append(f.log, call)

	if errs := f.fails[call]; len(errs) > 0 {
		f.fails[call] = errs[1:]

		return errs[0]
	}

	return nil
}

// add lets a kubelet register a Node.
func (f *fake) add(n kube.Node) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.all[n.Name] = n
}

func (f *fake) node(name string) kube.Node {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.all[name]
}

func (f *fake) count(call string) int {
	f.mu.Lock()
	defer f.mu.Unlock()

	n := 0

	for _, c := range f.log {
		if c == call {
			n++
		}
	}

	return n
}

func (f *fake) calls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.log)
}

func (f *fake) Version(context.Context) (kube.Version, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.version, f.told("version")
}

func (f *fake) Nodes(ctx context.Context) ([]kube.Node, error) {
	if f.slow != nil {
		f.slow(ctx)
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told("nodes"); err != nil {
		return nil, err
	}

	var all []kube.Node
	for _, name := range slices.Sorted(maps.Keys(f.all)) {
		all = append(all, f.all[name])
	}

	return all, nil
}

func (f *fake) Node(_ context.Context, name string) (kube.Node, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told("node " + name); err != nil {
		return kube.Node{}, err
	}

	n, ok := f.all[name]
	if !ok {
		return n, kube.ErrNotFound
	}

	return n, nil
}

// change changes a Node, as a request does.
func (f *fake) change(call, name string, edit func(*kube.Node) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told(call + " " + name); err != nil {
		return err
	}

	n, ok := f.all[name]
	if !ok {
		return kube.ErrNotFound
	}

	if err := edit(&n); err != nil {
		return err
	}

	f.all[name] = n

	return nil
}

func (f *fake) SetProviderID(_ context.Context, name, id string) error {
	return f.change("provider ID", name, func(n *kube.Node) error {
		if n.ProviderID != "" && n.ProviderID != id {
			return &kube.ProviderIDError{Node: name, Wanted: id, Err: kube.ErrInvalid}
		}

		n.ProviderID = id

		return nil
	})
}

func (f *fake) ApplyLabels(_ context.Context, name string, labels map[string]string, _ bool) error {
	return f.change("labels", name, func(n *kube.Node) error {
		n.Labels = maps.Clone(n.Labels)
		if n.Labels == nil {
			n.Labels = map[string]string{}
		}

		maps.Copy(n.Labels, labels)

		return nil
	})
}

func (f *fake) MergeMeta(_ context.Context, name string, labels, annotations map[string]*string) error {
	if len(labels)+len(annotations) == 0 {
		return nil
	}

	return f.change("meta", name, func(n *kube.Node) error {
		n.Labels, n.Annotations = merged(n.Labels, labels), merged(n.Annotations, annotations)

		return nil
	})
}

func merged(have map[string]string, set map[string]*string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, have)

	for key, value := range set {
		if value == nil {
			delete(out, key)
		} else {
			out[key] = *value
		}
	}

	return out
}

func (f *fake) ChangeTaints(_ context.Context, name string, change func([]kube.Taint) []kube.Taint) error {
	return f.change("taints", name, func(n *kube.Node) error {
		n.Taints = change(slices.Clone(n.Taints))

		return nil
	})
}

func (f *fake) Cordon(_ context.Context, name string, cordoned bool) error {
	return f.change("cordon", name, func(n *kube.Node) error {
		n.Unschedulable = cordoned

		return nil
	})
}

func (f *fake) DeleteNode(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told("delete " + name); err != nil {
		return err
	}

	delete(f.all, name)

	return nil
}

func (f *fake) PodsOn(_ context.Context, node string) ([]kube.Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told("pods on " + node); err != nil {
		return nil, err
	}

	return slices.Clone(f.pods), nil // an API server that does not honour the selector
}

func (f *fake) Pods(context.Context, string, string) ([]kube.Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.pods), f.told("pods")
}

func (f *fake) EvictPod(_ context.Context, pod kube.Pod) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if err := f.told("evict " + pod.Name); err != nil {
		return err
	}

	if f.evict != nil {
		if err := f.evict(pod); err != nil {
			return err
		}
	}

	f.pods = slices.DeleteFunc(f.pods, func(p kube.Pod) bool { return p.Name == pod.Name })

	return nil
}

func (f *fake) VolumeAttachments(context.Context) ([]kube.VolumeAttachment, error) {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.volumes), f.told("volumes")
}

func (f *fake) setVolumes(v ...kube.VolumeAttachment) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.volumes = v
}
