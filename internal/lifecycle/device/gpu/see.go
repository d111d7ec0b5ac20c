// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Before is what was on a host before a GPU was attached: what is new afterwards is the
// GPU. The zero value remembers nothing, so that everything is new.
type Before struct {
	PCI   []string `json:"pci,omitempty"`   // bus ids
	UUIDs []string `json:"uuids,omitempty"` // of GPUs, draining ones included
}

// Sight is what one look for a GPU saw.
type Sight struct {
	GPU     GPU
	Visible bool   // the driver shows the GPU: it can be used
	Note    string // what is missing, where it is not visible
}

// Remember looks at a host before a GPU is attached. It works without a loaded driver.
func Remember(ctx context.Context, ops Ops) (Before, error) {
	bus, err := ops.PCI(ctx)
	if err != nil {
		return Before{}, fmt.Errorf("look at the PCI bus of %s: %w", ops.Name(), err)
	}

	present, err := ops.Present(ctx)
	if err != nil {
		return Before{}, fmt.Errorf("look at the GPUs of %s: %w", ops.Name(), err)
	}

	b := Before{PCI: bus}

	for _, g := range present {
		if g.UUID != "" {
			b.UUIDs = append(b.UUIDs, g.UUID)
		}
	}

	return b, nil
}

// isNew reports whether a GPU was not there before. An address counts only where the GPU
// has no UUID: a GPU may come to the address of another.
func (b Before) isNew(g GPU) bool {
	if g.UUID != "" {
		return !slices.ContainsFunc(b.UUIDs, func(u string) bool { return sameUUID(u, g.UUID) })
	}

	return !slices.Contains(b.PCI, g.BusID)
}

// See looks once whether a GPU is there. The id is the GPU's UUID as the fabric told it;
// where it is empty, or a serial number that no driver shows, the GPU is the one that is
// new since before, if exactly one is.
//
// A GPU that the driver has not initialised yet has no UUID: it is made to, and looked at
// again in the same call.
func See(ctx context.Context, ops Ops, id string, before Before) (Sight, error) {
	sight, fresh, err := glance(ctx, ops, id, before)
	if sight.Visible || !fresh || ctx.Err() != nil {
		return sight, err
	}

	if err := ops.Init(ctx); err != nil {
		sight.Note = fmt.Sprintf("a new GPU is on the bus, and the driver does not take it: %v", err)

		return sight, keep(err)
	}

	sight, _, err = glance(ctx, ops, id, before)

	return sight, err
}

// glance looks once. Fresh means that a new GPU is there which has no UUID yet, or which
// the driver does not show.
func glance(ctx context.Context, ops Ops, id string, before Before) (s Sight, fresh bool, err error) {
	visible, smi := ops.Visible(ctx)
	if keep(smi) != nil {
		return Sight{}, false, fmt.Errorf("look for GPUs on %s: %w", ops.Name(), smi)
	}

	present, err := ops.Present(ctx)
	if err != nil {
		return Sight{}, false, fmt.Errorf("look for GPUs on %s: %w", ops.Name(), err)
	}

	found, note := pick(merge(visible, present), id, before)
	if found.UUID != "" && has(visible, found.UUID) {
		return Sight{GPU: found, Visible: true}, false, nil
	}

	s = Sight{GPU: found, Note: note}

	bare, err := bareBus(ctx, ops, present, before)
	if err != nil {
		return s, false, err
	}

	switch {
	case smi != nil:
		s.Note = smi.Error()
	case found.UUID != "":
		s.Note = fmt.Sprintf("the kernel has GPU %s, and nvidia-smi does not show it (it may be draining)", found.Label())
	case len(bare) > 0:
		s.Note = fmt.Sprintf("a new device is on the PCI bus at %s, and the driver has not taken it", strings.Join(bare, ", "))
	}

	return s, found.UUID != "" || uninitialised(present) || len(bare) > 0, nil
}

