// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// places are options that a configuration gives elsewhere, and that would have no effect here.
var places = map[string]string{
	"crush_location": "hosts[*].crush_location", "osd_crush_chooseleaf_type": "pool_defaults.failure_domain", "key": "data_dir", "keyfile": "data_dir",
}

// checkWho refuses what is nobody whom an option could be for.
var checkWho = matches("global, a type of daemon, a daemon such as osd.3, or client, with a mask such as osd/class:ssd behind it",
	`(global|mon|mgr|osd|mds|client)(\.[A-Za-z0-9._@-]+)?(/(class|host|rack|row|root|datacenter|room|region|zone):[A-Za-z0-9._-]+)*`)

// config reads the options as they go to Ceph: by whom, and by the one spelling of their names.
func config(m types.Map) map[string]map[string]string {
	out := map[string]map[string]string{}

	if !value.Known(m) {
		return out
	}

	for who, v := range m.Elements() {
		inner, ok := v.(types.Map)
		if !ok || !value.Known(inner) {
			continue
		}

		section := map[string]string{}
		for name, text := range value.GoMap(inner) {
			section[conf.Key(strings.ToLower(name))] = conf.Value(text)
		}

		out[strings.TrimSpace(who)] = section
	}

	return out
}

// options refuses options that are not the user's to set, and those that stand twice.
type options struct{}

func (options) Description(context.Context) string {
	return "options of Ceph by whom they are for, without those that other attributes decide"
}

func (o options) MarkdownDescription(ctx context.Context) string { return o.Description(ctx) }

func (options) ValidateMap(_ context.Context, req validator.MapRequest, resp *validator.MapResponse) {
	if !value.Known(req.ConfigValue) {
		return
	}

	sections := map[string]types.Map{}

	for who, v := range req.ConfigValue.Elements() {
		if err := checkWho(who); err != nil {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(who), "Invalid section of config", value.Sentence(err))
		}

		if inner, ok := v.(types.Map); ok && value.Known(inner) {
			sections[who] = inner
		} else if v.IsNull() {
			resp.Diagnostics.AddAttributeError(req.Path.AtMapKey(who), "Empty section of config", "Leave "+who+" out, or give it options.")
		}
	}

	for who, inner := range sections {
		validateOptions(inner, req, who, resp)
	}
}

func validateOptions(inner types.Map, req validator.MapRequest, who string, resp *validator.MapResponse) {
	first := map[string]string{}

	for _, name := range slices.Sorted(maps.Keys(inner.Elements())) {
		at, one := req.Path.AtMapKey(who).AtMapKey(name), conf.Key(strings.ToLower(name))

		if conf.Managed(one) || places[one] != "" {
			resp.Diagnostics.AddAttributeError(at, "Option "+one+" is not free", "The provider sets it itself, from "+cmp.Or(places[one], "name, hosts, network and data_dir")+".")
		}

		if one == "" || strings.ContainsAny(name, "=#;[]\n\r") {
			resp.Diagnostics.AddAttributeError(at, "Invalid option", fmt.Sprintf("%q is no name of an option.", name))
		}

		if before, twice := first[one]; twice {
			resp.Diagnostics.AddAttributeError(at, "Option "+one+" is set twice", fmt.Sprintf("%q and %q are the same option of %s.", before, name, who))
		}

		first[one] = name

		v := inner.Elements()[name]
		if s, ok := v.(types.String); ok && value.Known(s) && strings.ContainsAny(strings.TrimSpace(s.ValueString()), "\n\r\x00") {
			resp.Diagnostics.AddAttributeError(at, "Invalid value of "+one, "A value is one line.")
		}

		if v.IsNull() {
			resp.Diagnostics.AddAttributeError(at, "Option "+one+" has no value", "Leave the option out, or give it a value.")
		}
	}
}

// sameOptions plans the spelling in the state where the configuration means the same.
type sameOptions struct{}

func (sameOptions) Description(context.Context) string {
	return "another spelling of the same options is no change"
}

func (s sameOptions) MarkdownDescription(ctx context.Context) string { return s.Description(ctx) }

func (sameOptions) PlanModifyMap(_ context.Context, req planmodifier.MapRequest, resp *planmodifier.MapResponse) {
	if value.Known(req.StateValue) && value.Known(req.PlanValue) && !value.HasUnknown(req.PlanValue) && sameConfig(config(req.StateValue), config(req.PlanValue)) {
		resp.PlanValue = req.StateValue
	}
}

func sameConfig(a, b map[string]map[string]string) bool {
	return maps.EqualFunc(a, b, func(x, y map[string]string) bool { return maps.Equal(x, y) })
}
