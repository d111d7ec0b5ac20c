// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fragment adds what users write of a document to what the provider writes of it.
package fragment

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// Object is a document of a user, or ours in the same form.
type Object = map[string]any

var (
	yamlLine  = regexp.MustCompile(`line ([0-9]+)`)
	yamlBreak = regexp.MustCompile(`(?m)^---\s*$`)
)

// parse reads an object that a user wrote in JSON or YAML. Its errors tell lines only.
func parse(text string) (Object, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}

	if len(yamlBreak.FindAllString(strings.TrimPrefix(strings.TrimSpace(text), "---"), 2)) > 0 {
		return nil, errors.New("one document is meant; this holds several")
	}

	doc, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		where := ""
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			where = " at line " + m[1]
		}

		return nil, fmt.Errorf("neither JSON nor YAML%s, or a key that is there twice", where)
	}

	var out Object
	if err := json.Unmarshal(doc, &out); err != nil || out == nil {
		return nil, errors.New("an object is meant: keys and values")
	}

	return out, nil
}

// Rules say how fragments are added.
type Rules struct {
	// Lists says that extra arguments are lists of names and values; they are maps otherwise.
	Lists bool
	// Drop are keys of the user's that are left out.
	Drop []string
	// Whole are paths of ours to which nothing is added.
	Whole []string
}

// Merge joins a document of ours with what the user adds to it, in JSON or YAML. What is ours
// stays: where the user's says otherwise, the error names it. Errors hold paths and lines alone.
func Merge(ours any, theirs string, r Rules) (Object, error) {
	text, err := json.Marshal(ours)
	if err != nil {
		return nil, fmt.Errorf("encode our part: %w", err)
	}

	var out Object
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("decode our part: %w", err)
	}

	fragment, err := parse(theirs)
	if err != nil {
		return nil, err
	}

	for _, key := range r.Drop {
		delete(fragment, key)
	}

	arguments(out, r.Lists)
	arguments(fragment, r.Lists)

	if conflicts := r.into(out, fragment, ""); len(conflicts) > 0 {
		return nil, fmt.Errorf("these are set by the provider: %s; leave them out", strings.Join(conflicts, ", "))
	}

	return out, nil
}

// into adds theirs to ours and returns the paths at which they do not agree.
func (r Rules) into(ours, theirs Object, path string) []string {
	var conflicts []string

	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		mine, there := ours[key]
		if !there {
			ours[key] = theirs[key]

			continue
		}

		merged, found := r.value(mine, theirs[key], path+key)
		ours[key] = merged
		conflicts = append(conflicts, found...)
	}

	return conflicts
}

func (r Rules) value(mine, other any, path string) (any, []string) {
	if reflect.DeepEqual(mine, other) {
		return mine, nil
	}

	if m, ok := mine.(Object); ok && !slices.Contains(r.Whole, path) {
		if o, ok := other.(Object); ok {
			return m, r.into(m, o, path+".")
		}
	}

	if m, ok := mine.([]any); ok {
		if o, ok := other.([]any); ok {
			return mergeLists(m, o, path)
		}
	}

	return mine, []string{path}
}

// mergeLists joins lists of texts, and lists of arguments by their names.
func mergeLists(mine, other []any, path string) (any, []string) {
	var conflicts []string

	out := slices.Clone(mine)

	for _, o := range other {
		switch o := o.(type) {
		case string:
			if !slices.Contains(out, any(o)) {
				out = append(out, o)
			}
		case Object:
			name, ok := o["name"].(string)
			if !ok {
				return mine, []string{path}
			}

			at := slices.IndexFunc(out, func(e any) bool { e1, ok := e.(Object); return ok && e1["name"] == name })

			switch {
			case at < 0:
				out = append(out, o)
			case !reflect.DeepEqual(out[at], any(o)):
				conflicts = append(conflicts, path+"."+name)
			}
		default:
			return mine, []string{path}
		}
	}

	return out, conflicts
}

// arguments brings all extra arguments in a document into the form of the version: a list of
// names and values in v1beta4, a map before. Users may write either, so that an upgrade does
// not ask them for another.
func arguments(o Object, lists bool) {
	for key, v := range o {
		inner, nested := v.(Object)

		switch {
		case key == "extraArgs" || key == "kubeletExtraArgs":
			o[key] = argumentsAs(v, lists)
		case nested:
			arguments(inner, lists)
		}
	}
}

func argumentsAs(v any, list bool) any {
	switch v := v.(type) {
	case Object:
		if !list {
			return mapValues(v)
		}

		out := []any{}

		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, Object{"name": name, "value": argumentText(v[name])})
		}

		return out
	case []any:
		if list {
			return v
		}

		out := Object{}

		for _, e := range v {
			a, ok := e.(Object)
			name, named := a["name"].(string)

			if _, twice := out[name]; !ok || !named || twice {
				return v // a map would lose one of them
			}

			out[name] = argumentText(a["value"])
		}

		return out
	default:
		return v
	}
}

func mapValues(o Object) Object {
	out := make(Object, len(o))
	for name, v := range o {
		out[name] = argumentText(v)
	}

	return out
}

// argumentText writes numbers and truth values as kubeadm wants them: as texts.
func argumentText(v any) any {
	switch v := v.(type) {
	case bool:
		return fmt.Sprint(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return v
	}
}
