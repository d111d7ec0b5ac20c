// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

// Operation is one line of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Operations reads a JSON patch for an object with these fields.
func (c *Call) Operations(fields []string) ([]Operation, error) {
	var raw any
	if err := json.Unmarshal(c.Body, &raw); err != nil {
		return nil, fault.Refuse(http.StatusInternalServerError, "Expecting value: %s", err)
	}

	list, ok := raw.([]any)
	if !ok {
		return nil, fault.Invalid("Schema error for patch: %s is not of type 'array'", c.Body)
	}

	ops := make([]Operation, 0, len(list))

	for _, v := range list {
		m, _ := v.(map[string]any)
		op := Operation{Op: record.Text(m, "op"), Path: record.Text(m, "path"), Value: m["value"]}

		switch {
		case m["path"] == nil:
			return nil, fault.Invalid("Schema error for patch: 'path' is a required property")
		case !slices.Contains([]string{"add", "replace", "remove"}, op.Op):
			return nil, fault.Invalid("Schema error for patch: '%s' is not one of ['add', 'replace', 'remove']", op.Op)
		}

		field, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "/")
		if !slices.Contains(fields, field) {
			return nil, fault.Invalid("Cannot patch %s. Only the following can be updated: %s", op.Path, strings.Join(fields, ", "))
		}

		if version.FieldSince[field] > c.Minor {
			return nil, fault.NotAcceptable()
		}

		ops = append(ops, op)
	}

	return ops, nil
}

// Apply changes a document. "add" replaces what is there.
func (o Operation) Apply(doc map[string]any) error {
	parts := strings.Split(strings.TrimPrefix(o.Path, "/"), "/")
	for i, p := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(p)
	}

	fail := func(verb, key string) error {
		shown := fmt.Sprintf("{'op': '%s', 'path': '%s'}", o.Op, o.Path)
		if o.Op != "remove" {
			shown = fmt.Sprintf("{'op': '%s', 'path': '%s', 'value': %v}", o.Op, o.Path, o.Value)
		}

		return fault.Invalid("Couldn't apply patch '%s'. Reason: can't %s a non-existent object '%s'", shown, verb, key)
	}

	for len(parts) > 1 {
		next, ok := doc[parts[0]].(map[string]any)
		if !ok {
			return fail(o.Op, parts[0])
		}

		doc, parts = next, parts[1:]
	}

	if _, ok := doc[parts[0]]; !ok && o.Op != "add" {
		return fail(o.Op, parts[0])
	}

	if o.Op == "remove" {
		delete(doc, parts[0])
	} else {
		doc[parts[0]] = o.Value
	}

	return nil
}
