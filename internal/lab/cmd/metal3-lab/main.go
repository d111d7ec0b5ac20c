// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Command metal3-lab serves the lab over TCP, on loopback only.
//
// It is the machines behind a real Ironic: their BMCs and, when they boot what Ironic prepared,
// their deployment agents. With -ironic it serves the lab's own Ironic in front of the same
// machines as well, and with -fabric a fabric manager of composable devices: what tests that
// kill the provider need, a far side that stays.
package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	log := slog.New(slog.NewTextHandler(os.Stderr, nil))

	if err := run(ctx, os.Args[1:], log, nil); err != nil {
		log.Error(err.Error())
		stop()
		os.Exit(1)
	}
}
