// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package hostcmd is what the commands for GPUs and for CXL memory on a host have in common:
// their scripts, the words that they leave, and which of their failures pass.
package hostcmd

import (
	"errors"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// NoCommand is the exit status of a shell that does not find a command.
const NoCommand = 127

// ErrNoCommand says that a host has no such command.
var ErrNoCommand = errors.New("no such command on the host")

// maxWords bounds what an error quotes of a command's words.
const maxWords = 300

// Rescan makes the kernel look for new devices on the PCI bus. It prints nothing.
const Rescan = `# metal3: pci-rescan
root=${1-}
echo 1 >"$root/sys/bus/pci/rescan"
`

// ScriptName is how a script names itself in its first line.
func ScriptName(script string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(script, "# metal3: "), "\n")

	return name
}

// Words makes one short line of what a command printed.
func Words(raw []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw), "?")), " ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}

	return s
}

// Passing marks an error of a kind that may be gone at the next look.
func Passing(err, kind error) error {
	if errors.Is(err, kind) {
		return wait.Transient(err)
	}

	return err
}
