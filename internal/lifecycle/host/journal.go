// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"encoding/json"
	"maps"
)

// JournalKey is the key of our journal in a node's extra.
const JournalKey = "metal3"

// ManagedBy marks the nodes that this provider manages.
const ManagedBy = "terraform-provider-metal3"

// journalVersion is the version of the journal's shape.
const journalVersion = 1

// Journal is what we note on the far side about a host. It outlives Terraform's state, is
// written before each verb (Ironic refuses changes during a transition), and holds no
// secret. Its loss is harmless: the record's own state decides.
type Journal struct {
	Version         int               `json:"v,omitempty"`
	ManagedBy       string            `json:"managed_by,omitempty"`
	OwnerID         string            `json:"owner_id,omitempty"`
	Namespace       string            `json:"namespace,omitempty"`
	Name            string            `json:"name,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
	FailureDomain   string            `json:"failure_domain,omitempty"`
	FabricMachineID string            `json:"fabric_machine_id,omitempty"`

	Phase        Phase   `json:"phase,omitempty"`
	PhaseStarted string  `json:"phase_started,omitempty"` // RFC 3339
	Applied      Applied `json:"applied,omitzero"`
	Fingerprint  string  `json:"fingerprint,omitempty"` // of what the last finished apply wanted

	TriggersSHA256  string    `json:"triggers_sha256,omitempty"`
	InspectTrigger  string    `json:"inspect_trigger,omitempty"`
	RebootTrigger   string    `json:"reboot_trigger,omitempty"`
	InspectedAt     string    `json:"inspected_at,omitempty"` // the record's inspection_finished_at when the inventory was taken over
	InspectBefore   string    `json:"inspect_before,omitempty"`
	InventorySHA256 string    `json:"inventory_sha256,omitempty"`
	Adopt           bool      `json:"adopt,omitempty"` // the record was lost and made anew: adopt, do not deploy
	Consumer        *Consumer `json:"consumer,omitempty"`

	// Unhealthy and Hold are written by clusters only.
	Unhealthy any `json:"unhealthy,omitempty"`
	Hold      any `json:"hold,omitempty"`

	// raw is the journal as it was found, so that keys of other writers stay.
	raw map[string]any
}

// Applied is what was deployed last, as the baremetal-operator keeps it in
// status.provisioning.
type Applied struct {
	Image        *AppliedImage  `json:"image,omitempty"`
	CustomDeploy string         `json:"custom_deploy,omitempty"`
	BootMode     string         `json:"boot_mode,omitempty"`
	RootHints    map[string]any `json:"root_device_hints,omitempty"` // in Ironic's form
	UserData     string         `json:"user_data_sha256,omitempty"`
	NetworkData  string         `json:"network_data_sha256,omitempty"`
	MetaData     string         `json:"meta_data_sha256,omitempty"`
	ConfigSHA256 string         `json:"config_sha256,omitempty"` // over user, network, meta and vendor data
	InstanceUUID string         `json:"instance_uuid,omitempty"`
}

// AppliedImage is the image that was deployed last.
type AppliedImage struct {
	URL          string `json:"url"`
	Checksum     string `json:"checksum,omitempty"`
	ChecksumType string `json:"checksum_type,omitempty"`
	Format       string `json:"format,omitempty"`
}

// Consumer is who deploys on a host.
type Consumer struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"`
	ID   string `json:"id"`
}

// Ours reports whether the journal says that this provider manages the host for owner.
func (j Journal) Ours(owner string) bool {
	return j.ManagedBy == ManagedBy && j.OwnerID == owner
}

// Known reports whether there is a journal at all.
func (j Journal) Known() bool { return j.ManagedBy != "" }

// ReadJournal takes the journal out of a node's extra. What cannot be read counts as absent.
func ReadJournal(extra map[string]any) Journal {
	raw, ok := extra[JournalKey].(map[string]any)
	if !ok {
		return Journal{}
	}

	var j Journal

	// Field by field: one odd value must not hide the others.
	for key, value := range raw {
		doc, err := json.Marshal(map[string]any{key: value})
		if err != nil {
			continue
		}

		one := j
		if json.Unmarshal(doc, &one) == nil {
			j = one
		}
	}

	j.raw = raw

	return j
}

// Value returns the journal in the form that a node's extra takes; keys of other writers stay.
func (j Journal) Value() map[string]any {
	j.Version = journalVersion
	out := maps.Clone(j.raw)

	if out == nil {
		out = map[string]any{}
	}

	for _, key := range journalKeys {
		delete(out, key)
	}

	doc, err := json.Marshal(j)
	if err != nil {
		return out // cannot happen: the journal holds only values that came out of JSON
	}

	var own map[string]any
	if json.Unmarshal(doc, &own) == nil {
		maps.Copy(out, own)
	}

	return out
}

// journalKeys are the keys that belong to this package; see [Journal].
var journalKeys = []string{
	"v", "managed_by", "owner_id", "namespace", "name", "labels", "annotations", "failure_domain", "fabric_machine_id",
	"phase", "phase_started", "applied", "fingerprint", "triggers_sha256", "inspect_trigger", "reboot_trigger",
	"inspected_at", "inspect_before", "inventory_sha256", "adopt", "consumer", "unhealthy", "hold",
}
