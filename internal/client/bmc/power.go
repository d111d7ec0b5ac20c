// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Power is the power state of a system.
type Power string

// The power states. Around a reset BMCs say nothing, null or a word of their own; all of
// that is unknown, and unknown is not off (metal-operator 594, 601).
const (
	PowerOn      Power = "on"
	PowerOff     Power = "off"
	PowerUnknown Power = ""
)

// Change is what to do to the power.
type Change string

// The changes of the power.
const (
	TurnOn          Change = "turn on"
	TurnOff         Change = "turn off" // at once
	ShutDown        Change = "shut down"
	Restart         Change = "restart" // at once; turns on what is off
	GracefulRestart Change = "restart gracefully"
)

// reset says how a change is done and what it leads to.
type reset struct {
	words  []schemas.ResetType // the first that the BMC allows
	target Power
}

var resets = map[Change]reset{
	TurnOn:          {[]schemas.ResetType{schemas.OnResetType, schemas.ForceOnResetType}, PowerOn},
	TurnOff:         {[]schemas.ResetType{schemas.ForceOffResetType}, PowerOff},
	ShutDown:        {[]schemas.ResetType{schemas.GracefulShutdownResetType}, PowerOff},
	Restart:         {[]schemas.ResetType{schemas.ForceRestartResetType, schemas.PowerCycleResetType}, PowerOn},
	GracefulRestart: {[]schemas.ResetType{schemas.GracefulRestartResetType}, PowerOn},
}

// Bounds of the waits, for callers whose context has no end.
const (
	powerLimit  = 10 * time.Minute // for the state that was asked for
	settleLimit = 30 * time.Second // for a state that is unknown before anything is asked
	lostLimit   = time.Minute      // for the effect of a request whose answer was lost
)

// rhythm is that of looking at the power. A BMC may be silent for some looks.
var rhythm = wait.Cadence{First: 500 * time.Millisecond, Factor: 1.4, Max: 5 * time.Second, Jitter: 0.1, Errors: 10}

func powerOf(system document) Power {
	switch strings.ToLower(system.text("PowerState")) {
	case "on":
		return PowerOn
	case "off":
		return PowerOff
	default:
		return PowerUnknown
	}
}

// Power returns the power state of the system, with one request once the system is known.
func (c *Client) Power(ctx context.Context) (Power, error) {
	doc, err := c.look(ctx)

	return powerOf(doc), err
}

// look reads the system that is meant.
func (c *Client) look(ctx context.Context) (document, error) {
	if c.known() == "" {
		if _, err := c.System(ctx, ""); err != nil {
			return nil, err
		}
	}

	a, err := c.get(ctx, "the system", c.known())

	return a.doc, err
}

// SetPower changes the power and waits until the BMC shows the new state.
//
// The button is pressed once. A lost answer is no reason to press it again: what counts is
// what the BMC shows afterwards.
func (c *Client) SetPower(ctx context.Context, change Change) error {
	r, known := resets[change]
	if !known {
		return fmt.Errorf("change the power: %q is no change", change)
	}

	system, err := c.settled(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", change, err)
	}

	power := powerOf(system)
	restart := change == Restart || change == GracefulRestart

	switch {
	case !restart && power == r.target:
		return nil
	case restart && power == PowerOff:
		r = resets[TurnOn]
	}

	if err := c.press(ctx, change, r, system); err != nil {
		return err
	}

	return c.until(ctx, change, r.target, powerLimit)
}

// settled waits a while for a power state that is known.
func (c *Client) settled(ctx context.Context) (document, error) {
	var system document

	short, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()

	err := wait.Until(short, rhythm, func(ctx context.Context) (wait.Verdict, string, error) {
		doc, err := c.look(ctx)
		if err != nil {
			return wait.Again, "", err
		}

		system = doc
		if powerOf(doc) == PowerUnknown {
			return wait.Again, seen(doc), nil
		}

		return wait.Done, "", nil
	})

	// A BMC that never tells its state can still be asked to change it.
	var late *wait.TimeoutError
	if errors.As(err, &late) && ctx.Err() == nil && system != nil {
		return system, nil
	}

	return system, err
}

// press sends the reset and follows its task.
func (c *Client) press(ctx context.Context, change Change, r reset, system document) error {
	action := system.object("Actions").object("#ComputerSystem.Reset")
	path := c.known()
	op := fmt.Sprintf("%s the system %s", change, path)

	word, err := c.word(ctx, r, action)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}

	target := cmp.Or(local(action.text("target")), path+"/Actions/ComputerSystem.Reset")

	a, err := c.change(ctx, path, "", request{
		op: op, method: http.MethodPost, path: target, payload: map[string]any{"ResetType": word},
	})

	var failed *RequestError

	switch {
	case err == nil:
		return c.follow(ctx, op, a, c.shows(r.target))
	case ctx.Err() != nil || !errors.As(err, &failed) || failed.unsent || errors.Is(err, ErrAuth):
		return err
	case failed.Status == 0:
		// It may have arrived, and it must not arrive twice.
		if c.until(ctx, change, r.target, lostLimit) != nil {
			return err
		}

		return nil
	}

	// BMCs refuse to turn on what is on: somebody else may have been quicker.
	if power, lookErr := c.Power(ctx); lookErr == nil && power == r.target && change != Restart && change != GracefulRestart {
		return nil
	}

	return err
}

// word chooses the reset type among those that the BMC allows.
func (c *Client) word(ctx context.Context, r reset, action document) (schemas.ResetType, error) {
	allowed := action.texts("ResetType@Redfish.AllowableValues")

	if info := local(action.text("@Redfish.ActionInfo")); len(allowed) == 0 && info != "" {
		if a, err := c.get(ctx, "the action", info); err == nil {
			for _, p := range a.doc.objects("Parameters") {
				if p.text("Name") == "ResetType" {
					allowed = p.texts("AllowableValues")
				}
			}
		}
	}

	for _, word := range r.words {
		if len(allowed) == 0 || slices.Contains(allowed, string(word)) {
			return word, nil
		}
	}

	return "", fmt.Errorf("the BMC allows only %s", strings.Join(allowed, ", "))
}

// until waits for a power state.
func (c *Client) until(ctx context.Context, change Change, target Power, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	if err := wait.Until(ctx, rhythm, c.shows(target)); err != nil {
		return fmt.Errorf("%s the system %s: %w", change, c.known(), err)
	}

	return nil
}

// shows returns a probe for a power state.
func (c *Client) shows(target Power) wait.Probe {
	return func(ctx context.Context) (wait.Verdict, string, error) {
		doc, err := c.look(ctx)
		if err != nil {
			return wait.Again, "", err
		}

		if powerOf(doc) == target {
			return wait.Done, "", nil
		}

		return wait.Again, seen(doc), nil
	}
}

// seen words the power state for the note of a wait.
func seen(system document) string {
	if word := system.text("PowerState"); word != "" {
		return "power state " + word
	}

	return "the BMC tells no power state"
}
