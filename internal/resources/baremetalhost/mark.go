// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// MarkKey is the key of the mark in private state.
const MarkKey = "settled"

// Mark says that a state is settled: it was made from this very record, plans no change
// by itself, and has nothing to warn of.
type Mark struct {
	UUID string `json:"uuid"`
	Hash string `json:"record_sha256"`
}

// ReadMark decodes a mark; false where there is none.
func ReadMark(doc []byte) (Mark, bool) {
	var m Mark

	return m, len(doc) > 0 && json.Unmarshal(doc, &m) == nil && m.UUID != "" && m.Hash != ""
}

// Holds reports whether a look shows the record that the mark speaks of.
func (m Mark) Holds(seen host.Seen, endpoint string) bool {
	return seen.Node.UUID == m.UUID && seen.Hash(endpoint) == m.Hash
}

// private is where marks are kept.
type private interface {
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// mark marks a state that is settled, and takes the mark off any other.
func (r *hostResource) mark(ctx context.Context, p private, m model, seen host.Seen, endpoint string) diag.Diagnostics {
	if !r.settled(ctx, m, seen) {
		return p.SetKey(ctx, MarkKey, nil)
	}

	doc, err := json.Marshal(Mark{UUID: seen.Node.UUID, Hash: seen.Hash(endpoint)})
	if err != nil {
		return p.SetKey(ctx, MarkKey, nil)
	}

	return p.SetKey(ctx, MarkKey, doc)
}

// settled reports whether a refresh of the same record would give the same state, and
// that state as proposal an empty plan without a word.
func (r *hostResource) settled(ctx context.Context, m model, seen host.Seen) bool {
	var said diag.Diagnostics

	refreshed := m
	refreshed.drift(ctx, seen, &said)
	refreshed.remark(seen, &said)

	planned := refreshed
	planned.planUpdate(ctx, refreshed, refreshed, r.far.HostDefaults(), &said)

	return len(said) == 0 && equal(m, refreshed) && equal(planned, refreshed) && m.RefreshDepth.ValueString() != "full" && !m.Hardware.IsUnknown()
}

// writeOnly are the attributes that a proposal carries and a state never does.
var writeOnly = map[string]string{"bmc": "password_wo", "image": "pull_secret_wo", "": "user_data_wo"}

// SameProposal reports whether a proposed state is the prior one. Both are as Terraform
// encodes them: maps of values.
//
// Terraform proposes null for a computed list of objects that the configuration leaves
// out (ports), which means "as it is"; and it proposes write-only values.
func SameProposal(prior, proposed map[string]any) bool {
	if len(prior) == 0 || len(prior) != len(proposed) {
		return false
	}

	for name, before := range prior {
		after, ok := proposed[name]

		switch {
		case !ok:
			return false
		case name == writeOnly[""], name == "ports" && after == nil:
			continue
		}

		if secret := writeOnly[name]; secret != "" {
			before, after = without(before, secret), without(after, secret)
		}

		if !reflect.DeepEqual(before, after) {
			return false
		}
	}

	return true
}

func without(v any, key string) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}

	m = maps.Clone(m)
	delete(m, key)

	return m
}
