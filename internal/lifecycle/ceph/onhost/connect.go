// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// Connect implements [ceph.Host]: through the host's librados, and through its ceph command
// where Python has none.
func (h *Host) Connect(ctx context.Context, l ceph.Layout) (api.Commander, error) {
	cfg := bridge.Config{Conf: l.Conf(), Keyring: l.AdminKeyring(), Name: l.Entity}

	b, err := bridge.Open(ctx, h.open, cfg)
	if errors.Is(err, api.ErrNoLibrados) {
		return cli.New(h.process, cfg), nil
	}

	if err != nil {
		return nil, unreached(err)
	}

	return b, nil
}

// process runs a program to its end.
func (h *Host) process(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (cli.Result, error) {
	res, err := h.run(ctx, remote.Command{Args: argv, Stdin: stdin, Limit: limit})

	return cli.Result{Stdout: res.Stdout, Stderr: res.Stderr, Exit: res.Exit}, err
}

// open starts a program that is spoken to.
func (h *Host) open(ctx context.Context, argv []string) (bridge.Session, error) {
	s, err := h.host.Open(ctx, remote.Command{Args: argv})
	if err != nil {
		return nil, unreached(err)
	}

	return s, nil
}
