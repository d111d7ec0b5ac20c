// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// maxWords bounds what an error quotes of a command's words.
const maxWords = 400

// ErrCommand says that a command ran on the host and did not work.
var ErrCommand = errors.New("a command on the host failed")

// Host is one host, reached through remote. It is safe for concurrent use.
type Host struct{ host remote.Host }

// New returns the operations on a host.
func New(h remote.Host) *Host { return &Host{host: h} }

// Name implements [ceph.Host].
func (h *Host) Name() string { return h.host.Name() }

// script runs one of the fixed scripts, which must succeed, and returns what it printed.
func (h *Host) script(ctx context.Context, cmd remote.Command) ([]byte, error) {
	res, err := h.run(ctx, cmd)
	if err != nil {
		return nil, err
	}

	if res.Exit != 0 {
		return nil, h.failed(stepName(cmd), res)
	}

	return res.Stdout, nil
}

// run runs a command, whatever its exit status.
func (h *Host) run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	res, err := h.host.Run(ctx, cmd)

	return res, unreached(err) // it names host and step
}

// unreached marks the error of a host that nobody reached.
func unreached(err error) error {
	if errors.Is(err, remote.ErrUnreachable) && !errors.Is(err, ceph.ErrUnreachable) {
		return fmt.Errorf("%w: %w", ceph.ErrUnreachable, err)
	}

	return err
}

// failed is the error of a command that ran and did not work. It never quotes standard output: that
// of a look holds secrets, and a look may be killed at any time.
func (h *Host) failed(what string, res remote.Result) error {
	said := words(res.Stderr)
	if said == "" {
		said = "it said nothing"
	}

	return fmt.Errorf("%w: %s on %s (exit status %d): %s", ErrCommand, what, h.Name(), res.Exit, said)
}

// stepName names a command for people: a script by its first line.
func stepName(cmd remote.Command) string {
	if len(cmd.Args) > 0 {
		return cmd.Args[0][strings.LastIndexByte(cmd.Args[0], '/')+1:]
	}

	name, _, _ := strings.Cut(strings.TrimPrefix(cmd.Script, "# metal3: "), "\n")

	return name
}

// words makes one short line of what a command printed: its last words, without colours.
func words(raw []byte) string {
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}

		return r
	}, uncolour(strings.ToValidUTF8(string(raw), "?")))

	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxWords {
		text = "…" + strings.ToValidUTF8(text[len(text)-maxWords:], "")
	}

	return text
}

// uncolour takes out terminal sequences: Ceph's daemons colour their errors, even for nobody.
func uncolour(s string) string {
	var b strings.Builder

	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)

		if !found {
			return b.String()
		}

		s = strings.TrimLeft(after, "0123456789;")
		if s != "" {
			s = s[1:]
		}
	}
}
