// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// kind is a kind that the server keeps.
type kind struct {
	name       string // Node
	prefix     string // /api/v1
	namespaced bool
}

var kinds = map[string]kind{
	"nodes":                {"Node", "/api/v1", false},
	"namespaces":           {"Namespace", "/api/v1", false},
	"pods":                 {"Pod", "/api/v1", true},
	"configmaps":           {"ConfigMap", "/api/v1", true},
	"secrets":              {"Secret", "/api/v1", true},
	"daemonsets":           {"DaemonSet", "/apis/apps/v1", true},
	"volumeattachments":    {"VolumeAttachment", "/apis/storage.k8s.io/v1", false},
	"resourceslices":       {"ResourceSlice", "/apis/resource.k8s.io/", false},
	"resourceclaims":       {"ResourceClaim", "/apis/resource.k8s.io/", true},
	"devicetaintrules":     {"DeviceTaintRule", "/apis/resource.k8s.io/", false},
	"serviceaccounts":      {"ServiceAccount", "/api/v1", true},
	"poddisruptionbudgets": {"PodDisruptionBudget", "/apis/policy/v1", true},
}

// target is what a path names.
type target struct {
	kind                 string
	namespace, name, sub string
}

func (t target) key() string { return t.namespace + "/" + t.name }

// target reads a path. The server's lock is held.
func (s *Server) target(path string) (target, bool) {
	for plural, k := range kinds {
		prefix := k.prefix
		if strings.HasSuffix(prefix, "/") {
			prefix += s.devices[plural]
		}

		rest, ok := strings.CutPrefix(path, prefix+"/")
		if !ok || (strings.HasSuffix(prefix, "/") && s.devices[plural] == "") {
			continue
		}

		if t, ok := targetIn(plural, k.namespaced, strings.Split(rest, "/")); ok {
			return t, true
		}
	}

	return target{}, false
}

func targetIn(plural string, namespaced bool, parts []string) (target, bool) {
	t := target{kind: plural}

	if namespaced && len(parts) > 2 && parts[0] == "namespaces" {
		t.namespace, parts = parts[1], parts[2:]
	}

	if parts[0] != plural || len(parts) > 3 || (namespaced && t.namespace == "" && len(parts) > 1) {
		return t, false
	}

	if len(parts) > 1 {
		t.name = parts[1]
	}

	if len(parts) > 2 {
		t.sub = parts[2]
	}

	known := t.sub == "" || (t.sub == "status" && (plural == "nodes" || plural == "pods" || plural == "poddisruptionbudgets" || plural == "resourceclaims")) || (t.sub == "eviction" && plural == "pods")

	return t, known
}

// act does what a request asks for. The server's lock is held.
func (s *Server) act(r *http.Request, t target, body []byte) (int, any, *problem) {
	switch {
	case r.Method == http.MethodGet && t.name == "":
		return s.list(r, t)
	case r.Method == http.MethodGet:
		return s.get(t)
	case r.Method == http.MethodPost && t.sub == "eviction":
		return s.evict(t, body)
	case r.Method == http.MethodPost && t.name == "":
		return s.create(r, t, body)
	case r.Method == http.MethodPut && t.name != "":
		return s.update(r, t, body)
	case r.Method == http.MethodPatch && t.name != "":
		return s.patch(r, t, body)
	case r.Method == http.MethodDelete && t.name != "" && t.sub == "":
		return s.remove(t, body)
	default:
		return 0, nil, &problem{code: http.StatusMethodNotAllowed, message: "the server does not allow this method on the requested resource"}
	}
}

func (s *Server) missing(t target) *problem {
	return &problem{code: http.StatusNotFound, kind: t.kind, name: t.name, message: fmt.Sprintf("%s %q not found", t.kind, t.name)}
}

func (s *Server) get(t target) (int, any, *problem) {
	o, ok := s.objects[t.kind][t.key()]
	if !ok {
		return 0, nil, s.missing(t)
	}

	s.seen(t.kind, t.key())

	return http.StatusOK, o, nil
}

