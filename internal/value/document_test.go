// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func TestDocument_meaning(t *testing.T) {
	t.Parallel()

	const doc = `{"links":[{"id":"eth0","mtu":1500}],"networks":[],"services":[]}`

	for name, c := range map[string]struct {
		text string
		same bool
	}{
		"order and spacing do not count": {"{\n \"services\": [], \"networks\": [],\n \"links\": [{\"mtu\": 1500, \"id\": \"eth0\"}]}", true},
		"YAML says the same":             {"networks: []\nservices: []\nlinks:\n- id: eth0\n  mtu: 1500\n", true},
		"another number differs":         {strings.ReplaceAll(doc, "1500", "9000"), false},
		"a missing key differs":          {`{"links":[{"id":"eth0","mtu":1500}],"networks":[]}`, false},
		"a number is no string":          {strings.ReplaceAll(doc, "1500", `"1500"`), false},
		"no document differs":            {"[", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			same, diags := value.NewDocument(doc).StringSemanticEquals(t.Context(), value.NewDocument(c.text))
			if same != c.same || diags.HasError() {
				t.Errorf("same = %v, want %v (%v)", same, c.same, diags)
			}
		})
	}
}

func TestDocument_refusals(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ text, says string }{
		"a list":                   {"- a\n- b\n", "a list"},
		"a string":                 {"hello", "a string"},
		"a number":                 {"42", "a single value"},
		"nothing":                  {"", "empty"},
		"no document":              {"a: [", "neither JSON nor YAML"},
		"a key that comes twice":   {"a: 1\na: 2\n", "already set"},
		"a secret in a broken one": {"password: S3cret\n  x: y: z", "neither JSON nor YAML"},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			_, err := value.NewDocument(c.text).Object()
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("error %v, want one that says %q", err, c.says)
			}

			if strings.Contains(err.Error(), "S3cret") {
				t.Errorf("the error shows the document: %v", err)
			}
		})
	}
}

func TestDocument_object(t *testing.T) {
	t.Parallel()

	object, err := value.NewDocument("links: []\n").Object()
	if _, ok := object["links"]; err != nil || !ok {
		t.Errorf("got %v, %v", object, err)
	}

	if object, err := value.NullDocument().Object(); object != nil || err != nil {
		t.Errorf("the absent document is %v, %v", object, err)
	}
}
