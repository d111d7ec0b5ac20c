// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package conductor is what Ironic's conductor does, in one transaction of the lab's store: it
// takes a node through the stages of a verb by the clock, changes its machine at each, keeps
// power states in step, and knows drivers and their interfaces.
package conductor

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// Settings say how the conductor behaves.
type Settings struct {
	Host             string        // its name
	Newest           int           // the newest API version, 1.newest, of the server it belongs to
	Pace             time.Duration // the unit in which transitions take time
	CallbackTimeout  time.Duration // ends the wait for a ramdisk that does not call back
	PowerSync        time.Duration // between two looks at a machine's power
	NoAutomatedClean bool          // for nodes that do not say
}

// Conductor is Ironic's conductor in one transaction.
type Conductor struct {
	record.Repo
	Settings

	Now   time.Time
	Down  bool                        // it is dead
	fleet map[string]*machine.Machine // machines loaded so far, by the address they were asked for
}

// New returns the conductor of a transaction.
func New(r record.Repo, s Settings) (*Conductor, error) {
	down, err := r.Stopped()

	return &Conductor{Repo: r, Settings: s, Now: time.Now().UTC(), Down: down, fleet: map[string]*machine.Machine{}}, err
}

// SettleAll does what has become due on any node since the last request.
func (c *Conductor) SettleAll() error {
	if c.Down {
		return nil
	}

	ids, err := c.Overdue(c.Now)
	if err != nil || len(ids) == 0 {
		return err
	}

	if !c.Writes {
		return record.ErrReadOnly
	}

	for _, id := range ids {
		n, err := c.Node(id)
		if err != nil {
			return err
		}

		if err := c.settle(n); err != nil {
			return err
		}
	}

	return nil
}

// Lock refuses a change of a node that a conductor works on. Real Ironic tries for some
// seconds before it says so.
func (c *Conductor) Lock(n *record.Node) error {
	if host := n.ReservedBy(c.Host); host != "" {
		return fault.Locked(n.UUID, host)
	}

	if c.Down {
		return fault.Refuse(http.StatusNotFound, "%s", noConductor(n))
	}

	return nil
}

func noConductor(n *record.Node) string {
	return fmt.Sprintf(`No valid host was found. Reason: No conductor service registered which supports driver %s `+
		`for conductor group "%s".`, n.Driver, n.ConductorGroup)
}

// ConductorOf is the conductor that takes care of a node: nobody, while it is stopped.
func (c *Conductor) ConductorOf(n *record.Node) string {
	if c.Down || Drivers[n.Driver] == nil {
		return ""
	}

	return c.Host
}

// stuck are the states that a conductor cannot resume when it was dead in between.
var stuck = []string{
	state.Deploying, state.Cleaning, state.Verifying, state.Inspecting, state.Adopting, state.Rescuing, state.Unrescuing,
	state.Deleting, state.Servicing,
}

// Wake brings a dead conductor back. Nodes that it was working on have failed, and those
// that waited for a ramdisk wait on.
func (c *Conductor) Wake() error {
	if err := c.Restart(); err != nil {
		return err
	}

	all, err := c.Nodes()
	if err != nil {
		return err
	}

	for _, n := range all {
		if n.Walk == nil || !slices.Contains(stuck, n.ProvisionState) {
			continue
		}

		why := fmt.Sprintf("Operation was aborted by a restart of the conductor while the node was in state %s", n.ProvisionState)
		if err := c.abandon(n, why, c.Now); err != nil {
			return err
		}

		if err := c.SaveNode(n); err != nil {
			return err
		}
	}

	return nil
}
