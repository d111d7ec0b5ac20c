// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// proposed merges prior state and configuration as Terraform does before it asks a provider
// for a plan: the configuration decides, and what it leaves out stays where it is computed.
func proposed(s *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	if config.IsNull() {
		return config
	}

	return merge(config.Type(), s.Block.Attributes, prior, config)
}

func merge(kind tftypes.Type, attributes []*tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	have, want := members(prior), members(config)
	out := map[string]tftypes.Value{}

	for _, a := range attributes {
		c := want[a.Name]
		p, ok := have[a.Name]

		if !ok {
			p = tftypes.NewValue(c.Type(), nil)
		}

		switch {
		case a.Computed && c.IsNull() && (!a.Optional || !configured(a, p)):
			out[a.Name] = p
		case a.NestedType != nil && c.IsKnown() && !c.IsNull():
			out[a.Name] = mergeNested(a, p, c)
		default:
			out[a.Name] = c
		}
	}

	return tftypes.NewValue(kind, out)
}

func mergeNested(a *tfprotov6.SchemaAttribute, prior, config tftypes.Value) tftypes.Value {
	switch a.NestedType.Nesting {
	case tfprotov6.SchemaObjectNestingModeSingle:
		return merge(config.Type(), a.NestedType.Attributes, prior, config)
	case tfprotov6.SchemaObjectNestingModeList:
		have, want := elements(prior), elements(config)
		for i := range want {
			p := tftypes.NewValue(want[i].Type(), nil)
			if i < len(have) {
				p = have[i]
			}

			if want[i].IsKnown() && !want[i].IsNull() {
				want[i] = merge(want[i].Type(), a.NestedType.Attributes, p, want[i])
			}
		}

		return tftypes.NewValue(config.Type(), want)
	case tfprotov6.SchemaObjectNestingModeMap:
		have, want := members(prior), members(config)
		for key, c := range want {
			p, ok := have[key]
			if !ok {
				p = tftypes.NewValue(c.Type(), nil)
			}

			if c.IsKnown() && !c.IsNull() {
				want[key] = merge(c.Type(), a.NestedType.Attributes, p, c)
			}
		}

		return tftypes.NewValue(config.Type(), want)
	default:
		return config
	}
}

// configured reports whether a prior value must have come from a configuration, because it
// holds something that a provider cannot compute. Terraform then does not keep it.
func configured(a *tfprotov6.SchemaAttribute, prior tftypes.Value) bool {
	if a.NestedType == nil || prior.IsNull() || !prior.IsKnown() {
		return false
	}

	all := []tftypes.Value{prior}
	switch a.NestedType.Nesting {
	case tfprotov6.SchemaObjectNestingModeSingle:
	case tfprotov6.SchemaObjectNestingModeMap:
		all = slices.Collect(maps.Values(members(prior)))
	default:
		all = elements(prior)
	}

	for _, one := range all {
		inner := members(one)
		for _, n := range a.NestedType.Attributes {
			if !n.Computed && !inner[n.Name].IsNull() || configured(n, inner[n.Name]) {
				return true
			}
		}
	}

	return false
}

func members(v tftypes.Value) map[string]tftypes.Value {
	var m map[string]tftypes.Value

	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&m)
	}

	return m
}

func elements(v tftypes.Value) []tftypes.Value {
	var l []tftypes.Value

	if v.IsKnown() && !v.IsNull() {
		_ = v.As(&l)
	}

	return l
}

// checkPlan holds a plan to Terraform's rules: what is configured is planned as configured
// or as it was, nothing else than computed values is planned otherwise, no write-only value
// is planned at all.
func checkPlan(s *tfprotov6.Schema, prior, config, planned tftypes.Value) []string {
	if config.IsNull() || planned.IsNull() {
		return nil
	}

	return checkAttributes("", s.Block.Attributes, prior, config, planned)
}

func checkAttributes(at string, attributes []*tfprotov6.SchemaAttribute, prior, config, planned tftypes.Value) []string {
	have, want, plan := members(prior), members(config), members(planned)

	var out []string

	for _, a := range attributes {
		c, n := want[a.Name], plan[a.Name]

		p, ok := have[a.Name]
		if !ok {
			p = tftypes.NewValue(c.Type(), nil)
		}

		switch {
		case a.WriteOnly:
			if !n.IsNull() {
				out = append(out, at+a.Name+": a write-only value is planned")
			}
		case n.Equal(c), !c.IsNull() && n.Equal(p), c.IsNull() && a.Computed:
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle && !c.IsNull() && c.IsKnown():
			out = append(out, checkAttributes(at+a.Name+".", a.NestedType.Attributes, p, c, n)...)
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeList && len(elements(c)) == len(elements(n)):
			for i, one := range elements(c) {
				out = append(out, checkAttributes(fmt.Sprintf("%s%s[%d].", at, a.Name, i), a.NestedType.Attributes, nth(p, i, one), one, elements(n)[i])...)
			}
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeMap && len(members(c)) == len(members(n)):
			out = append(out, checkMembers(at+a.Name, a.NestedType.Attributes, p, c, n)...)
		default:
			out = append(out, fmt.Sprintf("%s%s: configured %s, was %s, planned %s", at, a.Name, c, p, n))
		}
	}

	return out
}

// checkMembers is checkAttributes for each object of a map.
func checkMembers(at string, attributes []*tfprotov6.SchemaAttribute, prior, config, planned tftypes.Value) []string {
	var out []string

	have, plan := members(prior), members(planned)

	for key, one := range members(config) {
		was, ok := have[key]
		if !ok {
			was = tftypes.NewValue(one.Type(), nil)
		}

		out = append(out, checkAttributes(fmt.Sprintf("%s[%q].", at, key), attributes, was, one, plan[key])...)
	}

	return out
}

func nth(v tftypes.Value, i int, like tftypes.Value) tftypes.Value {
	if all := elements(v); i < len(all) {
		return all[i]
	}

	return tftypes.NewValue(like.Type(), nil)
}

// checkApply holds a result to Terraform's rule: every known planned value came true.
func checkApply(_ *tfprotov6.Schema, planned, state tftypes.Value) []string {
	var out []string

	_ = tftypes.Walk(planned, func(p *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		if !v.IsKnown() {
			return false, nil
		}

		got, _, err := tftypes.WalkAttributePath(state, p)
		now, ok := got.(tftypes.Value)

		switch {
		case err != nil || !ok:
			out = append(out, fmt.Sprintf("%s: planned %s, and it is not there", p, v))

			return false, nil //nolint:nilerr // what is missing is what was looked for
		case now.Equal(v):
			return false, nil
		case size(v) == 0 || size(v) != size(now):
			out = append(out, fmt.Sprintf("%s: planned %s, got %s", p, v, now))

			return false, nil
		default:
			return true, nil
		}
	})

	return slices.Compact(out)
}

// size is how much is in a collection or object; zero for all else.
func size(v tftypes.Value) int { return max(len(members(v)), len(elements(v))) }

func unknowns(v tftypes.Value) []string {
	var out []string

	_ = tftypes.Walk(v, func(p *tftypes.AttributePath, one tftypes.Value) (bool, error) {
		if !one.IsKnown() {
			out = append(out, p.String())
		}

		return true, nil
	})

	return out
}
