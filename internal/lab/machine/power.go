// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"maps"
	"time"
)

// restart is the pending power change of a machine that goes off and on again.
const restart = "Restart"

// ResetTypes is what SetPower understands, in the order in which the BMC offers it.
func ResetTypes() []string {
	return []string{
		"On", "ForceOff", "GracefulShutdown", "GracefulRestart", "ForceRestart", "PowerCycle", "ForceOn", "Nmi",
	}
}

// SetPower begins a power change of a Redfish reset type, which is done when delay has passed.
// A later request replaces one that is under way. Whether the request is refused at all
// (Faults.FailPower) is the caller's to say.
func (m *Machine) SetPower(kind string, now time.Time, delay time.Duration) {
	m.Settle(now)
	m.Resets++

	if m.Faults.StuckPower {
		m.Say(now, "reset %s ignored (fault)", kind)

		return
	}

	switch kind {
	case "On", "ForceOn":
		m.PendingPower = On
	case "ForceOff", "GracefulShutdown":
		m.PendingPower = Off
	case "ForceRestart", "GracefulRestart", "PowerCycle":
		m.PendingPower = restart
	default: // Nmi: felt by the operating system, not by the power supply
		m.Say(now, "reset %s (power %s)", kind, m.Power)

		return
	}

	m.PendingAt = now.Add(delay)
	m.Say(now, "reset %s (power %s)", kind, m.Power)
	m.Settle(now)
}

// Settle does what has become due by now. Load calls it; the result depends on the stored
// times only, so whether it is saved makes no difference.
func (m *Machine) Settle(now time.Time) {
	m.settleUpdates(now)

	if m.PendingPower != "" && !now.Before(m.PendingAt) {
		kind, at := m.PendingPower, m.PendingAt
		m.PendingPower, m.PendingAt = "", time.Time{}

		switch {
		case kind == Off:
			m.switchOff(at)
		case kind == restart:
			m.switchOff(at)
			m.switchOn(at)
		case m.Power != On:
			m.switchOn(at)
		}
	}

	if m.Booting != "" && !now.Before(m.BootAt) {
		m.boot(m.BootAt)
	}
}

// Due is the next time at which the machine changes by itself; zero: never.
func (m Machine) Due() time.Time {
	var due time.Time

	earlier := func(t time.Time) {
		if !t.IsZero() && (due.IsZero() || t.Before(due)) {
			due = t
		}
	}

	earlier(m.PendingAt)
	earlier(m.BootAt)

	for _, u := range m.Updates {
		earlier(u.At)
	}

	return due
}

// settleUpdates leaves Updates nil where none is left, as it was before.
func (m *Machine) settleUpdates(now time.Time) {
	var left []Update

	for _, u := range m.Updates {
		if now.Before(u.At) {
			left = append(left, u)

			continue
		}

		m.Firmware[u.Component] = u.Version
		m.Say(u.At, "firmware %s is now %s", u.Component, u.Version)
	}

	m.Updates = left
}

func (m *Machine) switchOff(at time.Time) {
	m.Power, m.Running, m.Booted, m.Source = Off, Nothing, "", ""
	m.Booting, m.BootAt = "", time.Time{}
	m.Say(at, "is off")
}

func (m *Machine) switchOn(at time.Time) {
	m.Power, m.Running, m.Booted, m.Source = On, Nothing, "", ""
	m.Boots++

	if m.BIOSPending != nil {
		maps.Copy(m.BIOS, m.BIOSPending)
		m.Say(at, "applied BIOS settings %v", m.BIOSPending)
		m.BIOSPending = nil
	}

	target := m.Boot.Target
	if m.Boot.Enabled == "Disabled" || target == "None" || target == "" {
		target = "Hdd"
	}

	if m.Boot.Enabled == "Once" || m.Faults.ForgetBoot {
		m.Boot.Enabled, m.Boot.Target = "Disabled", "None"
	}

	m.Booting, m.BootAt = target, at.Add(m.BootDelay)
	m.Say(at, "is on, boots %s", target)
}

func (m *Machine) boot(at time.Time) {
	m.Booted, m.Booting, m.BootAt = m.Booting, "", time.Time{}

	switch m.Booted {
	case "Cd", "Usb":
		m.Source = m.medium()
	case "UefiHttp":
		m.Source = m.Boot.HTTPURI
	case "Pxe": // who answers is found out by whoever plays the network
		return
	}

	switch {
	case m.Source != "":
		m.Running = ISO
		m.Say(at, "runs %s", m.Source)
	case m.Image != "":
		m.Running = Disk
		m.Say(at, "runs from disk")
	default:
		m.Say(at, "has nothing to boot")
	}
}

// medium is the image of the slot that the machine boots; empty: all slots are.
func (m *Machine) medium() string {
	order := m.Slots() // Cd comes first
	if m.Booted == "Usb" {
		order = []string{"USBStick", "Cd"}
	}

	for _, slot := range order {
		if image := m.Media[slot].Image; image != "" {
			return image
		}
	}

	return ""
}
