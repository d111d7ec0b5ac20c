// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package cli speaks to a Ceph cluster through the ceph command of one of its hosts: for hosts
// whose Python has no librados, or whose Ceph is in a container.
//
// Each command is a process there, which connects anew. Its arguments can be read by all users
// of the host: secrets belong into the input buffer. How a process is run on a host is not this
// package's business.
package cli

import (
	"context"
	"fmt"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// slack is how much longer than the tool itself a process may take: it tells more than one
// that is ended.
const slack = 5 * time.Second

// Result is what a process left.
type Result struct {
	Stdout []byte
	Stderr []byte
	Exit   int
}

// Run runs a process on the host, and ends it with all that it started when the context ends
// or the limit has passed. The error says that there is no result.
type Run func(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (Result, error)

// Config says how the host reaches its cluster.
type Config = command.Config

// CLI is a [api.Commander].
type CLI struct {
	run  Run
	cfg  Config
	tool []string
}

var (
	_ api.Commander = (*CLI)(nil)
	_ api.Batcher   = (*CLI)(nil)
)

// New returns the commander. It runs nothing. The tool is the ceph command, with what stands
// before it; none means ceph.
func New(run func(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (Result, error), cfg Config, tool ...string) *CLI {
	if len(tool) == 0 {
		tool = []string{"ceph"}
	}

	return &CLI{run: run, cfg: cfg.WithDefaults(), tool: tool}
}

// Close implements [api.Commander]. There is no session.
func (*CLI) Close() error { return nil }

// MonCommand implements [api.Commander].
func (c *CLI) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	return c.command(ctx, cmd, nil)
}

// MonCommandWithInputBuffer implements [api.Commander].
func (c *CLI) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	return c.command(ctx, cmd, in)
}

// MgrCommand implements [api.Commander]. The tool itself knows which commands are a manager's.
func (c *CLI) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	return c.command(ctx, command.Join(cmd), nil)
}

// MgrCommandWithInputBuffer implements [api.Commander].
func (c *CLI) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	return c.command(ctx, command.Join(cmd), in)
}

// command is one command, with an explanation where no answer came.
func (c *CLI) command(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	out, status, err := c.once(ctx, cmd, in, c.cfg.Limit)

	return out, status, c.explain(ctx, err)
}

func (c *CLI) explain(ctx context.Context, err error) error {
	return command.Explain(ctx, err, func(ctx context.Context, cmd []byte) ([]byte, error) {
		out, _, err := c.once(ctx, cmd, nil, min(c.cfg.Connect, c.cfg.Limit))

		return out, err
	})
}

func (c *CLI) once(ctx context.Context, cmd, in []byte, limit time.Duration) ([]byte, string, error) {
	line, err := parse(cmd)
	if err != nil {
		return nil, "", err
	}

	limit = command.Within(ctx, limit)

	r, err := c.process(ctx, c.argv(line, limit, in != nil), in, c.cfg.Connect+limit+slack)
	if err != nil {
		return nil, "", inCommand(cmd, err)
	}

	return line.answer(r)
}

// process runs a process. A silence is told apart from a host that is lost.
func (c *CLI) process(ctx context.Context, argv []string, in []byte, limit time.Duration) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("not sent: %w", context.Cause(ctx))
	}

	begun := time.Now()

	r, err := c.run(ctx, argv, in, limit)

	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return r, fmt.Errorf("%w: %w", context.Cause(ctx), err)
	case time.Since(begun) >= limit:
		silent := &api.Error{Code: command.TimedOut, Status: fmt.Sprintf("no answer within %s", limit)}

		return r, fmt.Errorf("%w: %w", silent, err)
	}

	return r, err
}

// inCommand names the command that an error is about.
func inCommand(cmd []byte, err error) error {
	return fmt.Errorf("ceph %s: %w", command.Prefix(cmd), err)
}
