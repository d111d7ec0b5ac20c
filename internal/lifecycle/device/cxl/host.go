// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// host are the operations on one host.
type host struct{ remote.Host }

// New returns the operations on a host.
func New(h remote.Host) Ops { return &host{h} }

// List implements [Ops].
func (h *host) List(ctx context.Context) ([]Memory, error) {
	out, err := h.script(ctx, scriptList)
	if err != nil {
		return nil, err
	}

	return parseList(out), nil
}

// Rescan implements [Ops].
func (h *host) Rescan(ctx context.Context) error {
	_, err := h.script(ctx, hostcmd.Rescan)

	return err
}

// script runs one of the fixed scripts and returns what it printed.
func (h *host) script(ctx context.Context, text string, params ...string) (string, error) {
	name := hostcmd.ScriptName(text)

	res, err := h.Run(ctx, remote.Command{Script: text, Params: params})
	if err != nil {
		return "", h.lost(name, err)
	}

	if res.Exit != 0 {
		return "", fmt.Errorf("%w: %s on %s (exit status %d): %s", ErrCommand, name, h.Name(), res.Exit, words(res.Stderr))
	}

	return string(res.Stdout), nil
}

// misuse are words with which the tools, and the kernel below them, say that they did not even
// try. What they refuse in other words is in use.
var misuse = []string{
	"usage:", "unknown option", "unknown command", "unknown switch", "not a cxl command", "not a daxctl command",
	"permission denied", "not permitted", "must be root", "no such device", "no such file", "not supported",
}

// refusal is the kind of failure that the words of cxl or daxctl tell.
func refusal(said string) error {
	low := strings.ToLower(said)
	if !strings.Contains(low, "busy") && slices.ContainsFunc(misuse, func(w string) bool { return strings.Contains(low, w) }) {
		return ErrCommand
	}

	return ErrInUse
}

// tool runs cxl or daxctl.
func (h *host) tool(ctx context.Context, args ...string) error {
	res, err := h.Run(ctx, remote.Command{Args: args})

	switch {
	case err == nil && res.Exit == hostcmd.NoCommand:
		return fmt.Errorf("%w: %s on %s; install ndctl, cxl and daxctl there", ErrNoTools, args[0], h.Name())
	case err != nil:
		return h.lost(strings.Join(args, " "), err)
	case res.Exit != 0:
		said := words(append(res.Stderr, res.Stdout...))

		return fmt.Errorf("%w: %s on %s (exit status %d): %s", refusal(said), strings.Join(args, " "), h.Name(), res.Exit, said)
	default:
		return nil
	}
}

// lost is the error of a command that left no result. Only a host that nobody reached counts
// as unreachable: skip_drain = "if_unreachable" takes the device from it. What was lost on the
// way or in between may work at the next try.
func (h *host) lost(what string, err error) error {
	said := fmt.Errorf("%s on %s: %w", what, h.Name(), err)

	switch {
	case errors.Is(err, remote.ErrUnreachable):
		return fmt.Errorf("%s: %w: %w", what, ErrUnreachable, err)
	case errors.Is(err, remote.ErrLost), errors.Is(err, remote.ErrBastion), errors.Is(err, remote.ErrHandshake):
		return wait.Transient(said)
	default:
		return said
	}
}

// words are what a command printed.
func words(raw []byte) string { return cmp.Or(hostcmd.Words(raw), "it said nothing") }

// parseList reads what scriptList prints.
func parseList(out string) []Memory {
	var all []Memory

	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 || !strings.HasPrefix(f[0], "mem") {
			continue
		}

		m := Memory{Name: f[0]}
		if len(f) > 1 && f[1] != "-" {
			m.Serial = f[1]
		}

		for _, size := range f[min(len(f), 2):] {
			if n, err := strconv.ParseInt(size, 0, 64); err == nil && n > 0 && m.Bytes+n > 0 {
				m.Bytes += n
			}
		}

		all = append(all, m)
	}

	return all
}

// parseRegions reads what scriptRegions prints. It is strict: a region that is not understood
// must not be destroyed.
func parseRegions(out string) ([]Region, error) {
	var all []Region

	for line := range strings.Lines(out) {
		f := strings.Fields(line)

		switch {
		case len(f) == 0:
		case f[0] == "region" && len(f) == 5:
			ways, err := strconv.Atoi(f[4])
			if err != nil || ways < 1 {
				return nil, fmt.Errorf("%w: region %s has %q ways", ErrCommand, words([]byte(f[1])), words([]byte(f[4])))
			}

			all = append(all, Region{Name: f[1], Type: f[2], Size: f[3], Ways: ways})
		case f[0] == "dax" && len(f) == 4 && len(all) > 0 && all[len(all)-1].Name == f[2]:
			r := &all[len(all)-1]
			r.Devices = append(r.Devices, Dax{Name: f[1], Driver: strings.TrimPrefix(f[3], "-")})
		default:
			return nil, fmt.Errorf("%w: %q is no region", ErrCommand, words([]byte(line)))
		}
	}

	return all, nil
}
