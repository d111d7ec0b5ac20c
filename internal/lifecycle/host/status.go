// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// ProvisioningState is the host's state in the baremetal-operator's spelling. The record's
// state decides; the journal only tells apart what the record cannot.
func (s Seen) ProvisioningState() string {
	j := s.Journal

	var p Phase

	switch s.Node.ProvisionState {
	case "":
		return ""
	case ironic.Enroll, ironic.Verifying:
		p = PhaseRegistering
	case ironic.Inspecting, ironic.InspectWait, ironic.InspectFailed:
		p = PhaseInspecting
	case ironic.Manageable:
		p = s.manageablePhase()
	case ironic.Cleaning, ironic.CleanWait, ironic.CleanHold, ironic.CleanFailed:
		switch {
		case s.Node.TargetProvisionState == ironic.Manageable:
			p = PhasePreparing
		case j.Phase != "" && j.Phase != PhaseDeprovisioning:
			p = PhaseProvisioning // Ironic cleans before it offers a host
		default:
			p = PhaseDeprovisioning
		}
	case ironic.Available:
		p = PhaseAvailable
	case ironic.Deploying, ironic.WaitCallBack, ironic.DeployHold, ironic.DeployFailed:
		p = PhaseProvisioning
	case ironic.Deleting, ironic.Error:
		p = PhaseDeprovisioning
	case ironic.Adopting, ironic.AdoptFailed:
		p = PhaseExternallyProvisioned
	default:
		p = PhaseExternallyProvisioned
		if s.Deployed() && j.Phase != PhaseExternallyProvisioned {
			p = PhaseProvisioned
		}
	}

	return string(p)
}

func (s Seen) manageablePhase() Phase {
	switch {
	case s.Journal.Phase == PhaseAvailable, s.Journal.Phase == "" && !s.Node.InspectionFinishedAt.IsZero():
		return PhaseAvailable
	case s.Journal.Phase == PhaseInspecting, s.Journal.Phase == PhaseProvisioning:
		return PhaseInspecting
	case s.Journal.Phase == PhaseDeprovisioning, s.Journal.Phase == PhaseProvisioned:
		return PhaseAvailable // undeployed by hand, then managed
	default:
		return PhaseRegistering
	}
}

// OperationalStatus is "OK", "error" or "servicing", as the baremetal-operator says it.
func (s Seen) OperationalStatus() string {
	switch st := s.Node.ProvisionState; {
	case st == "", st == ironic.Error, s.Node.Fault != "", strings.HasSuffix(string(st), "failed"):
		return "error"
	case st == ironic.Enroll && s.Node.LastError != "":
		return "error"
	case st == ironic.Servicing, st == ironic.ServiceWait, st == ironic.ServiceHold:
		return "servicing"
	default:
		return "OK"
	}
}

// ErrorType is the kind of the present error in the baremetal-operator's words, empty where there is none.
func (s Seen) ErrorType() string {
	if s.OperationalStatus() != "error" {
		return ""
	}

	if s.Node.Fault == faultPower {
		return "power management error"
	}

	switch s.Node.ProvisionState {
	case ironic.Enroll:
		return "registration error"
	case ironic.InspectFailed:
		return "inspection error"
	case ironic.CleanFailed:
		return "preparation error"
	case ironic.AdoptFailed, "":
		return "provisioned registration error"
	case ironic.ServiceFailed:
		return "servicing error"
	default:
		return "provisioning error"
	}
}

// ErrorMessage is what the far side says of the present error, empty where there is none.
// Ironic keeps last_error beyond the way out of a failed state; then it is no error any more.
func (s Seen) ErrorMessage() string {
	if s.OperationalStatus() != "error" {
		return ""
	}

	return s.Node.LastError
}

// PoweredOn tells whether the machine is on; nil where that is not known.
func (s Seen) PoweredOn() *bool {
	on := s.Node.PowerState == ironic.PowerOn

	if s.Node.PowerState != ironic.PowerOn && s.Node.PowerState != ironic.PowerOff {
		return nil
	}

	return &on
}

// ConsumerOf says who deploys on the host, nil where nobody does. It is computed from the
// claim; the journal gives it a name.
func (s Seen) ConsumerOf() *Consumer {
	id := s.Node.InstanceUUID

	switch {
	case id == "":
		return nil
	case id == Claim(s.Journal.Namespace, s.Journal.Name):
		return &Consumer{Kind: "host", Name: s.Journal.Namespace + "/" + s.Journal.Name, ID: id}
	case s.Journal.Consumer != nil && s.Journal.Consumer.ID == id:
		return s.Journal.Consumer
	default:
		if t, ok := s.Tenancy(); ok {
			return &Consumer{Kind: KindMachine, Name: t.Namespace + "/" + t.Cluster + "/" + t.Machine, ID: id}
		}

		return &Consumer{Kind: "instance", ID: id}
	}
}

// Conditions are the conditions of the baremetal-operator, each as "Status/Reason", without
// timestamps: they would make every plan noisy.
func (s Seen) Conditions() map[string]string {
	state, status := Phase(s.ProvisioningState()), s.OperationalStatus()
	c := map[string]string{
		"Manageable": "True/Manageable", "AvailableForProvisioning": "False/NotAvailable",
		"Provisioned": "False/NotProvisioned", "Ready": "False/NotReady", "Progressing": "False/NotProgressing",
	}

	switch state {
	case PhaseRegistering:
		c["Manageable"], c["Progressing"] = "False/Registering", "True/Registering"
		if status == "error" {
			c["Manageable"] = "False/RegistrationFailed"
		}
	case PhaseInspecting:
		c["Progressing"] = "True/Inspecting"
	case PhasePreparing:
		c["Progressing"] = "True/Preparing"
	case PhaseProvisioning:
		c["Progressing"] = "True/Provisioning"
	case PhaseDeprovisioning:
		c["Progressing"] = "True/Deprovisioning"
	case PhaseAvailable:
		c["AvailableForProvisioning"] = "True/Available"
	case PhaseProvisioned, PhaseExternallyProvisioned:
		c["Provisioned"], c["Ready"] = "True/Provisioned", "True/Provisioned"
	default: // phases of a deletion, which no look shows
	}

	switch status {
	case "error":
		c["Ready"] = "False/Error"
	case "servicing":
		c["Ready"] = "False/Servicing"
	}

	if s.Node.Fault == faultPower {
		c["Manageable"] = "False/PowerFailure"
	}

	switch s.Node.Health {
	case "OK":
		c["Healthy"] = "True/Healthy"
	case "Warning":
		c["Healthy"] = "False/Warning"
	case "Critical":
		c["Healthy"] = "False/CriticalError"
	}

	return c
}

// UnhealthyReason is why a cluster calls the host unhealthy, empty where none does. Other
// writers may have put anything there.
func (j Journal) UnhealthyReason() string {
	switch v := j.Unhealthy.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		if !v {
			return ""
		}
	case map[string]any:
		if why, ok := v["reason"].(string); ok && why != "" {
			return why
		}
	}

	return "unhealthy"
}
