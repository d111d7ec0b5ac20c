// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"net"
	"os"
	"strconv"
	"sync"
	"testing"
)

// The ports of tests' servers lie below those that the kernel hands out, lest somebody else has one
// between its choice and the server's start. Each test process has a block of its own and holds its
// last port as long as it lives, so that two of them do not meet. The ports from 20000 on are those of
// scripts/lib.sh and of Ceph.
const (
	firstPort  = 11000
	portBlocks = 18
	portBlock  = 500
)

var ports struct {
	sync.Mutex

	first int // of this process's block; 0: it has none yet
	given int // how many were looked at
	held  net.Listener
}

// FreePort returns a port of a local address on which nobody listens. This process hands it out again
// only after all others of its block.
func FreePort(tb testing.TB, address string) int {
	tb.Helper()

	ports.Lock()
	defer ports.Unlock()

	for n := 0; ports.first == 0; n++ {
		if n == portBlocks {
			tb.Fatalf("no block of free ports from %d on", firstPort)
		}

		first := firstPort + (os.Getpid()+n)%portBlocks*portBlock

		if held, err := listenAt("127.0.0.1", first+portBlock-1); err == nil {
			ports.first, ports.held = first, held
		}
	}

	for range portBlock - 1 {
		port := ports.first + ports.given%(portBlock-1)
		ports.given++

		if l, err := listenAt(address, port); err == nil {
			_ = l.Close()

			return port
		}
	}

	tb.Fatalf("no free port from %d on", ports.first)

	return 0
}

func listenAt(address string, port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port))) //nolint:noctx // at once
}
