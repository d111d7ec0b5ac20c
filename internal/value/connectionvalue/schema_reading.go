// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue

import (
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
)

// DataSourceAttributes are [Attributes] for a data source. What it is given is in the state, too.
func DataSourceAttributes(types ...string) map[string]dataschema.Attribute {
	all := dataAttributes(of(false))
	all["type"] = typeField(types).data()
	all["bastion"] = dataschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: bastionAbout, Attributes: dataAttributes(of(true)), Validators: Validators(),
	}

	return all
}

func dataAttributes(of map[string]field) map[string]dataschema.Attribute {
	all := make(map[string]dataschema.Attribute, len(of))
	for name, f := range of {
		all[name] = f.data()
	}

	return all
}

func (f field) data() dataschema.Attribute {
	switch f.kind {
	case truth:
		return dataschema.BoolAttribute{Optional: true, MarkdownDescription: f.about}
	case port:
		return dataschema.Int64Attribute{Optional: true, MarkdownDescription: f.about, Validators: ports()}
	default:
		return dataschema.StringAttribute{Optional: true, MarkdownDescription: f.about, Sensitive: f.sensitive, Validators: f.checks}
	}
}

// EphemeralAttributes are [Attributes] for an ephemeral resource. Nothing of it is in a state.
func EphemeralAttributes(types ...string) map[string]ephemeralschema.Attribute {
	all := ephemeralAttributes(of(false))
	all["type"] = typeField(types).ephemeral()
	all["bastion"] = ephemeralschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: bastionAbout, Attributes: ephemeralAttributes(of(true)), Validators: Validators(),
	}

	return all
}

func ephemeralAttributes(of map[string]field) map[string]ephemeralschema.Attribute {
	all := make(map[string]ephemeralschema.Attribute, len(of))

	for name, f := range of {
		if f.sensitive {
			f.about = secrets[name]
		}

		all[name] = f.ephemeral()
	}

	return all
}

func (f field) ephemeral() ephemeralschema.Attribute {
	switch f.kind {
	case truth:
		return ephemeralschema.BoolAttribute{Optional: true, MarkdownDescription: f.about}
	case port:
		return ephemeralschema.Int64Attribute{Optional: true, MarkdownDescription: f.about, Validators: ports()}
	default:
		return ephemeralschema.StringAttribute{Optional: true, MarkdownDescription: f.about, Sensitive: f.sensitive, Validators: f.checks}
	}
}
