// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

// HostKeys are the public SSH host keys of all machines, one a line.
func (l *Lab) HostKeys() string {
	var b strings.Builder
	for i := range l.machines.Count {
		b.WriteString(node.HostKey(machine.Name(i)) + "\n")
	}

	return b.String()
}
