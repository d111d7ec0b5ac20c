// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Node is a Node that joins by itself, as its kubelet registers it.
type Node struct {
	Name, ProviderID    string
	Labels, Annotations map[string]string
	Ready               string // "True", "False", "Unknown", or "" where nothing is said yet
	KubeletVersion      string // "" means v1.37.2
	BootID              string
	InternalIP          string
	Allocatable         map[string]string
}

// AddNode adds a Node with the taint that a new one has. One of that name is replaced: it has
// another uid then.
func (s *Server) AddNode(n Node) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.drop("nodes", "/"+n.Name)

	labels := entries(n.Labels)
	labels["kubernetes.io/hostname"] = n.Name

	version := n.KubeletVersion
	if version == "" {
		version = "v1.37.2"
	}

	o := object{
		"metadata": object{"name": n.Name, "labels": labels, "annotations": entries(n.Annotations)},
		"spec":     object{},
		"status": object{
			"nodeInfo": object{"kubeletVersion": version, "bootID": n.BootID}, "allocatable": entries(n.Allocatable),
			"addresses": []any{object{"type": "Hostname", "address": n.Name}},
		},
	}

	if n.ProviderID != "" {
		sub(o, "spec")["providerID"] = n.ProviderID
	}

	if n.InternalIP != "" {
		status := sub(o, "status")
		status["addresses"] = []any{object{"type": "InternalIP", "address": n.InternalIP}, object{"type": "Hostname", "address": n.Name}}
	}

	addTaint(o, object{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})

	if p := valid("nodes", nil, o); p != nil {
		s.t.Errorf("kubetest: %s", p.message)
	}

	s.put("nodes", o)
	s.own(target{kind: "nodes", name: n.Name}, nil, o, "kubelet")

	if n.Ready != "" {
		s.setReady(n.Name, n.Ready)
	}
}

// SetReady sets a Node's Ready condition, and the taints that the node controller puts there for it.
func (s *Server) SetReady(name, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.setReady(name, status)
}

