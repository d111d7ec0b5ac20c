// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"regexp"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// maxGPUs is how many GPUs of a model a lab may have.
const maxGPUs = 10000

// imageSchemes are where Ironic can fetch a deploy image from.
var imageSchemes = []string{"http", "https", "file", "glance"}

// namespacePattern is that of a Kubernetes namespace: the name becomes a part of the node's
// name, where "~" separates it from the host's.
var namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// addressPattern is a host name or an address, without scheme, port and path.
var addressPattern = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?|[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*)$`)

// Schema is the provider block.
func (p *metal3) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Life cycles of bare-metal machines as Metal3 knows them, without a management cluster. " +
			"Every attribute is optional; an empty string counts as absent. What the block says counts before the environment.",
		Attributes: map[string]schema.Attribute{
			"ironic": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Where Ironic is and how to talk to it. Nobody is called before a resource or data source needs it.",
				Attributes:          ironicAttributes(),
			},
			"bmc": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Credentials of the machines' management controllers (BMCs) for hosts that give none. They are never in the state.",
				Attributes:          bmcAttributes(),
			},
			"fabric": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Where the manager of a composable fabric is, which attaches devices of a pool to machines, and how to talk to it. Nobody is called " +
					"before a resource or data source needs it. Several fabrics are several provider blocks (`alias`).",
				Attributes: fabricAttributes(),
			},
			"ssh": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "How to log in to machines, for connections that do not say it. What is here is never in the state, and is there also when a " +
					"resource is destroyed.",
				Attributes: sshAttributes(),
			},
			"namespace": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Namespace of everything that names none. Environment: `METAL3_NAMESPACE`. Default: `metal3`.",
				Validators: []validator.String{stringvalidator.Any(stringvalidator.OneOf(""), stringvalidator.RegexMatches(namespacePattern,
					"must be a Kubernetes name: lower case letters, digits and hyphens, at most 63"))},
			},
			"owner_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Marks what this configuration owns. A host that carries another mark is never taken over, wiped or deleted. " +
					"Environment: `METAL3_OWNER_ID`. Default: the empty mark.",
				Validators: []validator.String{stringvalidator.LengthAtMost(255)},
			},
			"lab": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Embedded far sides in the place of real ones: an Ironic, machines with BMCs, a fabric with devices and its manager, and what the " +
					"machines show over SSH, all inside the provider's process, with a memory on disk. Nothing outside can reach them and nothing real is touched. Environment: `METAL3_LAB` (the directory), which counts only where " +
					"neither block nor environment names a real far side.",
				Attributes: labAttributes(),
			},
		},
	}
}

func ironicAttributes() map[string]schema.Attribute {
	attributes := map[string]schema.Attribute{
		"endpoint": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "URL of Ironic's API, with or without `/v1`. With Keystone it may be absent: the catalogue names it. " +
				"Environment: `IRONIC_ENDPOINT`.",
			Validators: []validator.String{value.OptionalURL("http", "https")},
		},
		"insecure": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Do not verify Ironic's TLS certificate. Environment: `IRONIC_INSECURE`. Default: `false`.",
		},
		"timeout": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "How long one request may take, such as `60s`. Environment: `IRONIC_CLIENT_TIMEOUT` (a duration, or a number of seconds). " +
				"Default: `60s`.",
			Validators: []validator.String{value.OptionalDuration()},
		},
		"provisioning_limit": schema.Int64Attribute{
			Optional: true,
			MarkdownDescription: "How many hosts may be busy with inspection, cleaning and deployment at once, other runs' hosts included; hosts that boot from virtual media take no place. 0 means no limit. " +
				"Environment: `PROVISIONING_LIMIT`. Default: `20`.",
			Validators: []validator.Int64{int64validator.AtLeast(0)},
		},
	}

	for _, add := range []map[string]schema.Attribute{authAttributes(), deployAttributes()} {
		for name, a := range add {
			attributes[name] = a
		}
	}

	return attributes
}

func authAttributes() map[string]schema.Attribute {
	file := func(what, env string) schema.StringAttribute {
		return schema.StringAttribute{Optional: true, MarkdownDescription: what + " Read at the first request. Environment: `" + env + "`."}
	}

	return map[string]schema.Attribute{
		"auth": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "How to prove who we are: `noauth`, `http_basic` or `keystone`. Default: `keystone` where a cloud is named, " +
				"else `http_basic` where there is a user name, else `noauth`.",
			Validators: []validator.String{stringvalidator.OneOf("", string(ironic.NoAuth), string(ironic.HTTPBasic), string(ironic.Keystone))},
		},
		"cloud": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Entry of OpenStack's `clouds.yaml`, with `auth = \"keystone\"`. Without one, the `OS_*` variables count. " +
				"Environment: `OS_CLOUD`.",
		},
		"username": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "User name for `http_basic`. Environment: `IRONIC_USERNAME`, else the file `ironic/username` in the directory " +
				"`METAL3_AUTH_ROOT_DIR`.",
		},
		"password": schema.StringAttribute{
			Optional:  true,
			Sensitive: true,
			MarkdownDescription: "Password for `http_basic`. Environment: `IRONIC_PASSWORD`, else the file `ironic/password` in the directory " +
				"`METAL3_AUTH_ROOT_DIR`.",
		},
		"ca_cert_file":     file("File with the certificate authorities (PEM) that vouch for Ironic.", envCACert),
		"client_cert_file": file("File with the client certificate (PEM).", envClientCert),
		"client_key_file":  file("File with the key of the client certificate (PEM).", envClientKey),
	}
}

