// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/access"
)

// ExistsError says that there is a record already which is not ours to go on with.
type ExistsError struct {
	Name, ID string
	Why      string // a clause: why it cannot be taken over
	MAC      string // set where the MAC address led to it
}

func (e *ExistsError) Error() string {
	if e.MAC != "" {
		return fmt.Sprintf("MAC address %s belongs to node %s (%s): %s", e.MAC, e.Name, e.ID, e.Why)
	}

	return fmt.Sprintf("node %s exists already (%s): %s", e.Name, e.ID, e.Why)
}

// lostWindow is how long after the end of an apply its result may be taken over by another
// Create of the very same configuration: the state of a Terraform that was killed between
// our answer and its write to disk.
const lostWindow = 15 * time.Minute

// register makes the record, or goes on with what an earlier, unfinished Create of the
// same owner left. It never takes over a host that somebody else has.
func (r *Run) register(ctx context.Context) (Seen, error) {
	w := r.Wanted

	if w.BootMAC != "" {
		other, err := r.Backend.ByMAC(ctx, w.BootMAC)

		switch {
		case err == nil && other.Node.Name != "" && other.Node.Name != NodeName(w.Namespace, w.Name):
			return Seen{}, &ExistsError{other.Node.Name, other.Node.UUID, "two hosts cannot have one address", w.BootMAC}
		case err == nil && other.Node.Name == "":
			return r.takeOver(ctx, other)
		case err != nil && !gone(err):
			return Seen{}, fmt.Errorf("look for a host with MAC address %s: %w", w.BootMAC, err)
		}
	}

	j := Journal{Phase: PhaseRegistering, PhaseStarted: stamp(time.Now().Truncate(time.Second))}.settings(w)

	seen, err := r.Backend.Create(ctx, w, j)
	if errors.Is(err, ironic.ErrConflict) {
		return r.resume(ctx, err)
	}

	if err != nil {
		return Seen{}, err
	}

	r.mem.provedOwned = true
	r.log(ctx, "Registered", map[string]any{"node_uuid": seen.Node.UUID, "event": "Registered"})

	// A port that cannot be made (its MAC address belongs to another node) must not leave a
	// record behind that nobody knows: the caller records the id before it sees the error.
	ports, err := r.Backend.EnsurePorts(ctx, seen, w)
	if err != nil {
		return seen, err
	}

	seen.Ports = ports

	return seen, nil
}

// resume looks at the record that has our name and decides whether it is ours to go on with.
func (r *Run) resume(ctx context.Context, conflict error) (Seen, error) {
	w := r.Wanted

	seen, err := r.Backend.Look(ctx, NodeName(w.Namespace, w.Name))
	if gone(err) {
		return Seen{}, conflict // something else than the name was taken
	}

	if err != nil {
		return Seen{}, err
	}

	if why := Resumable(seen, w, time.Now()); why != "" {
		return Seen{}, &ExistsError{Name: seen.Node.Name, ID: seen.Node.UUID, Why: why}
	}

	r.log(ctx, "goes on with what an earlier run left", map[string]any{"node_uuid": seen.Node.UUID, "phase": string(seen.Journal.Phase), "ironic_state": string(seen.Node.ProvisionState)})
	r.Wanted.ID = seen.Node.UUID
	r.Wanted.BMC.Rewrite = true // the password may have been the reason why it was not finished
	r.mem.provedOwned = true

	if !Resting(seen.Node.ProvisionState) {
		return seen, nil
	}

	// A run that was killed after it made the record made no port: a network boot needs it.
	if seen.Ports, err = r.Backend.EnsurePorts(ctx, seen, w); err != nil {
		return seen, err
	}

	return seen, nil
}

// Resumable says why a record of the same name may not be taken over by a Create; empty
// means that it may: an unfinished Create of the same owner left it, or nobody ever did
// anything with it, and the machine is the same.
func Resumable(s Seen, w Wanted, now time.Time) string {
	j, n := s.Journal, s.Node
	fresh := n.ProvisionState == ironic.Enroll || n.ProvisionState == ironic.Verifying || n.ProvisionState == ironic.Manageable

	switch {
	case j.Known() && !j.Ours(w.OwnerID):
		return "it belongs to owner_id " + quoted(j.OwnerID)
	case !sameBMC(s, w.BMC.Access):
		return "it has another BMC address; import it, or choose another name"
	case !j.Known() && fresh && n.InstanceUUID == "":
		return ""
	case !j.Known():
		return "it was not made by this provider; import it with its UUID"
	case !j.Phase.Finished():
		return ""
	case j.Fingerprint == w.Fingerprint() && recent(j.PhaseStarted, now):
		return ""
	default:
		return "it is a finished host (" + string(j.Phase) + "); import it with its UUID, or choose another name"
	}
}

func recent(started string, now time.Time) bool {
	at, err := time.Parse(time.RFC3339Nano, started)

	return err == nil && now.Sub(at) < lostWindow
}

// sameBMC compares what the record and the configuration say of the BMC, without credentials.
func sameBMC(s Seen, a access.Access) bool {
	for key, want := range a.DriverInfo {
		if have := s.Node.DriverInfo[key]; fmt.Sprint(have) != fmt.Sprint(want) {
			return false
		}
	}

	return true
}

// takeOver gives a nameless record, found by its MAC address, our name and settings.
func (r *Run) takeOver(ctx context.Context, other Seen) (Seen, error) {
	if other.Journal.Known() || other.Node.InstanceUUID != "" || !Resting(other.Node.ProvisionState) {
		return Seen{}, &ExistsError{"without a name", other.Node.UUID, "it is in use", r.Wanted.BootMAC}
	}

	j := Journal{Phase: PhaseRegistering, PhaseStarted: stamp(time.Now().Truncate(time.Second))}.settings(r.Wanted)
	r.Wanted.ID = other.Node.UUID
	r.Wanted.BMC.Rewrite = true
	r.mem.provedOwned = true

	return r.write(ctx, other, j, PartSettings)
}

func gone(err error) bool { return errors.Is(err, ErrGone) }