func (s *Server) setReady(name, status string) {
	o, ok := s.objects["nodes"]["/"+name]
	if !ok {
		s.t.Errorf("kubetest: there is no Node %q", name)

		return
	}

	s.touch(o)

	now := s.now().UTC().Format(time.RFC3339)
	sub(o, "status")["conditions"] = []any{object{"type": "Ready", "status": status, "lastHeartbeatTime": now, "lastTransitionTime": now}}

	dropTaints(o, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")

	if key := map[string]string{"False": "node.kubernetes.io/not-ready", "Unknown": "node.kubernetes.io/unreachable"}[status]; key != "" {
		addTaint(o, object{"key": key, "effect": "NoSchedule"})
		addTaint(o, object{"key": key, "effect": "NoExecute", "timeAdded": now})
	}
}

func (s *Server) touch(o object) {
	s.rev++
	sub(o, "metadata")["resourceVersion"] = strconv.Itoa(s.rev)
}

// Pod is a Pod that is there.
type Pod struct {
	Namespace   string // "" means default
	Name, Node  string
	Phase       string // "" means Running
	Labels      map[string]string
	Annotations map[string]string
	Owner       string // "DaemonSet/name"
	Mirror      bool
	NotReady    bool
	Tolerations []string // "key", "key=value" or "" (all), each with an optional ":Effect"
	Limits      map[string]string
	Claims      []string
	Lingers     int // how often it is still shown while it is being deleted: 0 means once, < 0 until RemovePod
}

// AddPod adds a Pod.
func (s *Server) AddPod(p Pod) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if p.Namespace == "" {
		p.Namespace = "default"
	}

	annotations := entries(p.Annotations)
	if p.Mirror {
		annotations["kubernetes.io/config.mirror"] = "0"
	}

	meta := object{"name": p.Name, "namespace": p.Namespace, "labels": entries(p.Labels), "annotations": annotations}
	if kind, name, ok := strings.Cut(p.Owner, "/"); ok {
		meta["ownerReferences"] = []any{object{"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true, "uid": "0"}}
	}

	phase, ready := p.Phase, "True"
	if phase == "" {
		phase = "Running"
	}

	if p.NotReady || phase != "Running" {
		ready = "False"
	}

	container := object{"name": "c", "image": "registry.example/pause", "resources": object{"limits": entries(p.Limits)}}
	o := object{
		"metadata": meta,
		"spec":     object{"nodeName": p.Node, "containers": []any{container}, "tolerations": tolerations(p.Tolerations), "resourceClaims": claims(p.Claims)},
		"status":   object{"phase": phase, "conditions": []any{object{"type": "Ready", "status": ready}}},
	}

	if bad := valid("pods", nil, o); bad != nil {
		s.t.Errorf("kubetest: %s", bad.message)
	}

	if _, ok := s.objects["namespaces"]["/"+p.Namespace]; !ok {
		s.put("namespaces", object{"metadata": object{"name": p.Namespace}})
	}

	s.drop("pods", p.Namespace+"/"+p.Name)
	s.put("pods", o)

	if p.Lingers != 0 {
		s.linger[p.Namespace+"/"+p.Name] = p.Lingers
	}
}

func tolerations(texts []string) []any {
	out := []any{}

	for _, text := range texts {
		text, effect, _ := strings.Cut(text, ":")
		key, value, equal := strings.Cut(text, "=")
		o := object{"operator": "Exists"}

		if equal {
			o = object{"operator": "Equal", "value": value}
		}

		if key != "" {
			o["key"] = key
		}

		if effect != "" {
			o["effect"] = effect
		}

		out = append(out, o)
	}

	return out
}

func claims(names []string) []any {
	out := []any{}
	for _, name := range names {
		out = append(out, object{"name": name, "resourceClaimName": name})
	}

	return out
}

// RemovePod has a Pod gone, as its kubelet says so.
func (s *Server) RemovePod(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.drop("pods", namespace+"/"+name)
}

// Block has a disruption budget refuse the next evictions of a Pod: so many, or all until
// Unblock where times is negative. RetryAfter, in seconds, is what a budget that was not looked at yet says.
func (s *Server) Block(namespace, name string, times, retryAfter int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.blocks[namespace+"/"+name] = &block{times: times, after: retryAfter, message: fmt.Sprintf("The disruption budget guard-%s needs 1 healthy pods and has 1 currently", name)}
}

// Unblock has the budget of a Pod allow its eviction.
func (s *Server) Unblock(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	delete(s.blocks, namespace+"/"+name)
}

// Add adds an object of any kind that the server keeps, by its plural name.
func (s *Server) Add(plural, namespace, name string, content map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if _, ok := kinds[plural]; !ok {
		s.t.Errorf("kubetest: knows no %s", plural)

		return
	}

	o := clone(content)
	if o == nil {
		o = object{}
	}

	meta := sub(o, "metadata")
	meta["name"] = name

	if namespace != "" {
		meta["namespace"] = namespace
	}

	s.put(plural, o)
}

// AddVolumeAttachment says that a volume is attached to a Node.
func (s *Server) AddVolumeAttachment(name, node string) {
	s.Add("volumeattachments", "", name, object{"spec": object{"nodeName": node, "attacher": "test"}, "status": object{"attached": true}})
}

// SetConfigMap has a ConfigMap with these data.
func (s *Server) SetConfigMap(namespace, name string, data map[string]string) {
	s.Add("configmaps", namespace, name, object{"data": entries(data)})
}

// Remove has an object gone, whatever it is.
func (s *Server) Remove(plural, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.drop(plural, namespace+"/"+name)
}

// SetVersion changes the release: SetVersion(1, 27).
func (s *Server) SetVersion(major, minor int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.version = [3]string{strconv.Itoa(major), strconv.Itoa(minor), fmt.Sprintf("v%d.%d.2", major, minor)}
}

// SetReadyz has /readyz say that a check fails; "" means that all pass.
func (s *Server) SetReadyz(failing string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.ready = failing
}

// ServeDevices says in which versions kinds of resource.k8s.io are served; nil means that the group is not.
func (s *Server) ServeDevices(versions map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.devices = versions
}

func entries(texts map[string]string) object {
	o := object{}
	for key, value := range texts {
		o[key] = value
	}

	return o
}

// Object returns a copy of what the server keeps, nil where it is not there.
func (s *Server) Object(plural, namespace, name string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()

	o, ok := s.objects[plural][namespace+"/"+name]
	if !ok {
		return nil
	}

	return clone(o)
}

// Labels returns the labels of a Node, nil where it is not there.
func (s *Server) Labels(node string) map[string]string {
	o := s.Object("nodes", "", node)
	if o == nil {
		return nil
	}

	return textsOf(sub(o, "metadata")["labels"])
}

// Taints returns the taints of a Node as key=value:Effect.
func (s *Server) Taints(node string) []string {
	o := s.Object("nodes", "", node)
	if o == nil {
		return nil
	}

	items, _ := sub(o, "spec")["taints"].([]any)
	texts := []string{}

	for _, item := range items {
		taint, _ := item.(object)
		text := fmt.Sprint(taint["key"])

		if value, _ := taint["value"].(string); value != "" {
			text += "=" + value
		}

		texts = append(texts, text+":"+fmt.Sprint(taint["effect"]))
	}

	return texts
}

// Cordoned says whether a Node takes no new Pods.
func (s *Server) Cordoned(node string) bool {
	yes, _ := sub(sub(object{"o": s.Object("nodes", "", node)}, "o"), "spec")["unschedulable"].(bool)

	return yes
}

// HasPod says whether a Pod is there.
func (s *Server) HasPod(namespace, name string) bool { return s.Object("pods", namespace, name) != nil }

// Evictions are the Pods whose eviction was asked for, as namespace/name, in order.
func (s *Server) Evictions() []string {
	var names []string

	for _, r := range s.Requests() {
		rest, ok := strings.CutPrefix(r.Path, "/api/v1/namespaces/")
		if pod, eviction := strings.CutSuffix(rest, "/eviction"); ok && eviction && r.Method == http.MethodPost {
			names = append(names, strings.Replace(pod, "/pods/", "/", 1))
		}
	}

	return names
}
