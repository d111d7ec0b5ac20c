// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/bridge"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/cli"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/rados"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// both is what every transport is.
type both interface {
	api.Commander
	api.Batcher
}

// way is what all transports are told.
type way struct {
	conf, name, keyring string
	connect, limit      time.Duration
	env                 []string // of the processes on the host
}

func wayTo(one *acctest.One) way {
	return way{conf: one.Conf, name: "client.admin", keyring: one.Keyring, connect: 3 * time.Second, limit: 20 * time.Second}
}

// transport is one of the three.
type transport struct {
	name string
	open func(t *testing.T, w way) (both, error)
}

// transports are those that this build has.
func transports() []transport {
	all := []transport{{"bridge", openBridge}, {"cli", openCLI}}
	if rados.Linked {
		all = append(all, transport{"rados", openRados})
	}

	return all
}

func host(t *testing.T) remote.Host {
	t.Helper()

	h, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = h.Close() })

	return h
}

func openBridge(t *testing.T, w way) (both, error) {
	t.Helper()

	h := host(t)

	return bridge.Open(t.Context(), func(ctx context.Context, argv []string) (bridge.Session, error) {
		return h.Open(ctx, remote.Command{Args: argv, Env: w.env})
	}, bridge.Config{Conf: w.conf, Name: w.name, Keyring: w.keyring, Connect: w.connect, Limit: w.limit})
}

func openCLI(t *testing.T, w way) (both, error) {
	t.Helper()

	h := host(t)

	return cli.New(func(ctx context.Context, argv []string, stdin []byte, limit time.Duration) (cli.Result, error) {
		r, err := h.Run(ctx, remote.Command{Args: argv, Stdin: stdin, Limit: limit, Env: w.env})

		return cli.Result(r), err
	}, cli.Config{Conf: w.conf, Name: w.name, Keyring: w.keyring, Connect: w.connect, Limit: w.limit}), nil
}

func openRados(t *testing.T, w way) (both, error) {
	t.Helper()

	c, err := rados.Open(t.Context(), rados.Config{Conf: w.conf, Name: w.name, Keyring: w.keyring, Connect: w.connect, Limit: w.limit})
	if err != nil {
		return nil, err
	}

	b, ok := any(c).(both)
	if !ok {
		return nil, errors.New("the linked transport has no batches")
	}

	return b, nil
}

// opened is a transport with its connection.
type opened struct {
	name string
	both
}

// openAll opens all transports; they are closed with the test.
func openAll(t *testing.T, w way) []opened {
	t.Helper()

	var all []opened

	for _, tr := range transports() {
		c, err := tr.open(t, w)
		if err != nil {
			t.Fatalf("%s: %v", tr.name, err)
		}

		t.Cleanup(func() { _ = c.Close() })

		all = append(all, opened{tr.name, c})
	}

	return all
}
