// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// balancerModes are what the balancer may do.
var balancerModes = []string{"", "crush-compat", "upmap", "read", "upmap-read"}

// readModules reads mgr.modules: each true, false, or an object.
func readModules(v types.Dynamic) (map[string]ceph.ModuleSpec, error) {
	if v.IsNull() || v.IsUnknown() || v.IsUnderlyingValueNull() || v.IsUnderlyingValueUnknown() {
		return nil, nil //nolint:nilnil // nothing is said of any module
	}

	var all map[string]attr.Value

	switch v := v.UnderlyingValue().(type) {
	case types.Object:
		all = v.Attributes()
	case types.Map:
		all = v.Elements()
	default:
		return nil, errors.New("it must be an object, such as { prometheus = true }")
	}

	out := map[string]ceph.ModuleSpec{}

	for _, name := range sorted(all) {
		if all[name].IsNull() {
			continue
		}

		spec, err := readModule(name, all[name])
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", name, err)
		}

		out[name] = spec
	}

	return out, nil
}

func readModule(name string, v attr.Value) (ceph.ModuleSpec, error) {
	spec := ceph.ModuleSpec{Enabled: true}

	if name == "dashboard" {
		return spec, errors.New("it has an attribute of its own: dashboard")
	}

	switch v := v.(type) {
	case types.Bool:
		spec.Enabled = v.ValueBool()

		return spec, nil
	case types.String:
		if s := v.ValueString(); s == "true" || s == "false" { // of a map that mixes
			spec.Enabled = s == "true"

			return spec, nil
		}
	case types.Object:
		return readModuleObject(name, spec, v.Attributes())
	case types.Map:
		return readModuleObject(name, spec, v.Elements())
	}

	return spec, errors.New("it must be true, false, or an object with enabled and mode")
}

func readModuleObject(module string, spec ceph.ModuleSpec, all map[string]attr.Value) (ceph.ModuleSpec, error) {
	for name, v := range all {
		if v.IsNull() || v.IsUnknown() {
			continue
		}

		is, isBool := v.(types.Bool)
		text, isText := v.(types.String)

		switch {
		case name == "enabled" && isBool:
			spec.Enabled = is.ValueBool()
		case name == "enabled" && isText && (text.ValueString() == "true" || text.ValueString() == "false"):
			spec.Enabled = text.ValueString() == "true"
		case name == "mode" && isText && module == "balancer":
			if spec.Mode = text.ValueString(); !slices.Contains(balancerModes, spec.Mode) {
				return spec, fmt.Errorf("mode %q is none of crush-compat, upmap, read and upmap-read", spec.Mode)
			}
		default:
			return spec, fmt.Errorf("%s is not known here; enabled is, and mode for the balancer", name)
		}
	}

	return spec, nil
}

// modules refuses what mgr.modules cannot be.
type modules struct{}

func (modules) Description(context.Context) string {
	return "an object of modules, each true, false or an object"
}

func (m modules) MarkdownDescription(ctx context.Context) string { return m.Description(ctx) }

func (modules) ValidateDynamic(_ context.Context, req validator.DynamicRequest, resp *validator.DynamicResponse) {
	if _, err := readModules(req.ConfigValue); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid modules", value.Sentence(err))
	}
}
