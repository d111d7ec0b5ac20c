// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// TenancyKey is the key of a node's instance_info under which whoever deploys on a host that
// is not its own notes what it does there. Ironic clears instance_info when it tears a
// deployment down, so the note never outlives the claim.
const TenancyKey = "metal3"

// KindMachine is the kind of a consumer that is a machine of a cluster.
const KindMachine = "machine"

// Tenancy is what the machine of a cluster notes on the host that it has claimed. It holds no
// secret. Claims made through an allocation carry the identity there, too.
type Tenancy struct {
	Version   int    `json:"v,omitempty"`
	ID        string `json:"id,omitempty"` // the claim
	Kind      string `json:"kind,omitempty"`
	OwnerID   string `json:"owner_id,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	Machine   string `json:"machine,omitempty"`
	Role      string `json:"role,omitempty"`
	Pool      string `json:"pool,omitempty"`
	Index     int    `json:"index"`

	// Deploying is written before a deployment begins, Deployed once it has ended: hashes of
	// what the machine is made from. Where they differ, a deployment may have been cut short.
	Deploying string `json:"deploying,omitempty"`
	Deployed  string `json:"deployed,omitempty"`

	Addresses    map[string]string `json:"addresses,omitempty"` // pool -> address
	CleaningMode string            `json:"automated_cleaning_mode,omitempty"`
	CleaningWas  *bool             `json:"automated_clean_was,omitempty"` // the host's own setting, for when the machine leaves
	PowerWas     ironic.Power      `json:"power_was,omitempty"`           // the host's power when it was claimed, for when the machine leaves
	Provisioned  string            `json:"provisioned_at,omitempty"`      // RFC 3339
	Keys         string            `json:"keys,omitempty"`                // hash of the CA certificate that it was made with
	Fingerprint  string            `json:"fingerprint,omitempty"`         // of the cluster whose create claimed the host
	Finished     string            `json:"finished,omitempty"`            // RFC 3339: when that create ended; only on the first machine
	Remediation  *Remediation      `json:"remediation,omitempty"`
	HooksDue     bool              `json:"hooks_due,omitempty"` // what is run after a deployment has not come to its end
}

// Remediation is how far the repair of a machine has come.
type Remediation struct {
	Phase   string `json:"phase"`
	Attempt int    `json:"attempt"`
	Count   int    `json:"count,omitempty"`   // of all repairs of this machine
	Started string `json:"started,omitempty"` // RFC 3339, of this attempt
	Node    string `json:"node,omitempty"`    // of the workload cluster
}

// tenancyVersion is the version of the note's shape.
const tenancyVersion = 1

// Tenancy returns the note of the machine that has claimed the host. A note of another claim
// than the present one is none.
func (s Seen) Tenancy() (Tenancy, bool) {
	t := ReadTenancy(s.Node.InstanceInfo)

	return t, t.ID != "" && t.ID == s.Node.InstanceUUID
}

// ReadTenancy takes the note out of a node's instance_info, field by field: one odd value must
// not hide the others.
func ReadTenancy(info map[string]any) Tenancy {
	var t Tenancy

	raw, ok := info[TenancyKey].(map[string]any)
	if !ok {
		return t
	}

	for key, value := range raw {
		doc, err := json.Marshal(map[string]any{key: value})
		if err != nil {
			continue
		}

		one := t
		if json.Unmarshal(doc, &one) == nil {
			t = one
		}
	}

	return t
}

// Value returns the note in the form that a node's instance_info takes.
func (t Tenancy) Value() map[string]any {
	t.Version = tenancyVersion

	doc, err := json.Marshal(t)
	if err != nil {
		return nil // cannot happen: it holds texts and numbers
	}

	var out map[string]any
	if json.Unmarshal(doc, &out) != nil {
		return nil
	}

	return out
}

// Offered reports whether a machine can be deployed on the host as it is: Ironic calls it
// available, or it rests where this provider leaves a host that never was deployed, which is
// cleaned right before its first deployment.
func (s Seen) Offered() bool {
	return s.Node.ProvisionState == ironic.Available ||
		s.Node.ProvisionState == ironic.Manageable && s.Journal.ManagedBy == ManagedBy && s.Journal.Phase == PhaseAvailable
}

// Runs is the hash of what is on the machine, as far as the note tells. A first deployment
// that reached active has happened, whether or not its end was noted; one over another that
// was cut short is not believed.
func (t Tenancy) Runs() string {
	if t.Deployed == "" {
		return t.Deploying
	}

	return t.Deployed
}

// asTenant turns facts of a host into those of a machine that lives on it: settings, journal
// and inventory belong to whoever registered the host, and the claim is what proves that a
// deployment is ours.
func (f Facts) asTenant(s Seen, w Wanted) Facts {
	f.InSync, f.Differs, f.Stranger = true, "", ""
	f.VerifyBMC, f.NeedsInspection, f.NeedsExamination = false, false, false
	f.WasDeployed, f.External, f.Unmanaged, f.RebootWanted = false, false, false, false
	f.Tenant = true

	if f.NotOurs = ""; f.Claim != ClaimOurs {
		f.NotOurs = "the host does not carry the claim " + w.claim() + " of machine " + w.Tenancy.Machine
	}

	if s.Node.ProvisionState == ironic.Active {
		// The note says so only afterwards; until then it is this run that knows that it has rebuilt.
		t, known := s.Tenancy()
		f.AsWanted = !w.Reprovision.Consent || known && t.Runs() == w.Tenancy.Deploying || f.Tried[Rebuild]+f.Tried[Deploy] > 0
		f.Difference = "template"
	}

	return f
}

// tenantGuard answers what holds for a machine on a host that is not its own, in every state.
func tenantGuard(f Facts, goal Goal) error {
	switch {
	case !f.Tenant:
		return nil
	case goal == Available && f.Claim == ClaimNone && f.State == ironic.CleanFailed:
		return &StuckError{f.State, goal, "the cleaning after the machine had left failed; the host's owner has to look at it"}
	case goal == Provisioned && f.Claim == ClaimNone:
		return &StuckError{f.State, goal, "the claim on the host is gone"}
	case f.Maintenance && f.Fault == "" && Resting(f.State):
		return &StuckError{f.State, goal, "the host was put in maintenance; end that first, a machine never ends somebody's work on a host"}
	default:
		return nil
	}
}
