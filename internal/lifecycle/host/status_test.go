// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

func TestSeen_statusWithoutAJournal(t *testing.T) {
	t.Parallel()

	image := func(n *ironic.Node) { n.InstanceInfo = map[string]any{"image_source": "http://images.test/a.raw"} }
	inspected := func(n *ironic.Node) { n.InspectionFinishedAt = time.Unix(1, 0) }
	clean := func(n *ironic.Node) { n.TargetProvisionState = ironic.Manageable }

	for name, c := range map[string]struct {
		state             ironic.State
		with              func(*ironic.Node)
		provisioning, op  string
		kind, conditional string
	}{
		"nothing":              {"", nil, "", "error", "provisioned registration error", ""},
		"enrolled":             {ironic.Enroll, nil, "registering", "OK", "", "Manageable False/Registering"},
		"refused":              {ironic.Enroll, func(n *ironic.Node) { n.LastError = "401" }, "registering", "error", "registration error", "Manageable False/RegistrationFailed"},
		"verifying":            {ironic.Verifying, nil, "registering", "OK", "", "Progressing True/Registering"},
		"managed":              {ironic.Manageable, nil, "registering", "OK", "", ""},
		"inspected":            {ironic.Manageable, inspected, "available", "OK", "", "AvailableForProvisioning True/Available"},
		"inspecting":           {ironic.InspectWait, nil, "inspecting", "OK", "", "Progressing True/Inspecting"},
		"not inspected":        {ironic.InspectFailed, nil, "inspecting", "error", "inspection error", "Ready False/Error"},
		"cleaned by hand":      {ironic.CleanWait, clean, "preparing", "OK", "", "Progressing True/Preparing"},
		"cleaned":              {ironic.CleanWait, nil, "deprovisioning", "OK", "", "Progressing True/Deprovisioning"},
		"not cleaned":          {ironic.CleanFailed, clean, "preparing", "error", "preparation error", ""},
		"offered":              {ironic.Available, nil, "available", "OK", "", "AvailableForProvisioning True/Available"},
		"deploying":            {ironic.WaitCallBack, nil, "provisioning", "OK", "", "Progressing True/Provisioning"},
		"not deployed":         {ironic.DeployFailed, nil, "provisioning", "error", "provisioning error", ""},
		"running":              {ironic.Active, image, "provisioned", "OK", "", "Ready True/Provisioned"},
		"running by others":    {ironic.Active, nil, "externally provisioned", "OK", "", "Provisioned True/Provisioned"},
		"serviced":             {ironic.ServiceWait, image, "provisioned", "servicing", "", "Ready False/Servicing"},
		"not serviced":         {ironic.ServiceFailed, image, "provisioned", "error", "servicing error", ""},
		"in rescue":            {ironic.Rescue, image, "provisioned", "OK", "", ""},
		"undeployed":           {ironic.Deleting, image, "deprovisioning", "OK", "", ""},
		"not undeployed":       {ironic.Error, nil, "deprovisioning", "error", "provisioning error", ""},
		"adopted":              {ironic.Adopting, nil, "externally provisioned", "OK", "", ""},
		"not adopted":          {ironic.AdoptFailed, nil, "externally provisioned", "error", "provisioned registration error", ""},
		"without power":        {ironic.Active, func(n *ironic.Node) { image(n); n.Fault = "power failure" }, "provisioned", "error", "power management error", "Manageable False/PowerFailure"},
		"an old error is none": {ironic.Active, func(n *ironic.Node) { image(n); n.LastError = "of yesterday" }, "provisioned", "OK", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := host.Seen{Node: ironic.Node{ProvisionState: c.state}}
			if c.with != nil {
				c.with(&s.Node)
			}

			if s.ProvisioningState() != c.provisioning || s.OperationalStatus() != c.op || s.ErrorType() != c.kind {
				t.Errorf("%q, %q, %q", s.ProvisioningState(), s.OperationalStatus(), s.ErrorType())
			}

			if c.op == "OK" && s.ErrorMessage() != "" {
				t.Errorf("an error message %q", s.ErrorMessage())
			}

			found := c.conditional == ""
			for key, value := range s.Conditions() {
				found = found || key+" "+value == c.conditional
			}

			if !found {
				t.Errorf("no %q in %v", c.conditional, s.Conditions())
			}
		})
	}
}

func TestSeen_poweredOn(t *testing.T) {
	t.Parallel()

	for p, want := range map[ironic.Power]string{
		ironic.PowerOn: "on", ironic.PowerOff: "off", "": "unknown", ironic.PowerError: "unknown", ironic.Rebooting: "unknown", "PoweringOn": "unknown",
	} {
		got := "unknown"
		if on := (host.Seen{Node: ironic.Node{PowerState: p}}).PoweredOn(); on != nil && *on {
			got = "on"
		} else if on != nil {
			got = "off"
		}

		if got != want {
			t.Errorf("%q is %s, want %s", p, got, want)
		}
	}
}

func TestSeen_consumerOf(t *testing.T) {
	t.Parallel()

	j := host.Journal{Namespace: "ns", Name: "n1", Consumer: &host.Consumer{Kind: "machine", Name: "c/m", ID: "c1"}}

	for claim, want := range map[string]string{"": "", "c1": "machine c/m", "c2": "instance ", host.Claim("ns", "n1"): "host ns/n1"} {
		got := ""
		if c := (host.Seen{Journal: j, Node: ironic.Node{InstanceUUID: claim}}).ConsumerOf(); c != nil {
			got = c.Kind + " " + c.Name
		}

		if got != want {
			t.Errorf("claim %q is of %q, want %q", claim, got, want)
		}
	}
}

func TestDifferences_whatIsNotKnownDiffersFromNothing(t *testing.T) {
	t.Parallel()

	w := wanted()
	w.Reprovision.TriggersSHA256 = "t"

	// An image that somebody else deployed: only its URL is known.
	known := host.Applied{Image: &host.AppliedImage{URL: w.Image.URL}}
	if got := host.Differences(known, "", w); len(got) != 0 {
		t.Errorf("%v", got)
	}

	known.Image.URL = "http://images.test/other.raw"
	if got := host.Differences(known, "", w); len(got) != 2 {
		t.Errorf("%v", got)
	}

	applied := host.WantedApplied(w)
	if got := host.Differences(applied, "t", w); len(got) != 0 {
		t.Errorf("%v", got)
	}

	applied.Image.Checksum = "AB" + applied.Image.Checksum[2:] // digits have no case
	if got := host.Differences(applied, "t", w); len(got) != 0 {
		t.Errorf("%v", got)
	}
}
