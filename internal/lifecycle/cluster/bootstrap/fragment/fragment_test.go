// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fragment_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap/fragment"
)

// part is a document of ours.
type part struct {
	Name      string    `json:"name"`
	Discovery any       `json:"discovery,omitempty"`
	SANs      []string  `json:"sans,omitempty"`
	ExtraArgs []element `json:"extraArgs,omitempty"`
}

type element struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func ours() part {
	return part{"edge", map[string]any{"pin": "a"}, []string{"a", "b"}, []element{{"v", "2"}}}
}

func TestMerge(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ theirs, list, text string }{
		"nothing":             {"", `[{"name":"v","value":"2"}]`, `{"v":"2"}`},
		"another as a map":    {"extraArgs: {a: true}", `[{"name":"v","value":"2"},{"name":"a","value":"true"}]`, `{"a":"true","v":"2"}`},
		"another as a list":   {`{"extraArgs": [{"name": "a", "value": 1.5}]}`, `[{"name":"v","value":"2"},{"name":"a","value":1.5}]`, `{"a":"1.5","v":"2"}`},
		"the same once again": {"extraArgs: {v: 2}", `[{"name":"v","value":"2"}]`, `{"v":"2"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for lists, want := range map[bool]string{true: c.list, false: c.text} {
				got, err := fragment.Merge(ours(), c.theirs, fragment.Rules{Lists: lists})
				if err != nil {
					t.Fatal(err)
				}

				if text, err := json.Marshal(got["extraArgs"]); err != nil || string(text) != want {
					t.Errorf("lists %v: got %s, want %s", lists, text, want)
				}
			}
		})
	}

	got, err := fragment.Merge(ours(), "sans: [b, c]\nother: {x: [1]}\ngone: 1", fragment.Rules{Drop: []string{"gone"}})
	if text, _ := json.Marshal(got); err != nil || string(text) !=
		`{"discovery":{"pin":"a"},"extraArgs":{"v":"2"},"name":"edge","other":{"x":[1]},"sans":["a","b","c"]}` {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestMerge_conflicts(t *testing.T) {
	t.Parallel()

	_, err := fragment.Merge(ours(), "name: s3cr3t\nsans: [1]\nextraArgs: {v: 3}\ndiscovery: {more: 1}", fragment.Rules{Lists: true, Whole: []string{"discovery"}})
	if want := "these are set by the provider: discovery, extraArgs.v, name, sans; leave them out"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	// What is not merged as ours is not lost silently either.
	_, err = fragment.Merge(ours(), "extraArgs: [{name: a, value: 1}, {name: a, value: 2}]", fragment.Rules{})
	if err == nil || !strings.Contains(err.Error(), "extraArgs") {
		t.Errorf("an argument that is there twice: %v", err)
	}
}

func FuzzMerge(f *testing.F) {
	for _, seed := range []string{
		"a: 1", `{"extraArgs": [{"name": "v", "value": "2"}]}`, "{sans: 1, extraArgs: [1, {name: 2}]}", "---\n{}", "null", "- a", "&a [*a]", "sans: null",
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		for _, lists := range []bool{true, false} {
			if got, err := fragment.Merge(ours(), text, fragment.Rules{Lists: lists}); err == nil && got["name"] != "edge" {
				t.Errorf("the name became %v", got["name"])
			}
		}
	})
}
