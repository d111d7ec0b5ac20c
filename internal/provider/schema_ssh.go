// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

func sshAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"user": schema.StringAttribute{Optional: true, MarkdownDescription: "User to log in as. Default: `root`."},
		"private_key": schema.StringAttribute{
			Optional: true, Sensitive: true, MarkdownDescription: "Private key (PEM). It is never in the state.",
		},
		"private_key_file": schema.StringAttribute{
			Optional: true, MarkdownDescription: "File with the private key (PEM), on the machine that runs Terraform.",
		},
		"password": schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Password. It is never in the state."},
		"agent": schema.BoolAttribute{
			Optional: true, MarkdownDescription: "Ask the SSH agent of `SSH_AUTH_SOCK`. Default: `true` where that is set.",
		},
		"known_hosts_file": schema.StringAttribute{
			Optional: true, MarkdownDescription: "File with the keys of hosts. Default: `~/.ssh/known_hosts`.",
		},
		"bastion": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Host through which to connect.", Attributes: connectionvalue.BastionAttributes(),
			Validators: connectionvalue.Validators(),
		},
	}
}
