// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// list answers a page of a collection.
func (s *Server) list(r *http.Request, t target) (int, any, *problem) {
	query := r.URL.Query()

	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "unable to parse requirement: " + err.Error()}
	}

	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return 0, nil, &problem{code: http.StatusBadRequest, message: err.Error()}
	}

	for _, requirement := range byField.Requirements() {
		if !slices.Contains(selectable[t.kind], requirement.Field) && requirement.Field != "metadata.name" {
			return 0, nil, &problem{code: http.StatusBadRequest, message: fmt.Sprintf("field label not supported: %s", requirement.Field)}
		}
	}

	var items []object

	for _, key := range slices.Sorted(maps.Keys(s.objects[t.kind])) {
		o := s.objects[t.kind][key]
		if t.namespace != "" && !strings.HasPrefix(key, t.namespace+"/") {
			continue
		}

		if byLabel.Matches(labels.Set(textsOf(sub(o, "metadata")["labels"]))) && byField.Matches(fieldsOf(o)) {
			items = append(items, clone(o))
			s.seen(t.kind, key)
		}
	}

	from, _ := strconv.Atoi(query.Get("continue"))
	from = min(max(from, 0), len(items))
	meta := object{"resourceVersion": strconv.Itoa(s.rev)}
	page := items[from:]

	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && len(page) > limit {
		page = page[:limit]
		meta["continue"] = strconv.Itoa(from + limit)
	}

	if page == nil {
		page = []object{}
	}

	return http.StatusOK, object{"kind": kinds[t.kind].name + "List", "metadata": meta, "items": page}, nil
}

var selectable = map[string][]string{
	"nodes":          {"spec.unschedulable"},
	"pods":           {"spec.nodeName", "status.phase", "metadata.namespace"},
	"secrets":        {"type", "metadata.namespace"},
	"resourceslices": {"spec.nodeName", "spec.driver"},
}

func fieldsOf(o object) fields.Set {
	spec, status, meta := sub(clone(o), "spec"), sub(clone(o), "status"), sub(o, "metadata")
	text := func(value any) string {
		if value == nil {
			return ""
		}

		return fmt.Sprint(value)
	}

	return fields.Set{
		"metadata.name": text(meta["name"]), "metadata.namespace": text(meta["namespace"]), "type": text(o["type"]),
		"spec.nodeName": text(spec["nodeName"]), "spec.driver": text(spec["driver"]), "status.phase": text(status["phase"]),
		"spec.unschedulable": cmp.Or(text(spec["unschedulable"]), "false"),
	}
}

func textsOf(value any) map[string]string {
	inner, _ := value.(object)
	texts := map[string]string{}

	for key, value := range inner {
		texts[key], _ = value.(string)
	}

	return texts
}

// remove deletes an object. A Pod that runs on a Node is only marked: its kubelet ends it.
func (s *Server) remove(t target, body []byte) (int, any, *problem) {
	o, ok := s.objects[t.kind][t.key()]
	if !ok {
		return 0, nil, s.missing(t)
	}

	var options struct {
		GracePeriodSeconds *int64
		Preconditions      struct{ UID string }
	}

	_ = json.Unmarshal(body, &options)

	if uid := options.Preconditions.UID; uid != "" && uid != sub(o, "metadata")["uid"] {
		return 0, nil, &problem{
			code: http.StatusConflict, kind: t.kind, name: t.name,
			message: fmt.Sprintf("Operation cannot be fulfilled on %s %q: the UID in the precondition (%s) does not match the UID in record (%v). The object might have been deleted and then recreated", t.kind, t.name, uid, sub(o, "metadata")["uid"]),
		}
	}

	now := options.GracePeriodSeconds != nil && *options.GracePeriodSeconds == 0
	if t.kind == "pods" && !now && runs(o) {
		s.markDeleted(t, o)

		return http.StatusOK, s.objects[t.kind][t.key()], nil
	}

	s.drop(t.kind, t.key())

	return http.StatusOK, object{"kind": "Status", "apiVersion": "v1", "status": "Success", "details": object{"name": t.name, "kind": t.kind}}, nil
}

// runs says whether a kubelet has something to end.
func runs(pod object) bool {
	phase, _ := sub(pod, "status")["phase"].(string)
	node, _ := sub(pod, "spec")["nodeName"].(string)

	return node != "" && phase != "Succeeded" && phase != "Failed"
}

func (s *Server) markDeleted(t target, pod object) {
	meta := sub(pod, "metadata")
	if meta["deletionTimestamp"] != nil {
		return
	}

	s.rev++
	meta["deletionTimestamp"] = s.now().UTC().Format(time.RFC3339)
	meta["resourceVersion"] = strconv.Itoa(s.rev)

	if _, ok := s.linger[t.key()]; !ok {
		s.linger[t.key()] = 1
	}
}

// seen counts how often a Pod that is being deleted was shown, and lets its kubelet end it.
func (s *Server) seen(plural, key string) {
	if plural != "pods" || sub(s.objects[plural][key], "metadata")["deletionTimestamp"] == nil || s.linger[key] < 0 {
		return
	}

	if s.linger[key]--; s.linger[key] <= 0 {
		// gone after this answer, which has its copy
		s.drop(plural, key)
	}
}

func (s *Server) drop(plural, key string) {
	s.rev++
	delete(s.objects[plural], key)
	delete(s.owners, plural+"/"+key)

	if plural == "pods" {
		delete(s.linger, key)
		delete(s.blocks, key)
	}
}

// block is a disruption budget's answer.
type block struct {
	times   int // < 0 means for ever
	after   int
	message string
}

// evict answers an eviction.
func (s *Server) evict(t target, body []byte) (int, any, *problem) {
	var eviction struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
		DeleteOptions    json.RawMessage
	}

	if err := json.Unmarshal(body, &eviction); err != nil || eviction.Kind != "Eviction" || eviction.APIVersion != "policy/v1" {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "no kind \"Eviction\" is registered for this version"}
	}

	if eviction.Metadata.Name != t.name {
		return 0, nil, &problem{code: http.StatusBadRequest, message: "name in URL does not match name in Eviction object"}
	}

	pod, ok := s.objects["pods"][t.key()]
	if !ok {
		return 0, nil, s.missing(t)
	}

	b := s.blocks[t.key()]
	if b != nil && b.times != 0 && runs(pod) && sub(pod, "status")["phase"] != "Pending" && sub(pod, "metadata")["deletionTimestamp"] == nil {
		if b.times > 0 {
			b.times--
		}

		return 0, nil, &problem{
			code: http.StatusTooManyRequests, after: b.after, message: "Cannot evict pod as it would violate the pod's disruption budget.",
			causes: []cause{{Reason: "DisruptionBudget", Message: b.message}},
		}
	}

	t.sub = ""

	if _, _, p := s.remove(t, eviction.DeleteOptions); p != nil {
		return 0, nil, p
	}

	return http.StatusCreated, object{"kind": "Status", "apiVersion": "v1", "metadata": object{}, "status": "Success", "code": http.StatusCreated}, nil
}
