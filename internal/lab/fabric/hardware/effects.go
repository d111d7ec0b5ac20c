// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package hardware

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	effects = "fabric_effects"
	counter = "fabric"
	lastKey = "last_effect"
)

// The kinds of effects.
const (
	KindAttach  = "attach"
	KindDetach  = "detach"
	KindRefused = "refused" // an order that came while the machine was busy
)

// Effect is a change of the fabric, or an order that met a busy machine.
type Effect struct {
	At      time.Time `json:"at"`
	Until   time.Time `json:"until"` // the change is done
	Machine string    `json:"machine"`
	Kind    string    `json:"kind"`
	Device  string    `json:"device,omitempty"`
	Order   int       `json:"order"`             // effects of one order have one number
	Foreign bool      `json:"foreign,omitempty"` // by somebody who is not the one under test
}

func (e Effect) String() string {
	return fmt.Sprintf("%s %s %s on %s (%s)", e.At.Format("15:04:05.000"), e.Kind, e.Device, e.Machine, e.Until.Sub(e.At))
}

// Refuse notes an order that was refused because the machine was busy.
func Refuse(tx store.Tx, now time.Time, machineName string) error {
	return note(tx, Effect{At: now, Until: now, Machine: machineName, Kind: KindRefused})
}

func note(tx store.Tx, e Effect) error {
	last, err := lastEffect(tx)
	if err != nil {
		return err
	}

	last++

	if e.Order == 0 {
		e.Order = last
	}

	if err := tx.Put(counter, lastKey, last); err != nil {
		return err
	}

	return tx.Put(effects, fmt.Sprintf("%012d", last), e)
}

func lastEffect(tx store.Tx) (last int, err error) {
	_, err = tx.Get(counter, lastKey, &last)

	return last, err
}

// Effects returns what has happened, in order.
func Effects(tx store.Tx) ([]Effect, error) {
	var all []Effect

	err := tx.Each(effects, func(key string, raw json.RawMessage) error {
		var e Effect
		if err := json.Unmarshal(raw, &e); err != nil {
			return fmt.Errorf("lab effect %s: %w", key, err)
		}

		all = append(all, e)

		return nil
	})

	return all, err
}

// Overlap is two orders for one machine at the same time.
type Overlap struct{ First, Second Effect }

func (o Overlap) String() string { return o.First.String() + " and " + o.Second.String() }

// Overlaps finds the orders that came while another one for the same machine was carried out.
// What somebody else did is nobody's fault.
func Overlaps(all []Effect) []Overlap {
	var out []Overlap

	running := map[string]Effect{}

	for _, e := range all {
		if e.Foreign {
			continue
		}

		before, ok := running[e.Machine]
		if ok && e.At.Before(before.Until) && e.Order != before.Order {
			out = append(out, Overlap{before, e})
		}

		if !ok || e.Until.After(before.Until) {
			running[e.Machine] = e
		}
	}

	return out
}
