// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
)

// step is one command.
type step struct {
	do     []string
	region string
	partly bool // a refusal may have done a part of it
}

// steps take a device out of use: first what the system may refuse.
func steps(m Memory, regions []Region) []step {
	var offline, disable, destroy []step

	for _, r := range regions {
		for _, d := range r.Devices {
			if d.RAM() {
				offline = append(offline, step{do: []string{"daxctl", "offline-memory", d.Name}, region: r.Name, partly: true})
			}

			if d.Driver != "" {
				disable = append(disable, step{do: []string{"daxctl", "disable-device", d.Name}, region: r.Name})
			}
		}

		destroy = append(destroy,
			step{do: []string{"cxl", "disable-region", r.Name}, region: r.Name},
			step{do: []string{"cxl", "destroy-region", r.Name}, region: r.Name},
		)
	}

	return append(slices.Concat(offline, disable, destroy), step{do: []string{"cxl", "disable-memdev", m.Name}})
}

// regions are what a memory device serves.
func (h *host) regions(ctx context.Context, m Memory) ([]Region, error) {
	out, err := h.script(ctx, scriptRegions, m.Name)
	if err != nil {
		return nil, err
	}

	return parseRegions(out)
}

// Release implements [Ops].
func (h *host) Release(ctx context.Context, m Memory) (r Released, err error) {
	r = Released{Memory: m}

	if r.Regions, err = h.regions(ctx, m); err != nil {
		return r, fmt.Errorf("look for the regions of memory device %s: %w", m.Label(), err)
	}

	for _, region := range r.Regions {
		if err := h.refuse(ctx, m, region); err != nil {
			return r, err
		}
	}

	todo := steps(m, r.Regions)

	for i, s := range todo {
		err := h.tool(ctx, s.do...)
		if err == nil {
			continue
		}

		done := todo[:i]
		// What was refused was not done; what was lost may have been.
		if s.partly || (!errors.Is(err, ErrInUse) && !errors.Is(err, ErrNoTools) && !errors.Is(err, ErrCommand)) {
			done = todo[:i+1]
		}

		err = fmt.Errorf("release memory device %s of %s: %w", m.Label(), h.Name(), err)
		if back := h.undo(ctx, m, r.Regions, done); back != nil {
			err = fmt.Errorf("%w (and %w: %w)", err, ErrNotUndone, back)
		}

		return r, err
	}

	return r, nil
}

// refuse looks at what can be known before anything is changed. Who uses memory of the system
// only shows when it is taken offline.
func (h *host) refuse(ctx context.Context, m Memory, r Region) error {
	if r.Ways > 1 {
		return fmt.Errorf("%w: %s of memory device %s is spread over %d devices", ErrInUse, r.Name, m.Label(), r.Ways)
	}

	if r.Type == "ram" && !slices.ContainsFunc(r.Devices, func(d Dax) bool { return d.Driver != "" && !d.RAM() }) {
		return nil
	}

	out, err := h.script(ctx, scriptHolders, r.Name)
	if err != nil {
		return fmt.Errorf("look who uses %s of memory device %s: %w", r.Name, m.Label(), err)
	}

	if said := strings.TrimSpace(out); said != "" {
		return fmt.Errorf("%w: %s of memory device %s: %s", ErrInUse, r.Name, m.Label(),
			hostcmd.Words([]byte(strings.ReplaceAll(said, "\n", ", "))))
	}

	return nil
}
