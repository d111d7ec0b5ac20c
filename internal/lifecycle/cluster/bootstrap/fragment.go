// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// object is a document of a user, or ours in the same form.
type object = map[string]any

var (
	yamlLine  = regexp.MustCompile(`line ([0-9]+)`)
	yamlBreak = regexp.MustCompile(`(?m)^---\s*$`)
)

// parseFragment reads an object that a user wrote in JSON or YAML. Its errors tell lines only.
func parseFragment(text string) (object, error) {
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

	var out object
	if err := json.Unmarshal(doc, &out); err != nil || out == nil {
		return nil, errors.New("an object is meant: keys and values")
	}

	return out, nil
}

// merge joins a document of ours with what the user adds to it, but for the keys to drop. What
// is ours stays: where the user's says otherwise, the error names it.
func merge(ours any, theirs string, lists bool, drop ...string) (object, error) {
	text, err := json.Marshal(ours)
	if err != nil {
		return nil, fmt.Errorf("encode our part: %w", err)
	}

	var out object
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("decode our part: %w", err)
	}

	fragment, err := parseFragment(theirs)
	if err != nil {
		return nil, err
	}

	for _, key := range drop {
		delete(fragment, key)
	}

	arguments(out, lists)
	arguments(fragment, lists)

	if conflicts := mergeInto(out, fragment, ""); len(conflicts) > 0 {
		return nil, fmt.Errorf("these are set by the provider: %s; leave them out", strings.Join(conflicts, ", "))
	}

	return out, nil
}

// discoveryPath is where a joining machine learns whom to trust. Nothing is added there:
// unsafeSkipCAVerification would be enough to make it believe anybody.
const discoveryPath = "discovery"

// mergeInto adds theirs to ours and returns the paths at which they do not agree.
func mergeInto(ours, theirs object, path string) []string {
	var conflicts []string

	for _, key := range slices.Sorted(maps.Keys(theirs)) {
		mine, there := ours[key]
		if !there {
			ours[key] = theirs[key]

			continue
		}

		merged, found := mergeValue(mine, theirs[key], path+key)
		ours[key] = merged
		conflicts = append(conflicts, found...)
	}

	return conflicts
}

func mergeValue(mine, other any, path string) (any, []string) {
	if reflect.DeepEqual(mine, other) {
		return mine, nil
	}

	if m, ok := mine.(object); ok && path != discoveryPath {
		if o, ok := other.(object); ok {
			return m, mergeInto(m, o, path+".")
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
		case object:
			name, ok := o["name"].(string)
			if !ok {
				return mine, []string{path}
			}

			at := slices.IndexFunc(out, func(e any) bool { e1, ok := e.(object); return ok && e1["name"] == name })

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
func arguments(o object, lists bool) {
	for key, v := range o {
		inner, nested := v.(object)

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
	case object:
		if !list {
			return mapValues(v)
		}

		out := []any{}

		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, object{"name": name, "value": argumentText(v[name])})
		}

		return out
	case []any:
		if list {
			return v
		}

		out := object{}

		for _, e := range v {
			a, ok := e.(object)
			name, named := a["name"].(string)

			if _, twice := out[name]; !ok || !named || twice {
				return v // kubeadm would lose one of them; see checkFragments
			}

			out[name] = argumentText(a["value"])
		}

		return out
	default:
		return v
	}
}

func mapValues(o object) object {
	out := make(object, len(o))
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
		text, err := compact(v)
		if err != nil {
			return v
		}

		return text
	default:
		return v
	}
}
