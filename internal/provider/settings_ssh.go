// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// envAgent is where SSH clients look for an agent.
const envAgent = "SSH_AUTH_SOCK"

// ssh reads what counts where a connection says nothing.
func (r *reader) ssh(ctx context.Context, config model) remote.Config {
	m := decode(ctx, config.SSH, unknownSSH, r.diags)
	at := sshPath.AtName

	cfg := remote.Config{
		User:           r.text(m.User, at("user")),
		PrivateKey:     r.text(m.PrivateKey, at("private_key")),
		PrivateKeyFile: r.text(m.PrivateKeyFile, at("private_key_file")),
		Password:       r.text(m.Password, at("password")),
		Agent:          r.truth(m.Agent, at("agent"), ""),
		KnownHostsFile: r.text(m.KnownHostsFile, at("known_hosts_file")),
	}

	if cfg.PrivateKey != "" && cfg.PrivateKeyFile != "" {
		r.diags.AddAttributeError(at("private_key_file"), "Two keys for SSH", "private_key and private_key_file exclude each other: remove one of them.")
	}

	if m.Agent.IsNull() {
		cfg.Agent = r.env(envAgent) != ""
	}

	cfg.Bastion = r.bastion(ctx, m.Bastion, cfg)

	return cfg
}

func (r *reader) bastion(ctx context.Context, o types.Object, defaults remote.Config) *remote.Config {
	at := sshPath.AtName("bastion")
	if o.IsNull() || r.isUnknown(o, at) {
		return nil
	}

	pending := connectionvalue.Unknown(o)
	for _, name := range pending {
		r.unknown = append(r.unknown, at.AtName(name).String())
	}

	var m connectionvalue.BastionModel

	r.diags.Append(o.As(ctx, &m, basetypes.ObjectAsOptions{})...)

	if len(pending) > 0 {
		return nil
	}

	return connectionvalue.Bastion(m, defaults, r.diags)
}
