// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// permitNotes is where the key store of the monitors says what an option was before it was set
// for the moment: a process that is killed cannot put it back, and the next one does.
const permitNotes = "metal3/permit/"

// previous is an option as it was.
type previous struct {
	Set   bool   `json:"set"`
	Value string `json:"value,omitempty"`
}

// noteBefore looks at an option, and notes what it is.
func noteBefore(ctx context.Context, c *api.Cluster, option string) (previous, error) {
	var was previous

	all, err := c.ConfigDump(ctx)
	if err != nil {
		return was, fmt.Errorf("look at %s: %w", option, err)
	}

	for _, o := range all {
		if o.Section == "mon" && o.Mask == "" && o.Name == option {
			was = previous{Set: true, Value: o.Value}
		}
	}

	text, err := json.Marshal(was)
	if err == nil {
		err = c.ConfigKeySet(ctx, permitNotes+option, text)
	}

	if err != nil {
		return was, fmt.Errorf("note what %s is: %w", option, err)
	}

	return was, nil
}

// restore puts an option back, and then removes the note of it.
func (p previous) restore(ctx context.Context, c *api.Cluster, option string) error {
	var err error

	if p.Set {
		err = c.ConfigSet(ctx, "mon", option, p.Value)
	} else {
		err = c.ConfigRemove(ctx, "mon", option)
	}

	if err != nil {
		return err //nolint:wrapcheck // the caller says what for
	}

	return c.ConfigKeyRemove(ctx, permitNotes+option) //nolint:wrapcheck // the caller says what for
}

// putBack puts back an option that a run left set. The caller holds the token of permits.
func putBack(ctx context.Context, c *api.Cluster, option string) error {
	text, err := c.ConfigKeyGet(ctx, permitNotes+option)
	if errors.Is(err, api.ErrNotFound) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("look for a note of what %s was: %w", option, err)
	}

	var was previous
	if err := json.Unmarshal(text, &was); err != nil {
		return fmt.Errorf("%w: the note %s of what the option %s was: remove it, and look at the option", api.ErrAnswer, permitNotes+option, option)
	}

	if err := was.restore(ctx, c, option); err != nil {
		return fmt.Errorf("put back %s, which an earlier run left set: %w", option, err)
	}

	return nil
}

// leftovers puts back what earlier runs left set.
func leftovers(ctx context.Context, c *api.Cluster) (warnings []string) {
	leave, err := permits.Enter(ctx)
	if err != nil {
		return nil
	}
	defer leave()

	for _, option := range []string{allowDelete, allowSizeOne} {
		if err := putBack(ctx, c, option); err != nil {
			warnings = append(warnings, err.Error())
		}
	}

	return warnings
}
