// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	fwdefaults "github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
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
// out (ports), which means "as it is"; and it proposes write-only values. Where the
// configuration leaves out what has a default, it proposes the prior value, and the
// framework would plan the default.
func SameProposal(prior, proposed, config map[string]any) bool {
	if len(prior) == 0 || len(prior) != len(proposed) || config["ports"] != nil {
		return false
	}

	for name, otherwise := range defaults() {
		if config[name] == nil && plainText(prior[name]) != otherwise {
			return false
		}
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

// defaults are the schema's defaults as texts, by attribute.
var defaults = sync.OnceValue(func() map[string]string {
	var resp resource.SchemaResponse

	ctx := context.Background() //nolint:forbidigo // nothing is asked: the schema is made once for all
	(&hostResource{}).Schema(ctx, resource.SchemaRequest{}, &resp)

	out := map[string]string{}

	for name, a := range resp.Schema.Attributes {
		switch a := a.(type) {
		case schema.StringAttribute:
			if a.Default != nil {
				var d fwdefaults.StringResponse

				a.Default.DefaultString(ctx, fwdefaults.StringRequest{}, &d)
				out[name] = d.PlanValue.ValueString()
			}
		case schema.BoolAttribute:
			if a.Default != nil {
				var d fwdefaults.BoolResponse

				a.Default.DefaultBool(ctx, fwdefaults.BoolRequest{}, &d)
				out[name] = plainText(d.PlanValue.ValueBool())
			}
		case schema.Int64Attribute:
			if a.Default != nil {
				var d fwdefaults.Int64Response

				a.Default.DefaultInt64(ctx, fwdefaults.Int64Request{}, &d)
				out[name] = plainText(d.PlanValue.ValueInt64())
			}
		case schema.SetAttribute:
			if a.Default != nil {
				var d fwdefaults.SetResponse

				a.Default.DefaultSet(ctx, fwdefaults.SetRequest{}, &d)
				out[name] = plainText(value.GoStrings(d.PlanValue))
			}
		}
	}

	return out
})

// plainText is one text for all spellings of a value: numbers of any size, sets in any order.
func plainText(v any) string {
	var all []string

	switch v := v.(type) {
	case []any:
		for _, one := range v {
			all = append(all, fmt.Sprint(one))
		}
	case []string:
		all = slices.Clone(v)
	default:
		return fmt.Sprint(v)
	}

	slices.Sort(all)

	return strings.Join(all, ",")
}