func (s *Server) create(r *http.Request, t target, body []byte) (int, any, *problem) {
	var o object
	if err := json.Unmarshal(body, &o); err != nil || o == nil {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "the object provided is unrecognized"}
	}

	meta := sub(o, "metadata")
	t.name, _ = meta["name"].(string)

	if namespace, _ := meta["namespace"].(string); kinds[t.kind].namespaced && namespace != "" && namespace != t.namespace {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "the namespace of the provided object does not match the namespace sent on the request"}
	}

	if p := s.creatable(t, o); p != nil {
		return 0, nil, p
	}

	if kinds[t.kind].namespaced {
		meta["namespace"] = t.namespace
	}

	delete(o, "status") // only through its own path

	switch t.kind {
	case "pods":
		o["status"] = object{"phase": "Pending"}
	case "nodes":
		// what the admission of a real one does
		addTaint(o, object{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
	}

	s.put(t.kind, o)
	s.own(t, nil, o, manager(r))

	return http.StatusCreated, o, nil
}

// creatable refuses what cannot be made.
func (s *Server) creatable(t target, o object) *problem {
	if want := kinds[t.kind].name; o["kind"] != nil && o["kind"] != want {
		return &problem{code: http.StatusBadRequest, message: fmt.Sprintf("%v in version %v cannot be handled as a %s", o["kind"], o["apiVersion"], want)}
	}

	if kinds[t.kind].namespaced {
		if _, ok := s.objects["namespaces"]["/"+t.namespace]; !ok {
			return &problem{code: http.StatusNotFound, kind: "namespaces", name: t.namespace, message: fmt.Sprintf("namespaces %q not found", t.namespace)}
		}
	}

	if p := valid(t.kind, nil, o); p != nil {
		return p
	}

	if _, there := s.objects[t.kind][t.key()]; there {
		return &problem{code: http.StatusConflict, reason: "AlreadyExists", kind: t.kind, name: t.name, message: fmt.Sprintf("%s %q already exists", t.kind, t.name)}
	}

	return nil
}

func (s *Server) update(r *http.Request, t target, body []byte) (int, any, *problem) {
	old, ok := s.objects[t.kind][t.key()]
	if !ok {
		return 0, nil, s.missing(t)
	}

	var o object
	if err := json.Unmarshal(body, &o); err != nil || o == nil {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "the object provided is unrecognized"}
	}

	return s.store(t, old, o, manager(r))
}

// store replaces an object by its next version, as far as the path allows it.
func (s *Server) store(t target, old, next object, by string) (int, any, *problem) {
	was, is := sub(old, "metadata"), sub(next, "metadata")

	if version, ok := is["resourceVersion"]; ok && version != "" && version != was["resourceVersion"] {
		return 0, nil, &problem{
			code: http.StatusConflict, kind: t.kind, name: t.name,
			message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: the object has been modified; please apply your changes to the latest version and try again", t.kind, t.name),
		}
	}

	if uid, ok := is["uid"]; ok && uid != was["uid"] {
		text := fmt.Sprintf("Invalid value: %q: field is immutable", uid)

		return 0, nil, &problem{
			code: http.StatusUnprocessableEntity, kind: kinds[t.kind].name, name: t.name,
			message: fmt.Sprintf("%s %q is invalid: metadata.uid: %s", kinds[t.kind].name, t.name, text),
			causes:  []cause{{"FieldValueInvalid", text, "metadata.uid"}},
		}
	}

	// what belongs to the other path is ignored without a word
	if t.sub == "status" {
		status := next["status"]
		next = clone(old)
		next["status"] = status
	} else if _, ok := old["status"]; ok {
		next["status"] = old["status"]
	} else if t.kind == "nodes" || t.kind == "pods" {
		delete(next, "status")
	}

	meta := sub(next, "metadata")
	for _, field := range []string{"name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp"} {
		if value, ok := was[field]; ok {
			meta[field] = value
		} else {
			delete(meta, field)
		}
	}

	next["apiVersion"], next["kind"] = old["apiVersion"], old["kind"]

	if p := valid(t.kind, old, next); p != nil {
		return 0, nil, p
	}

	if by != "" {
		s.own(t, old, next, by)
	}

	if !reflect.DeepEqual(clone(old), clone(next)) {
		s.rev++
		meta["resourceVersion"] = strconv.Itoa(s.rev)
	}

	s.objects[t.kind][t.key()] = clone(next)

	return http.StatusOK, s.objects[t.kind][t.key()], nil
}

// put keeps a new object and gives it what every object has. The server's lock is held, or nobody else knows it yet.
func (s *Server) put(plural string, o object) {
	s.rev++

	k, meta := kinds[plural], sub(o, "metadata")
	meta["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", s.rev)
	meta["resourceVersion"] = strconv.Itoa(s.rev)
	meta["creationTimestamp"] = s.now().UTC().Format(time.RFC3339)

	version := strings.TrimPrefix(strings.TrimPrefix(k.prefix, "/apis/"), "/api/")
	if strings.HasSuffix(version, "/") {
		version += s.devices[plural]
	}

	o["apiVersion"], o["kind"] = version, k.name

	if s.objects[plural] == nil {
		s.objects[plural] = map[string]object{}
	}

	namespace, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	s.objects[plural][namespace+"/"+name] = clone(o)
}

// sub returns an object's field that is an object, and makes it where it is missing.
func sub(o object, field string) object {
	inner, ok := o[field].(object)
	if !ok {
		inner = object{}
		o[field] = inner
	}

	return inner
}

func clone(o object) object {
	raw, err := json.Marshal(o)
	if err != nil {
		return object{}
	}

	var c object
	_ = json.Unmarshal(raw, &c)

	return c
}
