// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// patch changes an object by one of the three kinds of patch.
func (s *Server) patch(r *http.Request, t target, body []byte) (int, any, *problem) {
	var change object
	if err := json.Unmarshal(body, &change); err != nil || change == nil {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "error decoding patch"}
	}

	kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	old, there := s.objects[t.kind][t.key()]

	if kind == "application/apply-patch+yaml" {
		return s.apply(r.URL.Query(), t, old, change)
	}

	var lists map[string]string

	switch kind {
	case "application/merge-patch+json":
	case "application/strategic-merge-patch+json":
		lists = map[string]string{"conditions": "type", "addresses": "type", "ownerReferences": "uid"}

		if strings.Contains(string(body), `"$`) {
			return 0, nil, &problem{code: http.StatusBadRequest, message: "this double knows no directives of strategic patches"}
		}
	default:
		return 0, nil, &problem{code: http.StatusUnsupportedMediaType, message: "the body of the request was in an unknown format - accepted media types include: application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"}
	}

	if !there {
		return 0, nil, s.missing(t)
	}

	next := clone(old)
	// a precondition, if the patch has one
	delete(sub(next, "metadata"), "resourceVersion")
	delete(sub(next, "metadata"), "uid")
	merge(next, change, lists)

	return s.store(t, old, next, manager(r))
}

// merge is a JSON merge patch; lists that have a key are merged item by item.
func merge(o, change object, lists map[string]string) {
	for field, value := range change {
		switch v := value.(type) {
		case nil:
			delete(o, field)
		case object:
			inner, ok := o[field].(object)
			if !ok {
				inner = object{}
			}

			merge(inner, v, lists)
			o[field] = inner
		case []any:
			if key := lists[field]; key != "" {
				old, _ := o[field].([]any)
				value = mergeList(old, v, key, lists)
			}

			o[field] = value
		default:
			o[field] = value
		}
	}
}

func mergeList(old, change []any, key string, lists map[string]string) []any {
	out := slices.Clone(old)

	for _, item := range change {
		changed, ok := item.(object)
		if !ok {
			continue
		}

		i := slices.IndexFunc(out, func(o any) bool {
			had, _ := o.(object)

			return had[key] == changed[key]
		})
		if i < 0 {
			out = append(out, changed)

			continue
		}

		had, _ := out[i].(object)
		merge(had, changed, lists)
	}

	return out
}

// owned says who set a label or an annotation: managers by "labels/KEY". A manager that applied is "apply:NAME".
type owned map[string][]string

var ownedFields = []string{"labels", "annotations"}

func manager(r *http.Request) string {
	if name := r.URL.Query().Get("fieldManager"); name != "" {
		return name
	}

	agent, _, _ := strings.Cut(r.UserAgent(), "/")

	return agent
}

// own gives what a write changed to its manager; what it removed is nobody's.
func (s *Server) own(t target, old, next object, by string) {
	owners := s.ownersOf(t)

	for _, field := range ownedFields {
		was, is := map[string]string{}, textsOf(sub(next, "metadata")[field])
		if old != nil {
			was = textsOf(sub(old, "metadata")[field])
		}

		for key, value := range is {
			if before, had := was[key]; !had || before != value {
				owners[field+"/"+key] = []string{by}
			}
		}

		for key := range was {
			if _, has := is[key]; !has {
				delete(owners, field+"/"+key)
			}
		}
	}
}

func (s *Server) ownersOf(t target) owned {
	id := t.kind + "/" + t.key()
	if s.owners[id] == nil {
		s.owners[id] = owned{}
	}

	return s.owners[id]
}

