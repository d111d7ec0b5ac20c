// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package schemavalue

import (
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
)

// ForAction makes attributes of a resource those of an action. An action has no defaults: what is left
// out is null there, and what is sensitive gets into no state. Kinds of attributes that no action has
// are left out.
func ForAction(all map[string]schema.Attribute) map[string]actionschema.Attribute {
	out := make(map[string]actionschema.Attribute, len(all))

	for name, one := range all {
		switch a := one.(type) {
		case schema.StringAttribute:
			out[name] = actionschema.StringAttribute{Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.BoolAttribute:
			out[name] = actionschema.BoolAttribute{Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.Int64Attribute:
			out[name] = actionschema.Int64Attribute{Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
		case schema.SingleNestedAttribute:
			out[name] = actionschema.SingleNestedAttribute{
				Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators, Attributes: ForAction(a.Attributes),
			}
		}
	}

	return out
}

// ForDataSource makes attributes of a resource those of a data source. A data source has no defaults:
// what is left out is null there. Kinds of attributes that none has are left out.
func ForDataSource(all map[string]schema.Attribute) map[string]dataschema.Attribute {
	out := make(map[string]dataschema.Attribute, len(all))
	for name, one := range all {
		if a := forDataSource(one); a != nil {
			out[name] = a
		}
	}

	return out
}

func forDataSource(one schema.Attribute) dataschema.Attribute {
	computed := one.IsComputed() && !one.IsOptional() // the rest of them has a default

	switch a := one.(type) {
	case schema.StringAttribute:
		return dataschema.StringAttribute{
			Required: a.Required, Optional: a.Optional, Computed: computed, Sensitive: a.Sensitive, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
		}
	case schema.BoolAttribute:
		return dataschema.BoolAttribute{Required: a.Required, Optional: a.Optional, Computed: computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.Int64Attribute:
		return dataschema.Int64Attribute{Required: a.Required, Optional: a.Optional, Computed: computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case schema.ListAttribute:
		return dataschema.ListAttribute{
			Required: a.Required, Optional: a.Optional, Computed: computed, ElementType: a.ElementType, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
		}
	case schema.SingleNestedAttribute:
		return dataschema.SingleNestedAttribute{
			Required: a.Required, Optional: a.Optional, Computed: computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators, Attributes: ForDataSource(a.Attributes),
		}
	case schema.MapNestedAttribute:
		return dataschema.MapNestedAttribute{
			Required: a.Required, Optional: a.Optional, Computed: computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			NestedObject: dataschema.NestedAttributeObject{Attributes: ForDataSource(a.NestedObject.Attributes)},
		}
	case schema.ListNestedAttribute:
		return dataschema.ListNestedAttribute{
			Required: a.Required, Optional: a.Optional, Computed: computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			NestedObject: dataschema.NestedAttributeObject{Attributes: ForDataSource(a.NestedObject.Attributes)},
		}
	default:
		return nil
	}
}
