// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

// ErrGone means that the service which owns the host says that it has no such host.
var ErrGone = errors.New("no such host")

// ErrUnknown means that the provider's configuration holds values that are not known
// before apply, so that nobody can be asked yet.
var ErrUnknown = errors.New("the provider's configuration is not known yet")

// Seen is what one look at a host showed. The record is spelled as Ironic spells it,
// whatever the backend.
type Seen struct {
	Node    ironic.Node
	Ports   []ironic.Port // nil where they were not asked for
	Journal Journal
}

// Backend is one way to reach machines: what this package needs of it, with the
// guarantees that the baremetal-operator asks of its provisioners.
//
// No method waits for a state: each sends at most the requests of one step and returns.
// Every method can be called again. ErrGone is returned only when the owner of the record
// itself says that there is none; errors that may pass are marked with wait.Transient.
type Backend interface {
	// Endpoint names the far side; it is recorded with each host.
	Endpoint() string

	// Refresh returns the record from the list that all readers of this moment share.
	Refresh(ctx context.Context, id string) (Seen, error)
	// Missing tells how many hosts a refresh found gone, and All what is there.
	Missing() int
	All(ctx context.Context) ([]Seen, error)
	// Forget drops the shared list; the next refresh reads it anew.
	Forget()

	// Look returns the record as it is now. The id may be a UUID or a node name.
	Look(ctx context.Context, id string) (Seen, error)
	// Glance returns a look that begins after this call and at most about within from now;
	// all who wait share it.
	Glance(ctx context.Context, id string, within time.Duration) (ironic.Glance, error)
	// ByMAC returns the host that owns a port with this MAC address, ErrGone where none does.
	ByMAC(ctx context.Context, mac string) (Seen, error)

	// Create makes the record under the identity that w carries, with all settings.
	Create(ctx context.Context, w Wanted, j Journal) (Seen, error)
	// Write brings settings and journal in line, in one request where that is possible, and
	// returns the record after it. Nothing is sent where nothing differs.
	Write(ctx context.Context, s Seen, w Wanted, j Journal, p Part) (Seen, error)
	// Differs names the settings that Write would change.
	Differs(s Seen, w Wanted) []string
	// EnsurePorts creates or mends the ports that are wanted and returns all of the host's.
	EnsurePorts(ctx context.Context, s Seen, w Wanted) ([]ironic.Port, error)
	// EnsureTraits sets the traits where w names any.
	EnsureTraits(ctx context.Context, s Seen, w Wanted) error

	// Start begins a transition and returns once it was accepted.
	Start(ctx context.Context, s Seen, w Wanted, verb ironic.Verb) error
	// Validate says why a deployment cannot begin, nil where it can.
	Validate(ctx context.Context, id string) error
	// Power asks for a power state.
	Power(ctx context.Context, id string, target ironic.Power) error
	// Maintain sets maintenance with a reason; an empty reason ends it.
	Maintain(ctx context.Context, id, reason string) error
	// Remove deletes the record; the machine is not touched.
	Remove(ctx context.Context, id string) error

	// Inventory returns the inspection's document, ErrGone where there is none.
	Inventory(ctx context.Context, id string) (json.RawMessage, error)
	// LastWords returns the most recent failures of the host's history, newest last.
	LastWords(ctx context.Context, id string) []string
	// Busy names the hosts that occupy a place of the capacity gate. The look is begun after this
	// call, at about within from now, and shared with all who wait.
	Busy(ctx context.Context, within time.Duration) ([]string, error)
	// Supports reports whether the far side has a feature; the error names what it needs.
	Supports(ctx context.Context, f Feature) error
}

// Feature is something that only newer far sides can do.
type Feature string

// The features that this package asks for.
const (
	FeatureDisablePowerOff Feature = "disable_power_off"
	FeatureAgentInspection Feature = "agent inspection"
	FeatureAbortDeploy     Feature = "abort of a deployment"
)

// Part says which part of the record a Write covers.
type Part int

// The parts of a record.
const (
	PartJournal  Part = iota // the journal alone
	PartSettings             // settings and journal
	PartDeploy               // settings, journal and what a deployment needs (claim, image, hints)
	PartUnclaim              // journal and the removal of our claim
	PartTenancy              // the note of a machine on the host that it has claimed
)

// Defaults are the provider-wide values that a host falls back to.
type Defaults struct {
	Namespace         string
	OwnerID           string
	Username          string                 // of BMCs whose host gives none
	Password          string                 //
	Credentials       map[string]Credentials // by BMC host name or address, before Username and Password
	BMCAccess         string                 // "auto", "direct" or "ironic": who may ask a BMC directly
	DeployKernelURL   string
	DeployRamdiskURL  string
	DeployISOURL      string
	ProvisioningLimit int // hosts busy at once; 0 means no limit
}

// UsernameFor is the user name of the BMC at an address whose host gives none.
func (d Defaults) UsernameFor(address string) string {
	a, err := access.Parse(address)
	if err != nil {
		return d.Username
	}

	if own := d.Credentials[strings.ToLower(a.Host)].Username; own != "" {
		return own
	}

	return d.Username
}

// Credentials of one BMC.
type Credentials struct{ Username, Password string }