// keep returns an error unless it only says that a command failed, which may pass while a
// driver starts.
func keep(err error) error {
	if errors.Is(err, ErrUnreachable) || (!errors.Is(err, ErrCommand) && !errors.Is(err, ErrNoDriver)) {
		return err
	}

	return nil
}

// pick finds the GPU with a UUID, or, where the id need not be one, the only new one.
func pick(all []GPU, id string, before Before) (GPU, string) {
	if g, ok := find(all, id); ok {
		return g, ""
	}

	if isUUID(id) {
		return GPU{Minor: -1}, fmt.Sprintf("no GPU %s among the %d of the host", id, len(all))
	}

	var fresh []GPU

	for _, g := range all {
		if before.isNew(g) {
			fresh = append(fresh, g)
		}
	}

	switch len(fresh) {
	case 1:
		return fresh[0], "the new GPU has no UUID yet"
	case 0:
		return GPU{Minor: -1}, fmt.Sprintf("no new GPU among the %d of the host", len(all))
	default:
		return GPU{Minor: -1}, fmt.Sprintf("%d GPUs are new on the host, and the fabric did not say which it attached", len(fresh))
	}
}

// bareBus lists the new addresses on the bus which the kernel driver does not have.
func bareBus(ctx context.Context, ops Ops, present []GPU, before Before) ([]string, error) {
	bus, err := ops.PCI(ctx)
	if err != nil {
		return nil, fmt.Errorf("look at the PCI bus of %s: %w", ops.Name(), err)
	}

	return slices.DeleteFunc(slices.Clone(bus), func(id string) bool {
		return slices.Contains(before.PCI, id) || slices.ContainsFunc(present, func(g GPU) bool { return g.BusID == id })
	}), nil
}

// uninitialised reports whether a GPU without a UUID is there that may be the new one. Its
// address may have been another GPU's before.
func uninitialised(present []GPU) bool {
	return slices.ContainsFunc(present, func(g GPU) bool { return g.UUID == "" })
}

// merge adds what the kernel knows of the GPUs that the driver shows, and the ones that
// only the kernel has.
func merge(visible, present []GPU) []GPU {
	out := slices.Clone(present)

	for _, v := range visible {
		i := slices.IndexFunc(out, func(g GPU) bool {
			return (v.UUID != "" && sameUUID(g.UUID, v.UUID)) || (g.UUID == "" && g.BusID != "" && g.BusID == v.BusID)
		})
		if i < 0 {
			out = append(out, v)

			continue
		}

		if out[i].UUID == "" {
			out[i].UUID = v.UUID
		}

		if out[i].BusID == "" {
			out[i].BusID = v.BusID
		}
	}

	return out
}

// find returns the GPU with a UUID.
func find(all []GPU, id string) (GPU, bool) {
	for _, g := range all {
		if id != "" && sameUUID(g.UUID, id) {
			return g, true
		}
	}

	return GPU{Minor: -1}, false
}

func has(all []GPU, id string) bool {
	_, ok := find(all, id)

	return ok
}

// isUUID reports whether an id is for certain a GPU's UUID: some fabrics tell a serial number
// of their own, and some the UUID without what nvidia-smi prints in front.
func isUUID(id string) bool { return bareUUID(id) != strings.ToLower(id) }

// uuidPattern is the form of a UUID, with what nvidia-smi prints in front or without.
var uuidPattern = regexp.MustCompile(`(?i)^(gpu-)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// looksLikeUUID reports whether an id has the form of a UUID: a GPU that shows another is
// another GPU.
func looksLikeUUID(id string) bool { return isUUID(id) || uuidPattern.MatchString(id) }

// bareUUID is a UUID in lower case without "GPU-".
func bareUUID(id string) string { return strings.TrimPrefix(strings.ToLower(id), "gpu-") }

// sameUUID compares UUIDs of GPUs, whose letters some tools print in upper case.
func sameUUID(a, b string) bool { return a != "" && bareUUID(a) == bareUUID(b) }
