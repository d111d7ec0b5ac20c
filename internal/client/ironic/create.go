// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// createRhythm spaces the tries of a creation whose answer was lost.
var createRhythm = wait.Cadence{First: time.Second, Factor: 2, Max: 5 * time.Second, Jitter: 0.1, Errors: 3}

// CreateNode enrolls a node under the UUID that it is given, or a new one.
//
// Because the UUID is ours, an answer that was lost does no harm: the node is looked for
// under it, and taken for ours when name and driver agree.
func (c *Client) CreateNode(ctx context.Context, create Create) (Node, error) {
	if create.UUID == "" {
		create.UUID = uuid.NewString()
	}

	if err := c.fits(ctx, create); err != nil {
		return Node{}, err
	}

	var (
		made Node
		last error
		lost bool
	)

	err := wait.Retry(ctx, createRhythm, func(ctx context.Context) error {
		if made, last = c.postNode(ctx, create); last == nil {
			return nil
		}

		taken := errors.Is(last, ErrConflict)
		if isUnsentError(last) || (!wait.IsTransient(last) && (!taken || !lost)) {
			return nil
		}

		found, err := c.Node(ctx, create.UUID)

		switch {
		case err == nil && found.Name == create.Name && found.Driver == create.Driver:
			made, last = found, nil
		case IsGone(err) && !taken:
			lost = true

			return last // marked: it did not arrive, send it again
		}

		return nil
	})
	if err != nil {
		return Node{}, err
	}

	return made, last
}

// fits refuses what Ironic is too old for before anything is sent.
func (c *Client) fits(ctx context.Context, create Create) error {
	if create.DisablePowerOff != nil {
		if err := c.Require(ctx, withDisablePower, "disable_power_off"); err != nil {
			return err
		}
	}

	if create.Interfaces["firmware"] != "" {
		return c.Require(ctx, withFirmware, "the firmware interface")
	}

	return nil
}

func (c *Client) postNode(ctx context.Context, create Create) (Node, error) {
	name := create.Name
	if name == "" {
		name = create.UUID
	}

	k := call{op: "create node " + name, method: http.MethodPost, path: "nodes", id: create.UUID, body: create.body()}

	a, err := c.write(ctx, k)

	return decoded(c, k, a, err, c.node)
}

func (create Create) body() map[string]any {
	body := map[string]any{"uuid": create.UUID, "driver": create.Driver}

	for key, value := range map[string]string{
		"name":            create.Name,
		"description":     create.Description,
		"conductor_group": create.ConductorGroup,
		"resource_class":  create.ResourceClass,
	} {
		if value != "" {
			body[key] = value
		}
	}

	for key, value := range map[string]map[string]any{
		"driver_info":  create.DriverInfo,
		"properties":   create.Properties,
		"extra":        create.Extra,
		"network_data": create.NetworkData,
	} {
		if len(value) > 0 {
			body[key] = value
		}
	}

	for kind, name := range create.Interfaces {
		if name != "" {
			body[kind+"_interface"] = name
		}
	}

	if create.AutomatedClean != nil {
		body["automated_clean"] = *create.AutomatedClean
	}

	if create.DisablePowerOff != nil {
		body["disable_power_off"] = *create.DisablePowerOff
	}

	return body
}
