// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// script runs several commands, so that they are one process for us. Outputs are told apart by
// a mark: on standard output lines of base64 stand before it, on standard error the words of the
// command, and its exit status after it. When no monitor answers, all others would wait as long
// for one: it ends. Nothing is written to files.
const script = `# metal3: ceph batch
m=$1
shift
command -v base64 >/dev/null || exit 126
exec 4>&1
one() {
  s=$({ { "$@" </dev/null 3>&- 4>&-; echo $? >&3; } | base64 >&4 3>&-; } 3>&1)
  echo "$m"
  printf '\n%s %s\n' "$m" "$s" >&2
  case $s in 1 | 110 | 126 | 127) exit 0 ;; esac
}
`

// maxScript is what fits into one argument of a process, with room for quotes of other shells.
const maxScript = 48 << 10

// Batch implements [api.Batcher]. When no monitor answers one of the commands, there are no
// answers.
func (c *CLI) Batch(ctx context.Context, cmds [][]byte) ([]api.Answer, error) {
	if len(cmds) == 0 {
		return nil, nil
	}

	limit := command.Within(ctx, c.cfg.Limit)
	lines := make([]line, len(cmds))

	var text strings.Builder

	text.WriteString(script)

	for i, cmd := range cmds {
		l, err := parse(cmd)
		if err != nil {
			return nil, err
		}

		lines[i] = l

		text.WriteString("one")

		for _, w := range c.argv(l, limit, false) {
			text.WriteString(" " + quote(w))
		}

		text.WriteString("\n")
	}

	if text.Len() > maxScript && len(cmds) > 1 {
		return c.halves(ctx, cmds)
	}

	mark := newMark()

	r, err := c.process(ctx, []string{"/bin/sh", "-c", text.String(), "sh", mark}, nil, c.cfg.Connect+limit+slack)
	if err != nil {
		return nil, c.explain(ctx, inCommand(cmds[0], err))
	}

	all, err := answers(lines, mark, r)

	return all, c.explain(ctx, err)
}

// halves is a batch that is too long for one.
func (c *CLI) halves(ctx context.Context, cmds [][]byte) ([]api.Answer, error) {
	first, err := c.Batch(ctx, cmds[:len(cmds)/2])
	if err != nil {
		return nil, err
	}

	second, err := c.Batch(ctx, cmds[len(cmds)/2:])
	if err != nil {
		return nil, err
	}

	return append(first, second...), nil
}

// answers takes the outputs of the script apart.
func answers(lines []line, mark string, r Result) ([]api.Answer, error) {
	outs := bytes.Split(r.Stdout, []byte(mark+"\n"))
	said := strings.Split(string(r.Stderr), "\n"+mark+" ")

	if len(outs) < 2 || len(outs) != len(said) || len(outs)-1 > len(lines) {
		return nil, fmt.Errorf("%w: %d outputs of %d commands, status %d: %s", api.ErrAnswer,
			len(outs)-1, len(lines), r.Exit, command.Last(command.Words(string(r.Stderr))))
	}

	all := make([]api.Answer, 0, len(lines))
	words := said[0]

	for i, out := range outs[:len(outs)-1] {
		status, rest, _ := strings.Cut(said[i+1], "\n")

		one, err := single(out, words, status)
		if err != nil {
			return nil, inCommand(lines[i].cmd, err)
		}

		var a api.Answer

		a.Out, a.Status, a.Err = lines[i].answer(one)
		all, words = append(all, a), rest
	}

	if last := all[len(all)-1]; len(all) < len(lines) {
		if last.Err == nil {
			return nil, fmt.Errorf("%w: %d answers to %d commands", api.ErrAnswer, len(all), len(lines))
		}

		return nil, last.Err
	}

	return all, nil
}

// single is the result of one command of the script.
func single(out []byte, words, status string) (Result, error) {
	exit, err := strconv.Atoi(strings.TrimSpace(status))
	if err != nil {
		return Result{}, fmt.Errorf("%w: %q as exit status", api.ErrAnswer, status)
	}

	raw := slices.DeleteFunc(bytes.Clone(out), func(b byte) bool { return b == '\n' || b == '\r' })

	plain, err := base64.StdEncoding.AppendDecode(nil, raw)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", api.ErrAnswer, err)
	}

	return Result{Stdout: plain, Stderr: []byte(words), Exit: exit}, nil
}

// quote makes a word that a POSIX shell takes as it is.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// newMark is a line that no output holds.
func newMark() string {
	var b [12]byte

	_, _ = rand.Read(b[:]) // it never fails

	return "metal3-" + hex.EncodeToString(b[:])
}
