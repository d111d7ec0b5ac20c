// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

// SSHKey is a private key (PEM) that the lab's machines take. They take any other as well.
func (l *Lab) SSHKey() string { return node.ClientKey() }

// HostKey is the SSH host key of a machine of the lab ("node-3.lab") as a line of
// authorized_keys; empty: the lab has no such machine.
func (l *Lab) HostKey(host string) string {
	name, ok := machine.HostName(strings.ToLower(host))
	if !ok || !l.isMachine(strings.ToLower(host)) {
		return ""
	}

	return node.HostKey(name)
}

// ssh makes the SSH server of a machine. A machine without a system refuses the connection.
func (l *Lab) ssh(host string) (func() server, error) {
	if err := l.ensure(); err != nil {
		return nil, err
	}

	name, _ := machine.HostName(host)
	if err := node.Answers(l.Store, name); err != nil {
		return nil, err
	}

	return func() server { return node.New(l.Store, name, l.trace.line) }, nil
}
