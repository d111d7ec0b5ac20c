// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

func power(p ironic.Power) func(*host.Facts) { return func(f *host.Facts) { f.Power = p } }
func wantedOff(f *host.Facts)                { f.WantOn = false }
func powerError(f *host.Facts)               { f.PowerError = "no relay" }

func TestNext_power(t *testing.T) {
	t.Parallel()

	asked := func(f *host.Facts) { f.PowerTarget = ironic.PowerOn }
	ignored := func(f *host.Facts) { f.PowerIgnored = true }
	reboot := func(f *host.Facts) { f.RebootWanted = true }
	pressing := func(f *host.Facts) { f.Pressing = true }

	checkAll(t, map[string]circumstance{
		"a machine that is off is switched on":         {ironic.Active, host.Provisioned, off, "power on", ""},
		"once":                                         {ironic.Active, host.Provisioned, all(off, tried(host.On, 1)), "wait", ""},
		"again after a failure":                        {ironic.Active, host.Provisioned, all(off, tried(host.On, 2), powerError), "power on", ""},
		"not for ever":                                 {ironic.Active, host.Provisioned, all(off, tried(host.On, 3), powerError), "failed", "no relay"},
		"a request under way is waited for":            {ironic.Active, host.Provisioned, all(off, asked), "wait", ""},
		"a consumer decides on power":                  {ironic.Active, host.Provisioned, all(off, ignored), "stop", ""},
		"also while it acts":                           {ironic.Active, host.Provisioned, all(off, ignored, asked), "stop", ""},
		"an available host is switched, too":           {ironic.Available, host.Available, off, "power on", ""},
		"off is asked for softly":                      {ironic.Active, host.Provisioned, wantedOff, "soft power off", ""},
		"the operating system may take its time":       {ironic.Active, host.Provisioned, all(wantedOff, tried(host.SoftOff, 1)), "wait", ""},
		"what it refuses is done hard":                 {ironic.Active, host.Provisioned, all(wantedOff, tried(host.SoftOff, 1), powerError), "power off", ""},
		"a host that is off stays so":                  {ironic.Active, host.Provisioned, all(wantedOff, off), "stop", ""},
		"nobody switches off what is not ours":         {ironic.Active, host.Provisioned, all(wantedOff, foreign), "stuck", "no mark"},
		"nor reboots it":                               {ironic.Active, host.Provisioned, all(reboot, foreign), "stuck", "no mark"},
		"a reboot is asked for":                        {ironic.Active, host.Provisioned, reboot, "reboot", ""},
		"until it began there is nothing to see of it": {ironic.Active, host.Provisioned, all(tried(host.Reboot, 1), pressing), "wait", ""},
		"while it lasts nothing is written":            {ironic.Active, host.Provisioned, all(tried(host.Reboot, 1), unsettled, asked), "wait", ""},
		"then it is noted":                             {ironic.Active, host.Provisioned, all(tried(host.Reboot, 1), unsettled), "configure", ""},
		"one that failed is an error":                  {ironic.Active, host.Provisioned, all(tried(host.Reboot, 1), powerError), "failed", "no relay"},
		"one that left the machine off goes on":        {ironic.Active, host.Provisioned, all(tried(host.Reboot, 1), off, powerError), "power on", ""},
	})
}

// While a request is under way a BMC may say anything of its power: nothing but "on" and
// "off" is an answer, and nobody presses the button a second time.
func TestOBMH11_powerThatIsNeitherOnNorOff(t *testing.T) {
	t.Parallel()

	for _, p := range []ironic.Power{"", "PoweringOn", "Unknown", ironic.Rebooting, ironic.PowerError} {
		checkAll(t, map[string]circumstance{
			"after power on: " + string(p):       {ironic.Active, host.Provisioned, all(power(p), tried(host.On, 1)), "wait", ""},
			"after soft power off: " + string(p): {ironic.Active, host.Provisioned, all(power(p), wantedOff, tried(host.SoftOff, 1)), "wait", ""},
			"after power off: " + string(p):      {ironic.Active, host.Provisioned, all(power(p), wantedOff, tried(host.SoftOff, 1), tried(host.Off, 1)), "wait", ""},
			"before a delete: " + string(p):      {ironic.Manageable, host.Deleted, all(power(p), tried(host.Off, 1)), "wait", ""},
		})
	}
}

func TestRefusedCredentials(t *testing.T) {
	t.Parallel()

	for words, want := range map[string]bool{
		"HTTP GET http://bmc/redfish/v1/Systems/1 returned code 401. Base.1.8.NoValidSession": true,
		"Error: Unauthorized": true,
		"node b4011f8b-d046-465a-ab02-0f166229fa4c: HTTP GET returned code 503. BMC is busy": false,
		"node 403e01f8-d046-465a-ab02-0f166229fa4c: connection refused":                      false,
	} {
		if got := host.RefusedCredentials(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}
