// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine

// Up tells whether the machine is switched on as somebody sees it who does not ask its BMC. A
// machine that nobody has ever switched is up: it is one that others look after, as the
// machines of a composable fabric are whose hosts nobody manages through Ironic.
func (m Machine) Up() bool { return m.Power == On || m.Untouched() }

// Untouched tells whether nobody has ever asked for power or a boot.
func (m Machine) Untouched() bool { return m.Resets == 0 && m.Boots == 0 }

// HasOS tells whether an operating system answers on the machine. The deployment agent is none.
func (m Machine) HasOS() bool {
	return m.Untouched() || m.Power == On && m.Booting == "" && m.Running != Agent
}
