// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	providerschema "github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
)

func ports() []validator.Int64 { return []validator.Int64{int64validator.Between(1, portMax)} }

// Attributes are the attributes of a connection of a resource, which may be of these types;
// the first is the default. The object that holds them takes [Validators].
func Attributes(types ...string) map[string]schema.Attribute {
	all := attributes(of(false))
	all["type"] = typeField(types).resource()
	all["bastion"] = schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: bastionAbout, Attributes: attributes(of(true)), Validators: Validators(),
	}

	return all
}

func attributes(of map[string]field) map[string]schema.Attribute {
	all := make(map[string]schema.Attribute, len(of))
	for name, f := range of {
		all[name] = f.resource()
	}

	return all
}

func (f field) resource() schema.Attribute {
	switch f.kind {
	case truth:
		return schema.BoolAttribute{Optional: true, MarkdownDescription: f.about}
	case port:
		return schema.Int64Attribute{Optional: true, MarkdownDescription: f.about, Validators: ports()}
	default:
		return schema.StringAttribute{Optional: true, MarkdownDescription: f.about, Sensitive: f.sensitive, Validators: f.checks}
	}
}

// ActionAttributes are [Attributes] for an action. An action leaves no state, so nothing of it is in one.
func ActionAttributes(types ...string) map[string]actionschema.Attribute {
	all := actionAttributes(of(false))
	all["type"] = typeField(types).action()
	all["bastion"] = actionschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: bastionAbout, Attributes: actionAttributes(of(true)), Validators: Validators(),
	}

	return all
}

func actionAttributes(of map[string]field) map[string]actionschema.Attribute {
	all := make(map[string]actionschema.Attribute, len(of))

	for name, f := range of {
		if f.sensitive {
			f.about = secrets[name]
		}

		all[name] = f.action()
	}

	return all
}

func (f field) action() actionschema.Attribute {
	switch f.kind {
	case truth:
		return actionschema.BoolAttribute{Optional: true, MarkdownDescription: f.about}
	case port:
		return actionschema.Int64Attribute{Optional: true, MarkdownDescription: f.about, Validators: ports()}
	default:
		return actionschema.StringAttribute{Optional: true, MarkdownDescription: f.about, Validators: f.checks}
	}
}

// BastionAttributes are the attributes of the bastion in the provider block.
func BastionAttributes() map[string]providerschema.Attribute {
	all := map[string]providerschema.Attribute{}

	for name, f := range of(true) {
		if f.sensitive {
			f.about = secrets[name]
		}

		all[name] = f.provider()
	}

	return all
}

func (f field) provider() providerschema.Attribute {
	switch f.kind {
	case truth:
		return providerschema.BoolAttribute{Optional: true, MarkdownDescription: f.about}
	case port:
		return providerschema.Int64Attribute{Optional: true, MarkdownDescription: f.about, Validators: ports()}
	default:
		return providerschema.StringAttribute{Optional: true, MarkdownDescription: f.about, Sensitive: f.sensitive, Validators: f.checks}
	}
}

// secrets are the descriptions of secrets where they do not get into the state.
var secrets = map[string]string{"private_key": "Private key (PEM).", "password": "Password."}
