// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// ProtectedReason marks a protection that this provider set (reprovision = "deny").
const ProtectedReason = "reprovision = deny in " + ManagedBy

// customAgent is the deploy interface of a custom deployment.
const customAgent = "custom-agent"

// The keys of reprovision_on.
const (
	OnImageURL      = "image_url"
	OnImageChecksum = "image_checksum"
	OnImageFormat   = "image_format"
	OnUserData      = "user_data"
	OnNetworkData   = "network_data"
	OnMetaData      = "meta_data"
	OnRootHints     = "root_device_hints"
	OnBootMode      = "boot_mode"
)

// ReprovisionKeys are the keys that reprovision_on takes.
var ReprovisionKeys = []string{OnImageURL, OnImageChecksum, OnImageFormat, OnUserData, OnNetworkData, OnMetaData, OnRootHints, OnBootMode}

// Deployed reports whether something that a provisioner put there is on the host.
func (s Seen) Deployed() bool {
	a := s.Applied()

	return a.Image != nil || a.CustomDeploy != ""
}

// Applied returns what is deployed: as the journal has it, else as the record tells.
func (s Seen) Applied() Applied {
	if (s.Journal.Applied.Image != nil || s.Journal.Applied.CustomDeploy != "") && !s.Redeployed() {
		return s.Journal.Applied
	}

	var a Applied
	if img, ok := image.FromInstanceInfo(s.Node.InstanceInfo); ok {
		a.Image = &AppliedImage{img.URL, img.Checksum, img.ChecksumType, img.Format}
	} else if s.Node.Interfaces["deploy"] == customAgent {
		a.CustomDeploy = "unknown"
	}

	return a
}

// Redeployed reports whether somebody else put another image on the host than the journal
// has: what the record tells is then all that is known. The journal has the spelling that
// was asked for, instance_info what Ironic was told.
func (s Seen) Redeployed() bool {
	a := s.Journal.Applied.Image
	far, ok := image.FromInstanceInfo(s.Node.InstanceInfo)

	return a != nil && ok && s.Node.ProvisionState == ironic.Active &&
		!image.Same(image.Image{URL: a.URL, Checksum: a.Checksum, ChecksumType: a.ChecksumType, Format: a.Format}, far)
}

// WantedApplied is what a deployment as w wants it leaves in the journal.
func WantedApplied(w Wanted) Applied {
	a := Applied{
		BootMode: w.BootMode, InstanceUUID: w.claim(),
		UserData: hash(w.Config.UserData), NetworkData: hashOf(w.Config.NetworkData), MetaData: hashOf(w.Config.MetaData),
		ConfigSHA256: hashOf(w.Config),
	}

	if w.Image != nil {
		a.Image = &AppliedImage{w.Image.URL, w.Image.Checksum, w.Image.ChecksumType, w.Image.Format}
	}

	if w.CustomDeploy != nil {
		a.CustomDeploy = w.CustomDeploy.Method
	}

	if w.RootHints != nil {
		a.RootHints = w.RootHints.Ironic()
	}

	return a
}

// Differences names what of a deployment differs from what is wanted and asks for a new
// one: the image's URL or the custom deployment always, the rest as reprovision_on says.
//
// What the far side does not tell (an image that was deployed without a journal, for
// instance, has no hash of its user data) differs from nothing.
func Differences(a Applied, triggers string, w Wanted) []string {
	want := WantedApplied(w)
	on := func(key string) bool { return slices.Contains(w.Reprovision.On, key) }

	var out []string

	add := func(differs bool, key string) {
		if differs && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}

	switch {
	case (a.Image == nil) != (want.Image == nil):
		add(true, OnImageURL)
	case a.Image != nil:
		add(on(OnImageURL) && a.Image.URL != want.Image.URL, OnImageURL)
		add(on(OnImageChecksum) && differ(a.Image.Checksum, want.Image.Checksum), OnImageChecksum)
		add(on(OnImageFormat) && a.Image.Format != "" && want.Image.Format != "" && a.Image.Format != want.Image.Format, OnImageFormat)
	}

	add(a.CustomDeploy != want.CustomDeploy && (a.CustomDeploy != "unknown" || want.CustomDeploy == ""), "custom_deploy")
	add(on(OnUserData) && differ(a.UserData, want.UserData), OnUserData)
	add(on(OnNetworkData) && differ(a.NetworkData, want.NetworkData), OnNetworkData)
	add(on(OnMetaData) && differ(a.MetaData, want.MetaData), OnMetaData)
	add(on(OnRootHints) && a.ConfigSHA256 != "" && !sameHints(a.RootHints, want.RootHints), OnRootHints)
	add(on(OnBootMode) && differ(a.BootMode, want.BootMode), OnBootMode)

	// Triggers that are named for the first time on a host of which no journal tells are
	// only noted: an import with hand-written configuration must not re-image a machine.
	asked := w.Reprovision.TriggersSHA256 != triggers && w.Reprovision.TriggersSHA256 != ""
	add(asked && (a.ConfigSHA256 != "" || len(out) > 0), "reprovision_triggers")

	return out
}

// differ compares what is known: an empty side means that nothing is known of it.
func differ(a, b string) bool { return a != "" && b != "" && !strings.EqualFold(a, b) }

func sameHints(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || SameValue(a, b)
}

// hash returns the SHA-256 of a text in hexadecimal; that of nothing is the hash of nothing,
// so that "no user data" differs from "not known".
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))

	return hex.EncodeToString(sum[:])
}

func hashOf(v any) string {
	doc, err := json.Marshal(v)
	if err != nil {
		return ""
	}

	return hash(string(doc))
}

// TriggersHash is the hash of reprovision_triggers; empty where there are none.
func TriggersHash(triggers map[string]string) string {
	if len(triggers) == 0 {
		return ""
	}

	return hashOf(triggers)
}

// Fingerprint is a hash of what w wants of the machine and the far side. Two applies of
// the same configuration have the same one; secrets are not in it.
func (w Wanted) Fingerprint() string {
	labels := slices.Sorted(maps.Keys(w.Labels))

	return hashOf([]any{w.Namespace, w.Name, w.OwnerID, w.BMC.Access.Address, w.BootMAC, w.BootMode, labels, w.Labels, w.External, WantedApplied(w), w.Reprovision.TriggersSHA256})
}

// SameValue compares two values in the forms that they have after a way through JSON: what
// we build from Go's types comes back from Ironic as generic values.
func SameValue(a, b any) bool { return reflect.DeepEqual(generic(a), generic(b)) }

func generic(v any) any {
	if s, ok := v.(string); ok {
		return s
	}

	doc, err := json.Marshal(v)
	if err != nil {
		return v
	}

	var out any
	if json.Unmarshal(doc, &out) != nil {
		return v
	}

	return out
}
