// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"strconv"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

func TestRun_theMachinesOverSSH(t *testing.T) {
	t.Parallel()

	at, _ := start(t, "-listen", "127.0.0.1:0", "-ssh", "127.0.0.1:0", "-n", "2", "-first", "0", "-dir", t.TempDir())
	if len(at.ssh) != 2 {
		t.Fatalf("addresses %v", at.ssh)
	}

	host, text, err := net.SplitHostPort(at.ssh[1])
	if err != nil {
		t.Fatal(err)
	}

	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}

	h, err := remote.New(remote.Config{Host: host, Port: port, PrivateKey: node.ClientKey(), HostKey: node.HostKey("node-1")})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()

	res, err := h.Run(t.Context(), remote.Command{Args: []string{"hostname"}})
	if err != nil || string(res.Stdout) != "node-1\n" {
		t.Errorf("%+v %v", res, err)
	}
}
