// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/agent"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	headerTimeout = 10 * time.Second
	// closeTimeout lets answers out whose work is done; what stays open longer is cut.
	closeTimeout = 2 * time.Second
)

// addresses are where the lab listens: tests ask for port 0.
type addresses struct {
	bmc, ironic, fabric string
	ssh                 []string // of each machine
}

// run serves until the context ends. ready is called when it listens; it may be nil.
func run(ctx context.Context, args []string, log *slog.Logger, ready func(addresses)) error {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}

	if err != nil {
		return err
	}

	path := ""
	if o.dir != "" {
		path = filepath.Join(o.dir, "lab.db")
	}

	st := store.New(path)
	o.agents.Log = log

	rack, err := agent.NewRack(st, o.machines, o.agents, o.bmcs)
	if err != nil {
		return err
	}
	defer rack.Close()

	s := servers{log: log, failed: make(chan error, 3)}
	defer s.close(context.WithoutCancel(ctx))

	at, err := s.listen(ctx, o, st, rack)
	if err != nil {
		return err
	}

	log.Info("the lab is up", "bmc", at.bmc, "ironic", at.ironic, "fabric", at.fabric, "ssh", at.ssh, "machines", o.machines.Count)

	if ready != nil {
		ready(at)
	}

	select {
	case <-ctx.Done():
		return nil
	case err := <-s.failed:
		return err
	}
}

// servers are what listens.
type servers struct {
	log    *slog.Logger
	all    []*http.Server
	nodes  []*node.Server
	failed chan error
}

// listen serves all that the options ask for.
func (s *servers) listen(ctx context.Context, o options, st *store.Store, rack http.Handler) (at addresses, err error) {
	if at.bmc, err = s.serve(ctx, o.listen, rack, o.cert, o.key); err != nil {
		return at, err
	}

	if o.ironic != "" {
		if at.ironic, err = s.serve(ctx, o.ironic, ownIronic(st, o), "", ""); err != nil {
			return at, err
		}
	}

	if o.fabric != "" {
		if at.fabric, err = s.serve(ctx, o.fabric, ownFabric(st, o), "", ""); err != nil {
			return at, err
		}
	}

	if o.ssh != "" {
		if at.ssh, err = s.serveSSH(ctx, o.ssh, st, o.machines); err != nil {
			return at, err
		}
	}

	return at, nil
}

func (s *servers) serve(ctx context.Context, address string, h http.Handler, cert, key string) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return "", fmt.Errorf("lab: %w", err)
	}

	server := &http.Server{
		Handler: h, ReadHeaderTimeout: headerTimeout, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn),
	}
	s.all = append(s.all, server)

	go func() {
		serve := server.Serve
		if cert != "" {
			serve = func(l net.Listener) error { return server.ServeTLS(l, cert, key) }
		}

		if err := serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("lab: %w", err)
		}
	}()

	return listener.Addr().String(), nil
}

func (s *servers) close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()

	for _, n := range s.nodes {
		_ = n.Close()
	}

	for _, server := range s.all {
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
	}
}
