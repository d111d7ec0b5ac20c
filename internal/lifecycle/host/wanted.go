// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// Wanted is what the user wants of a host. Zero values mean "as the far side has it".
type Wanted struct {
	ID        string // UUID of the record, chosen by us before it is made
	Namespace string
	Name      string
	NodeName  string // name of the record; empty: as namespace and name say
	OwnerID   string

	Description     string
	Labels          map[string]string
	Annotations     map[string]string
	FailureDomain   string
	FabricMachineID string

	BMC             BMC
	Interfaces      map[string]string // kind -> name, over what the BMC address implies
	BootMAC         string            // normalised
	Ports           []ironic.Port     // nil: as inspection found them
	BootMode        string            // "UEFI", "UEFISecureBoot", "legacy"
	Architecture    string
	CleaningMode    string // "metadata", "disabled"
	InspectionMode  string // "agent", "fast", "disabled"
	InspectTrigger  string
	DisablePowerOff *bool          // nil: not said
	NetworkData     map[string]any // of the ramdisk
	DeployImage     DeployImage
	ConductorGroup  *string // nil: not said
	ResourceClass   *string
	Owner           *string
	Traits          []string // nil: not said
	Properties      map[string]string

	Online        bool
	OnlineIgnored bool // a consumer decides on power
	RebootTrigger string
	RebootMode    string // "soft", "hard"

	External     bool // externally_provisioned
	Image        *image.Image
	PullSecret   string
	CustomDeploy *CustomDeploy
	RootHints    *image.RootHints
	Config       ConfigData
	InstanceUUID string   // the claim; empty: as Claim says
	Tenancy      *Tenancy // the host is claimed by the machine of a cluster, and all but the deployment is left alone
	Reprovision  Reprovision

	Deletion          Deletion
	ProvisionAttempts int
	PhaseTimeouts     map[Phase]time.Duration
	QueueTimeout      time.Duration // 0: none
	ProvisioningLimit int           // 0: none
}

// BMC is how Ironic reaches the machine's management controller.
type BMC struct {
	Access                         access.Access
	Username, Password             string
	DisableCertificateVerification bool
	VerifyCA                       string
	DriverInfo                     map[string]string // merged last
	Rewrite                        bool              // credentials or address changed: send driver_info again and verify it
	Untried                        bool              // said for the first time, after an import: an import causes no power request
}

// DeployImage is the ramdisk that Ironic boots on the machine; empty: the service's own.
type DeployImage struct {
	KernelURL, RamdiskURL, ISOURL, KernelAppendParams string
}

// CustomDeploy names a deploy step of the ramdisk that takes the place of writing an image.
type CustomDeploy struct {
	Method   string
	Args     map[string]any
	Priority int
}

// ConfigData is what the config drive holds.
type ConfigData struct {
	UserData    string
	VendorData  map[string]any
	NetworkData map[string]any
	MetaData    map[string]string
}

// Empty reports whether the user gave no data at all; then no config drive is made.
func (c ConfigData) Empty() bool {
	return c.UserData == "" && len(c.VendorData) == 0 && len(c.NetworkData) == 0 && len(c.MetaData) == 0
}

// Reprovision says what re-images a host that runs, and how.
type Reprovision struct {
	On             []string // image_url, image_checksum, …
	TriggersSHA256 string   // of reprovision_triggers; empty: none
	Method         string   // "redeploy", "rebuild"
	Deny           bool     // the record is protected while it is active
	Consent        bool     // the plan announced that the disk will be overwritten
	Record         bool     // what runs is the wanted image by the user's word: note it, deploy nothing
}

// Deletion says how a host ends.
type Deletion struct {
	Policy   string // "deprovision", "power_off", "detach"
	Force    bool   // give up on a step that failed four times, as upstream does
	PowerOff bool   // power the machine off
}

// NodeName is the name of a host's record: namespace and name as the baremetal-operator joins them.
func NodeName(namespace, name string) string { return namespace + "~" + name }

// claims is the name space of the claims that this provider makes (version 5 UUIDs).
var claims = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/terraform-metal3/terraform-provider-metal3/claim"))

// Claim is the instance_uuid with which the host resource claims its own host.
func Claim(namespace, name string) string {
	return uuid.NewSHA1(claims, []byte("host/"+namespace+"/"+name)).String()
}

// MachineClaim is the instance_uuid with which a cluster claims the host of one of its
// machines. The names are as Kubernetes and Ironic write them, without a slash.
func MachineClaim(namespace, cluster, machine string) string {
	return uuid.NewSHA1(claims, []byte("machine/"+namespace+"/"+cluster+"/"+machine)).String()
}

// claim is the instance_uuid that this host's deployment uses.
func (w Wanted) claim() string {
	if w.InstanceUUID != "" {
		return w.InstanceUUID
	}

	return Claim(w.Namespace, w.Name)
}
