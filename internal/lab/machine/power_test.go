// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

const (
	powerDelay = 3 * time.Second
	bootDelay  = 20 * time.Second
)

func newMachine(change func(*machine.Machine)) machine.Machine {
	m := machine.Default(3, machine.Options{PowerDelay: powerDelay, BootDelay: bootDelay})
	if change != nil {
		change(&m)
	}

	return m
}

func TestSetPower(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		before  func(*machine.Machine)
		kinds   []string
		wait    time.Duration
		power   string
		running string
		boots   int
	}{
		"a change under way shows the old state": {
			kinds: []string{"On"}, wait: powerDelay - 1, power: machine.Off,
		},
		"on is on when the delay has passed": {
			kinds: []string{"On"}, wait: powerDelay, power: machine.On, boots: 1,
		},
		"a blank disk runs nothing": {
			kinds: []string{"On"}, wait: time.Hour, power: machine.On, boots: 1,
		},
		"a written disk boots after the boot delay": {
			before: func(m *machine.Machine) { m.Image = "http://images.lab/a.qcow2" },
			kinds:  []string{"On"}, wait: powerDelay + bootDelay, power: machine.On, running: machine.Disk, boots: 1,
		},
		"and not before": {
			before: func(m *machine.Machine) { m.Image = "http://images.lab/a.qcow2" },
			kinds:  []string{"On"}, wait: powerDelay + bootDelay - 1, power: machine.On, boots: 1,
		},
		"a later request replaces one under way": {
			kinds: []string{"On", "ForceOff"}, wait: time.Hour, power: machine.Off,
		},
		"on while on does not boot again": {
			before: func(m *machine.Machine) { m.Power, m.Boots, m.Running = machine.On, 7, machine.Disk },
			kinds:  []string{"On"}, wait: time.Hour, power: machine.On, running: machine.Disk, boots: 7,
		},
		"a restart boots again": {
			before: func(m *machine.Machine) { m.Power, m.Boots = machine.On, 7 },
			kinds:  []string{"ForceRestart"}, wait: powerDelay, power: machine.On, boots: 8,
		},
		"a stuck machine stays as it is": {
			before: func(m *machine.Machine) { m.Faults.StuckPower = true },
			kinds:  []string{"On"}, wait: time.Hour, power: machine.Off,
		},
		"an interrupt is no power change": {
			before: func(m *machine.Machine) { m.Power = machine.On },
			kinds:  []string{"Nmi"}, wait: time.Hour, power: machine.On,
		},
		"a medium boots when the override says so": {
			before: func(m *machine.Machine) {
				m.Boot = machine.Boot{Target: "Cd", Enabled: "Once", Mode: "UEFI"}
				m.Media["Cd"] = machine.Medium{Image: "http://images.lab/a.iso"}
			},
			kinds: []string{"On"}, wait: time.Hour, power: machine.On, running: machine.ISO, boots: 1,
		},
		"an empty slot boots the disk": {
			before: func(m *machine.Machine) {
				m.Boot = machine.Boot{Target: "Cd", Enabled: "Continuous", Mode: "UEFI"}
				m.Image = "http://images.lab/a.qcow2"
			},
			kinds: []string{"On"}, wait: time.Hour, power: machine.On, running: machine.Disk, boots: 1,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(c.before)
				for _, kind := range c.kinds {
					m.SetPower(kind, time.Now(), powerDelay)
				}

				time.Sleep(c.wait)
				m.Settle(time.Now())

				if m.Power != c.power || m.Running != c.running || m.Boots != c.boots {
					t.Errorf("power %s, running %q, %d boots; want %s, %q, %d", m.Power, m.Running, m.Boots, c.power, c.running, c.boots)
				}
			})
		})
	}
}

func TestSettle_onceIsForgotten(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		enabled string
		faults  machine.Faults
		want    string
	}{
		"once holds for one boot":                    {enabled: "Once", want: "Disabled"},
		"continuous stays":                           {enabled: "Continuous", want: "Continuous"},
		"a forgetful board drops continuous as well": {enabled: "Continuous", faults: machine.Faults{ForgetBoot: true}, want: "Disabled"},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m := newMachine(func(m *machine.Machine) {
				m.Boot.Target, m.Boot.Enabled, m.Faults = "Pxe", c.enabled, c.faults
			})
			m.SetPower("On", time.Now(), 0)

			if m.Boot.Enabled != c.want || m.Booting != "Pxe" {
				t.Errorf("override is %s after booting %s, want %s after Pxe", m.Boot.Enabled, m.Booting, c.want)
			}
		})
	}
}

func TestDue(t *testing.T) {
	t.Parallel()

	now := time.Now()
	m := newMachine(nil)

	if due := m.Due(); !due.IsZero() {
		t.Errorf("an idle machine is due at %v", due)
	}

	m.SetPower("On", now, powerDelay)

	if due := m.Due(); !due.Equal(now.Add(powerDelay)) {
		t.Errorf("due %v after the request, want %v", due.Sub(now), powerDelay)
	}

	m.Settle(now.Add(powerDelay))

	if due := m.Due(); !due.Equal(now.Add(powerDelay + bootDelay)) {
		t.Errorf("due %v after power on, want %v", due.Sub(now), powerDelay+bootDelay)
	}

	m.Settle(now.Add(time.Hour))

	if due := m.Due(); !due.IsZero() {
		t.Errorf("a running machine is due at %v", due)
	}
}

func TestSettle_pendingSettings(t *testing.T) {
	t.Parallel()

	now := time.Now()
	m := newMachine(func(m *machine.Machine) {
		m.BIOSPending = map[string]any{"NumLock": "Off"}
		m.Updates = []machine.Update{
			{Component: "BIOS", Version: "2.2.0", At: now.Add(time.Second)},
			{Component: "BMC", Version: "8", At: now.Add(time.Hour)},
		}
	})

	m.Settle(now.Add(time.Second))

	if m.BIOS["NumLock"] != "On" {
		t.Error("BIOS settings changed before a boot")
	}

	if m.Firmware["BIOS"] != "2.2.0" || m.Firmware["BMC"] == "8" || len(m.Updates) != 1 {
		t.Errorf("firmware %v with %d updates left, want BIOS updated and the BMC's left", m.Firmware, len(m.Updates))
	}

	m.SetPower("On", now.Add(time.Minute), 0)

	if m.BIOS["NumLock"] != "Off" || m.BIOSPending != nil {
		t.Errorf("BIOS %v, pending %v after power on", m.BIOS, m.BIOSPending)
	}
}
