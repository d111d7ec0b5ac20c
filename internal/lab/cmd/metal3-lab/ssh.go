// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// serveSSH serves the systems of the machines, each on a port of its own: from the address on,
// or any where that is port 0. A machine that is off closes connections at once.
func (s *servers) serveSSH(ctx context.Context, address string, st *store.Store, machines machine.Options) ([]string, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("lab: %w", err)
	}

	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("lab: port of -ssh: %w", err)
	}

	var at []string

	for i := range machines.Count {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			return nil, fmt.Errorf("lab: %w", err)
		}

		server := node.New(st, machine.Name(machines.First+i), nil)
		s.nodes = append(s.nodes, server)
		at = append(at, listener.Addr().String())

		go func() { _ = server.Serve(listener) }() // ends with Close

		if port != 0 {
			port++
		}
	}

	return at, nil
}