func deployAttributes() map[string]schema.Attribute {
	url := func(what, env string) schema.StringAttribute {
		return schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: what + " Default: as Ironic is configured. Environment: `" + env + "`.",
			Validators:          []validator.String{value.OptionalURL(imageSchemes...)},
		}
	}

	return map[string]schema.Attribute{
		"deploy_kernel_url":  url("Kernel of the ramdisk that Ironic boots on machines; goes with `deploy_ramdisk_url`.", envKernel),
		"deploy_ramdisk_url": url("Ramdisk that Ironic boots on machines; goes with `deploy_kernel_url`.", envRamdisk),
		"deploy_iso_url":     url("ISO image with kernel and ramdisk, for virtual media.", envISO),
	}
}

func bmcAttributes() map[string]schema.Attribute {
	username := schema.StringAttribute{Optional: true, MarkdownDescription: "User name."}
	password := schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Password."}

	return map[string]schema.Attribute{
		"username": username,
		"password": password,
		"hosts": schema.MapNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Credentials of single BMCs, by the host name or address in `bmc.address` of a host. They count before `username` and `password`.",
			NestedObject:        schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{"username": username, "password": password}},
			Validators: []validator.Map{mapvalidator.KeysAre(stringvalidator.RegexMatches(addressPattern,
				"must be a host name or an address, without scheme, port and path"))},
		},
		"access": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Who may ask a BMC for what Ironic does not tell: `direct` (this machine does), `ironic` (only Ironic does) or `auto` " +
				"(this machine, where the BMC answers within 2 seconds). Default: `auto`.",
			Validators: []validator.String{stringvalidator.OneOf("", "auto", "direct", "ironic")},
		},
	}
}

func labAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"dir": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Directory of the lab's memory. Remove it to begin anew. A relative path counts from where Terraform runs: " +
				"write `${path.root}/.metal3-lab`. Default: `.metal3-lab`.",
		},
		"machines": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "How many machines stand in the lab: `node-0`, `node-1`, …, each with its BMC at `http://node-0.lab`. Default: `8`.",
			Validators:          []validator.Int64{int64validator.Between(1, 10000)},
		},
		"pace": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "How long one step of a machine or of Ironic takes, such as `1s` or `1ms`. Default: `1s`.",
			Validators:          []validator.String{value.OptionalDuration()},
		},
		"fabric_type": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Which manager the lab's fabric has: `fti_fm`, `fti_cm`, `nec_cdim` or `redfish`. Default: `fti_fm`.",
			Validators:          []validator.String{stringvalidator.OneOf(append([]string{""}, drivers.Names()...)...)},
		},
		"gpus": schema.MapAttribute{
			Optional: true, ElementType: types.Int64Type,
			MarkdownDescription: "How many GPUs of which model are in the fabric's pool when the lab begins. Default: `{ A100 = 4, L40S = 4 }`.",
			Validators: []validator.Map{
				mapvalidator.KeysAre(stringvalidator.LengthAtLeast(1)), mapvalidator.ValueInt64sAre(int64validator.Between(0, maxGPUs)),
			},
		},
	}
}
