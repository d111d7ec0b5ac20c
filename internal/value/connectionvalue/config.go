// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Config says how to reach the machine: what the connection leaves out comes from the
// defaults, which are the provider's ssh block. A connection with values that are not known
// yet gives an error that names them: a default never stands in for one of those.
//
// A connection of type none gives a Config of that type, which no pool takes: its reader
// asks for the type first.
func Config(ctx context.Context, m Model, defaults remote.Config) (remote.Config, diag.Diagnostics) {
	var diags diag.Diagnostics

	if names := m.unknown(); len(names) > 0 {
		diags.AddError("Connection not known yet", "These attributes of the connection are not known before apply: "+strings.Join(names, ", ")+".")

		return remote.Config{}, diags
	}

	cfg := remote.Config{Type: cmp.Or(m.Type.ValueString(), remote.SSH), Sudo: m.Sudo.ValueBool(), Timeout: defaults.Timeout}

	if s := m.Timeout.ValueString(); s != "" {
		cfg.Timeout = duration(s, &diags)
	}

	if cfg.Type != remote.SSH {
		return cfg, diags
	}

	fill(&cfg, m.login(), defaults, &diags)
	cfg.Bastion = defaults.Bastion

	if !m.Bastion.IsNull() {
		cfg.Bastion = m.bastion(ctx, defaults, &diags)
	}

	return cfg, diags
}

// Bastion is a bastion of which the defaults fill what it leaves out. One without a host is none: nil.
func Bastion(m BastionModel, defaults remote.Config, diags *diag.Diagnostics) *remote.Config {
	if m.Host.ValueString() == "" {
		return nil
	}

	cfg := &remote.Config{Type: remote.SSH, Timeout: defaults.Timeout}
	fill(cfg, m, defaults, diags)

	return cfg
}

func (m Model) bastion(ctx context.Context, defaults remote.Config, diags *diag.Diagnostics) *remote.Config {
	var b BastionModel

	diags.Append(m.Bastion.As(ctx, &b, basetypes.ObjectAsOptions{})...)

	return Bastion(b, defaults, diags)
}

// login is the part that a connection has in common with a bastion.
func (m Model) login() BastionModel {
	return BastionModel{
		Host: m.Host, Port: m.Port, User: m.User, PrivateKey: m.PrivateKey, PrivateKeyFile: m.PrivateKeyFile, Password: m.Password,
		Agent: m.Agent, HostKey: m.HostKey, KnownHostsFile: m.KnownHostsFile, InsecureHostKey: m.InsecureHostKey,
	}
}

// fill joins a login with the defaults. A key of its own, in whatever form, stands before
// both forms of the default; so does what says which host keys are taken.
func fill(cfg *remote.Config, m BastionModel, defaults remote.Config, diags *diag.Diagnostics) {
	cfg.Host, cfg.Port = strings.TrimSpace(m.Host.ValueString()), int(m.Port.ValueInt64())
	cfg.User = cmp.Or(m.User.ValueString(), defaults.User)
	cfg.Agent = defaults.Agent
	cfg.Dial = defaults.Dial

	if !m.Agent.IsNull() {
		cfg.Agent = m.Agent.ValueBool()
	}

	cfg.PrivateKey, cfg.PrivateKeyFile, cfg.Passphrase = m.PrivateKey.ValueString(), m.PrivateKeyFile.ValueString(), ""
	if cfg.PrivateKey == "" && cfg.PrivateKeyFile == "" {
		cfg.PrivateKey, cfg.PrivateKeyFile, cfg.Passphrase = defaults.PrivateKey, defaults.PrivateKeyFile, defaults.Passphrase
	}

	cfg.HostKey, cfg.KnownHostsFile, cfg.InsecureHostKey = m.HostKey.ValueString(), m.KnownHostsFile.ValueString(), m.InsecureHostKey.ValueBool()
	if cfg.HostKey == "" && cfg.KnownHostsFile == "" && !cfg.InsecureHostKey {
		cfg.HostKey, cfg.KnownHostsFile = defaults.HostKey, defaults.KnownHostsFile
	}

	// Whoever answers where no host key is verified would be told a password that many hosts
	// share; a key or an agent tell nothing.
	cfg.Password = m.Password.ValueString()
	if !cfg.InsecureHostKey {
		cfg.Password = cmp.Or(cfg.Password, defaults.Password)
	}

	if cfg.InsecureHostKey {
		diags.AddWarning("Host key of "+cfg.Host+" is not verified", "Anybody between this machine and "+cfg.Host+
			" can read and change what is sent, and run what is meant for the host. Give the key in host_key, or a known_hosts_file, instead of insecure_host_key. "+
			"A password of the provider's ssh block is not sent to it.")
	}
}

// duration reads what the validator has let through.
func duration(s string, diags *diag.Diagnostics) time.Duration {
	d, err := value.ParseDuration(s)
	if err != nil {
		diags.AddError("Invalid duration", value.Sentence(err))
	}

	return d
}

// unknown names what is not known yet.
func (m Model) unknown() []string {
	var out []string

	for name, v := range map[string]interface{ IsUnknown() bool }{
		"type": m.Type, "host": m.Host, "port": m.Port, "user": m.User, "private_key": m.PrivateKey, "private_key_file": m.PrivateKeyFile,
		"password": m.Password, "agent": m.Agent, "host_key": m.HostKey, "known_hosts_file": m.KnownHostsFile,
		"insecure_host_key": m.InsecureHostKey, "bastion": m.Bastion, "sudo": m.Sudo, "timeout": m.Timeout,
	} {
		if v.IsUnknown() {
			out = append(out, name)
		}
	}

	if !m.Bastion.IsUnknown() {
		out = append(out, unknownOf(m.Bastion, "bastion.")...)
	}

	slices.Sort(out)

	return out
}
