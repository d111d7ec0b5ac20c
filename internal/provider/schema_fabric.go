// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

func fabricAttributes() map[string]schema.Attribute {
	plain := func(about string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: about}
	}

	attributes := map[string]schema.Attribute{
		"type": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Kind of the manager: `fti_fm` (FTI Fabric Manager), `fti_cm` (FTI Cluster Manager), `nec_cdim` (NEC CDIM) or `redfish` (DMTF Redfish " +
				"composition, also Sunfish). Environment: `METAL3_FABRIC_TYPE`. Default: `fti_fm`.",
			Validators: []validator.String{stringvalidator.OneOf(append([]string{""}, drivers.Names()...)...)},
		},
		"endpoint": plain("Address of the manager: host, host:port, or a URL with an optional base path. Without a scheme it is `https`. " +
			"Environment: `METAL3_FABRIC_ENDPOINT`."),
		"layout_endpoint": plain("`nec_cdim`: address of the layout-apply service, where it is not that of `endpoint`."),
		"tenant_id":       plain("`fti_fm` and `fti_cm`: UUID of the tenant. Environment: `METAL3_FABRIC_TENANT_ID`."),
		"cluster_id":      plain("`fti_cm`: UUID of the cluster. Environment: `METAL3_FABRIC_CLUSTER_ID`."),
		"auth": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Who we are to the manager.",
			Attributes:          fabricAuthAttributes(),
		},
		"model_column": plain("`fti_fm` and `fti_cm`: column of a resource specification that holds the model. Default: `model`."),
		"journal_dir": plain("Directory in which orders are written down before they are given, so that a run that is killed leaves no device that nobody knows. " +
			"It must outlive the run: on a CI runner, name a directory that does. `off`: no journal. " +
			"Default: `terraform-provider-metal3/fabric-journal` in `$XDG_STATE_HOME` or `~/.local/state`; with a lab, `fabric-journal` in its directory."),
	}

	for _, add := range []map[string]schema.Attribute{fabricTLSAttributes(), fabricTimeAttributes()} {
		for name, a := range add {
			attributes[name] = a
		}
	}

	return attributes
}

func fabricAuthAttributes() map[string]schema.Attribute {
	attribute := func(about string, sensitive bool) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, Sensitive: sensitive, MarkdownDescription: about}
	}

	return map[string]schema.Attribute{
		"realm":         attribute("FTI: realm of the token service. Environment: `METAL3_FABRIC_REALM`. Default: `tenant_id`.", false),
		"client_id":     attribute("FTI: client of the token service. Environment: `METAL3_FABRIC_CLIENT_ID`. Default: `cdi`.", false),
		"client_secret": attribute("FTI: secret of the client. Environment: `METAL3_FABRIC_CLIENT_SECRET`.", true),
		"username":      attribute("User name. Environment: `METAL3_FABRIC_USERNAME`.", false),
		"password":      attribute("Password. Environment: `METAL3_FABRIC_PASSWORD`.", true),
	}
}

func fabricTLSAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"ca_cert_pem": schema.StringAttribute{
			Optional: true, MarkdownDescription: "Certificate authorities (PEM) that vouch for the manager.",
		},
		"ca_cert_file": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "File with the certificate authorities (PEM) that vouch for the manager. Environment: `METAL3_FABRIC_CA_CERT_FILE`.",
		},
		"tls_server_name": schema.StringAttribute{
			Optional: true, MarkdownDescription: "Name that the manager's certificate must have, where it is not the host of `endpoint`.",
		},
		"insecure_skip_verify": schema.BoolAttribute{
			Optional: true, MarkdownDescription: "Do not verify the manager's TLS certificate. Default: `false`.",
		},
		"allow_plain_http": schema.BoolAttribute{
			Optional: true, MarkdownDescription: "Take an address `http://…`, over which passwords can be read. Default: `false`.",
		},
	}
}

func fabricTimeAttributes() map[string]schema.Attribute {
	duration := func(about string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: about, Validators: []validator.String{value.OptionalDuration()}}
	}
	codes := func(about string) schema.SetAttribute {
		return schema.SetAttribute{
			Optional: true, ElementType: types.StringType, MarkdownDescription: about,
			Validators: []validator.Set{setvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1))},
		}
	}

	return map[string]schema.Attribute{
		"request_timeout":      duration("How long a request that reads may take. Default: `60s`."),
		"mutate_timeout":       duration("How long a request that attaches or detaches may take: some managers answer only when the work is done. Default: `180s`."),
		"poll_interval":        duration("Longest pause between two looks at a machine while a device comes or goes; the first looks come sooner. Default: `5s`."),
		"busy_error_codes":     codes("Codes of the manager's errors that mean that it is busy with something else: asked again later."),
		"capacity_error_codes": codes("Codes of the manager's errors that mean that no device is free."),
	}
}