// apply is a server-side apply of labels and annotations.
func (s *Server) apply(query url.Values, t target, old, wanted object) (int, any, *problem) {
	by, force := query.Get("fieldManager"), query.Get("force") == "true"
	meta := sub(wanted, "metadata")

	switch {
	case by == "":
		return 0, nil, &problem{code: http.StatusUnprocessableEntity, message: "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch", causes: []cause{{"FieldValueRequired", "Required value: is required for apply patch", "fieldManager"}}}
	case wanted["kind"] != kinds[t.kind].name || wanted["apiVersion"] == nil:
		return 0, nil, &problem{code: http.StatusBadRequest, message: "invalid object type"}
	case meta["name"] != nil && meta["name"] != t.name:
		return 0, nil, &problem{code: http.StatusBadRequest, message: "the name of the object does not match the name on the URL"}
	case wanted["spec"] != nil || wanted["status"] != nil:
		return 0, nil, &problem{code: http.StatusBadRequest, message: "this double applies labels and annotations only"}
	case old == nil && meta["uid"] != nil:
		return 0, nil, &problem{code: http.StatusConflict, kind: t.kind, name: t.name, message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: uid mismatch: the provided object specified uid %v, and no existing object was found", t.kind, t.name, meta["uid"])}
	case old == nil:
		return s.applyNew(t, wanted, by)
	}

	if held := s.heldByOthers(t, old, meta, by); len(held) > 0 && !force {
		word := fmt.Sprintf("Apply failed with %d conflict", len(held))

		return 0, nil, &problem{code: http.StatusConflict, kind: t.kind, name: t.name, message: word + ": " + held[0].Message + ": " + held[0].Field, causes: held}
	}

	next := clone(old)

	for _, field := range ownedFields {
		s.applyField(t, next, field, textsOf(meta[field]), "apply:"+by)
	}

	if uid := meta["uid"]; uid != nil {
		sub(next, "metadata")["uid"] = uid
	}

	return s.store(t, old, next, "")
}

// applyNew makes what is applied and not there.
func (s *Server) applyNew(t target, wanted object, by string) (int, any, *problem) {
	sub(wanted, "metadata")["name"] = t.name

	if p := s.creatable(t, wanted); p != nil {
		return 0, nil, p
	}

	s.put(t.kind, wanted)
	s.own(t, nil, wanted, "apply:"+by)

	return http.StatusCreated, s.objects[t.kind][t.key()], nil
}

// heldByOthers finds what others hold with another value.
func (s *Server) heldByOthers(t target, old, meta object, by string) []cause {
	var held []cause

	owners := s.ownersOf(t)

	for _, field := range ownedFields {
		is := textsOf(sub(old, "metadata")[field])

		for key, value := range textsOf(meta[field]) {
			before, had := is[key]
			if !had || before == value {
				continue
			}

			for _, owner := range owners[field+"/"+key] {
				if owner != "apply:"+by {
					held = append(held, cause{"FieldManagerConflict", fmt.Sprintf("conflict with %q using v1", strings.TrimPrefix(owner, "apply:")), ".metadata." + field + "." + key})
				}
			}
		}
	}

	slices.SortFunc(held, func(a, b cause) int { return strings.Compare(a.Field+a.Message, b.Field+b.Message) })

	return held
}

// applyField makes the wanted entries all those that one manager has applied.
func (s *Server) applyField(t target, next object, field string, wanted map[string]string, me string) {
	owners, entries := s.ownersOf(t), sub(sub(next, "metadata"), field)

	for key, value := range wanted {
		id := field + "/" + key
		if !reflect.DeepEqual(entries[key], value) {
			owners[id] = nil // taken from those who had another value
		}

		entries[key] = value

		if !slices.Contains(owners[id], me) {
			owners[id] = append(owners[id], me)
		}
	}

	for id, names := range owners {
		key, ours := strings.CutPrefix(id, field+"/")
		if _, still := wanted[key]; !ours || still || !slices.Contains(names, me) {
			continue
		}

		owners[id] = slices.DeleteFunc(names, func(name string) bool { return name == me })
		if len(owners[id]) == 0 {
			delete(owners, id)
			delete(entries, key)
		}
	}
}
