// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package connectionvalue

import (
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// kind is what an attribute of a connection holds.
type kind int

const (
	text kind = iota
	truth
	port
)

// field is one attribute of a connection. The three places that have connections (resources,
// actions, the provider block) have schemas of three kinds, which are made of these.
type field struct {
	kind      kind
	about     string
	sensitive bool
	checks    []validator.String
	bastion   bool // a bastion has it as well
}

// portMax is the last port of TCP.
const portMax = 65535

func fields() map[string]field {
	return map[string]field{
		"host": {
			about: "Host name or address, without scheme and port.", checks: []validator.String{value.OptionalHost()}, bastion: true,
		},
		"port": {kind: port, about: "Port of the SSH server. Default: `22`.", bastion: true},
		"user": {about: "User to log in as. Default: `ssh.user` of the provider, else `root`.", bastion: true},
		"private_key": {
			about:     "Private key (PEM). It is in the state: `private_key_file`, an agent or the provider's `ssh` block keep it out.",
			sensitive: true, bastion: true,
		},
		"private_key_file": {about: "File with the private key (PEM), on the machine that runs Terraform.", bastion: true},
		"password":         {about: "Password. It is in the state: a key is better. Default: `ssh.password` of the provider, but not together with `insecure_host_key`.", sensitive: true, bastion: true},
		"agent":            {kind: truth, about: "Ask the SSH agent of `SSH_AUTH_SOCK`. Default: as `ssh.agent` of the provider.", bastion: true},
		"host_key": {
			about:   "The host's public key or keys, one a line, as in `known_hosts` or in `/etc/ssh/ssh_host_ed25519_key.pub`. Any other key is refused.",
			bastion: true,
		},
		"known_hosts_file": {
			about: "File with the keys of hosts. Default: `ssh.known_hosts_file` of the provider, else `~/.ssh/known_hosts`.", bastion: true,
		},
		"insecure_host_key": {
			kind: truth, about: "Take any host key: whoever sits between can then read and change everything. Default: `false`.", bastion: true,
		},
		"sudo": {
			kind:  truth,
			about: "Run everything through `sudo -n`, for a user who is not root and may do so without a password. Default: `false`.",
		},
		"timeout": {
			about:  "How long connecting and logging in may take, such as `30s`. Default: `30s`.",
			checks: []validator.String{value.OptionalDuration()},
		},
	}
}

// typeField is the attribute type, where a connection may be of these types. The first is the default.
func typeField(types []string) field {
	about := "How to get there: "

	for i, t := range types {
		if i > 0 {
			about += ", "
		}

		about += meanings[t]
	}

	return field{about: about + ". Default: `" + types[0] + "`.", checks: []validator.String{stringvalidator.OneOf(append([]string{""}, types...)...)}}
}

// meanings are what each type is, for people.
var meanings = map[string]string{
	"ssh":   "`ssh`",
	"local": "`local` (the machine that runs Terraform)",
	None:    "`none` (not at all: what happens on the machine is left out)",
}

const bastionAbout = "Host through which to connect. Default: `ssh.bastion` of the provider; an empty `host` in it means none."
