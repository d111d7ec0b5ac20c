// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterkubeconfig

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/objectvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

const maxPort = 65535

// Schema is how the kubeconfig comes about, and its parts.
func (e *kubeconfigResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A kubeconfig of a workload cluster, to be handed to whoever needs it while Terraform runs, such as the configuration of another provider, and never stored. " +
			"Exactly one of `ca`, `kubeconfig` and `ssh` says where it comes from.",
		Attributes: attributes(),
	}

	maps.Copy(resp.Schema.Attributes, results())
}

func attributes() map[string]schema.Attribute {
	signed := objectvalidator.AlsoRequires(path.MatchRoot("endpoint"))
	onlySigned := path.MatchRoot("ca")

	return map[string]schema.Attribute{
		"ca": schema.SingleNestedAttribute{
			Optional: true, Validators: []validator.Object{signed},
			MarkdownDescription: "The CA of the cluster, which signs a new certificate for the user: nobody is asked, and nothing is left behind. Needs `endpoint`.",
			Attributes: map[string]schema.Attribute{
				"certificate": schema.StringAttribute{Required: true, MarkdownDescription: "Certificate (PEM)."},
				"private_key": schema.StringAttribute{Required: true, Sensitive: true, MarkdownDescription: "Private key (PEM)."},
			},
		},
		"kubeconfig": schema.StringAttribute{
			Optional: true, Computed: true, Sensitive: true, Validators: []validator.String{stringvalidator.ConflictsWith(path.MatchRoot("endpoint"))},
			MarkdownDescription: "The kubeconfig. As an argument: one that there is already, such as that of a `metal3_cluster`, which is checked and taken apart. " +
				"It must hold its certificates and keys itself.",
		},
		"ssh": schema.SingleNestedAttribute{
			Optional: true, Validators: connectionvalue.Validators(), Attributes: sshAttributes(),
			MarkdownDescription: "Connection to a machine of the control plane, from which the kubeconfig is read. What is left out comes from the provider's `ssh` block.",
		},
		"endpoint": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Where the API of the cluster answers. With `ssh` it replaces the server of the kubeconfig, which may be good on its own machine alone.",
			Attributes: map[string]schema.Attribute{
				"host": schema.StringAttribute{
					Required: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1), value.OptionalHost()}, MarkdownDescription: "Name or address, an IPv6 address without brackets.",
				},
				"port": schema.Int64Attribute{Optional: true, Validators: []validator.Int64{int64validator.Between(1, maxPort)}, MarkdownDescription: "Port. Default: 6443."},
			},
		},
		"cluster_name": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.ConflictsWith(path.MatchRoot("kubeconfig"))},
			MarkdownDescription: "Name of the cluster in the kubeconfig. Default: `kubernetes`.",
		},
		"user": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.LengthAtLeast(1), stringvalidator.AlsoRequires(onlySigned)},
			MarkdownDescription: "With `ca`: name of the user, as the cluster's audit log shows it. Default: `kubernetes-admin`.",
		},
		"organizations": schema.ListAttribute{
			ElementType: types.StringType, Optional: true,
			Validators: []validator.List{
				listvalidator.SizeAtLeast(1), listvalidator.AlsoRequires(onlySigned), listvalidator.ValueStringsAre(stringvalidator.LengthAtLeast(1)),
			},
			MarkdownDescription: "With `ca`: groups of the user, from which it has its rights. Default: `kubeadm:cluster-admins`, which kubeadm binds to everything since Kubernetes 1.29. " +
				"Members of `system:masters` may do everything in any cluster, and nobody can take that from them before the certificate ends.",
		},
		"wait_for": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Any text that is not known before the cluster stands, such as `metal3_cluster.NAME.state`. It changes nothing but when this is opened: with `ssh` a plan would look for a machine " +
				"that the same run makes, whose address it knows. (`depends_on` does not put an ephemeral resource off: Terraform 1.11.)",
		},
		"ttl": schema.StringAttribute{
			Optional: true, Validators: []validator.String{value.Duration(), stringvalidator.AlsoRequires(onlySigned)},
			MarkdownDescription: "With `ca`: how long the certificate holds. Default: `1h`. It ends with the CA's at the latest, and cannot be revoked.",
		},
	}
}

func sshAttributes() map[string]schema.Attribute {
	all := connectionvalue.EphemeralAttributes(remote.SSH, remote.Local)
	all["path"] = schema.StringAttribute{
		Optional: true, Validators: []validator.String{value.Check("Invalid path", "an absolute path", absolute)},
		MarkdownDescription: "Path of the kubeconfig there. Default: `" + defaultPath + "`. k3s has `/etc/rancher/k3s/k3s.yaml`, RKE2 `/etc/rancher/rke2/rke2.yaml`.",
	}

	return all
}

func results() map[string]schema.Attribute {
	secret := func(about string) schema.Attribute {
		return schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: about}
	}

	return map[string]schema.Attribute{
		"host":                   schema.StringAttribute{Computed: true, MarkdownDescription: "URL of the API."},
		"cluster_ca_certificate": secret("Certificate (PEM) of the cluster's CA; null where the kubeconfig has none."),
		"client_certificate":     secret("Certificate (PEM) of the user; null where a token stands for it."),
		"client_key":             secret("Private key (PEM) of the user; null where a token stands for it."),
		"token":                  secret("Token of the user; null where a certificate stands for it."),
		"expires_at":             schema.StringAttribute{Computed: true, MarkdownDescription: "When the user's certificate ends (RFC 3339); null where a token stands for it."},
	}
}
