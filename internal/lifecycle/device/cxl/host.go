// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// maxWords bounds what an error quotes of a command's words.
const maxWords = 300

// exitNoCommand is the exit status of a shell that does not find a command.
const exitNoCommand = 127

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
	_, err := h.script(ctx, scriptRescan)

	return err
}

// script runs one of the fixed scripts and returns what it printed.
func (h *host) script(ctx context.Context, text string, params ...string) (string, error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "# metal3: "), "\n")

	res, err := h.Run(ctx, remote.Command{Script: text, Params: params})
	if err != nil {
		return "", h.lost(name, err)
	}

	if res.Exit != 0 {
		return "", fmt.Errorf("%w: %s on %s (exit status %d): %s", ErrCommand, name, h.Name(), res.Exit, words(res.Stderr))
	}

	return string(res.Stdout), nil
}

// tool runs cxl or daxctl. What they refuse is in use.
func (h *host) tool(ctx context.Context, args ...string) error {
	res, err := h.Run(ctx, remote.Command{Args: args})

	switch {
	case errors.Is(err, remote.ErrNoCommand), err == nil && res.Exit == exitNoCommand:
		return fmt.Errorf("%w: %s on %s; install ndctl, cxl and daxctl there", ErrNoTools, args[0], h.Name())
	case err != nil:
		return h.lost(strings.Join(args, " "), err)
	case res.Exit != 0:
		said := words(append(res.Stderr, res.Stdout...))

		return fmt.Errorf("%w: %s on %s (exit status %d): %s", ErrInUse, strings.Join(args, " "), h.Name(), res.Exit, said)
	default:
		return nil
	}
}

// lost is the error of a command that left no result.
func (h *host) lost(what string, err error) error {
	if errors.Is(err, remote.ErrUnreachable) || errors.Is(err, remote.ErrLost) {
		return fmt.Errorf("%s: %w: %w", what, ErrUnreachable, err)
	}

	return fmt.Errorf("%s on %s: %w", what, h.Name(), err)
}

// words makes one short line of what a command printed.
func words(raw []byte) string {
	s := strings.Join(strings.Fields(strings.ToValidUTF8(string(raw), "?")), " ")
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:maxWords], "") + "…"
	}

	if s == "" {
		return "it said nothing"
	}

	return s
}

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
			r.Devices = append(r.Devices, Dax{Name: f[1], RAM: f[3] == "kmem"})
		default:
			return nil, fmt.Errorf("%w: %q is no region", ErrCommand, words([]byte(line)))
		}
	}

	return all, nil
}
