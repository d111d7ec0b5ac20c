// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// quiet turns the SDK's own tracing off where nobody asked for any log: making its entries
// costs a third of the CPU of a large plan even when all of them are thrown away.
func quiet(environment []string) {
	for _, entry := range environment {
		if name, set, _ := strings.Cut(entry, "="); (name == "TF_LOG" || strings.HasPrefix(name, "TF_LOG_")) && set != "" {
			return
		}
	}

	_ = os.Setenv("TF_LOG_SDK", "OFF")
}

// tidy collects garbage a little earlier than Go does by itself, unless GOGC says otherwise:
// on a busy machine a plan of hundreds of hosts makes garbage faster than it is collected,
// and runs on CI runners count memory.
func tidy() {
	const percent = 50

	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}

// grace is how long the provider outlives SIGTERM.
const grace = 10 * time.Second

// survive puts off the end that SIGTERM asks for. CI runners and timeout(1) send it to the
// whole process group, Terraform included: Terraform then asks the provider to stop, and
// what a verb returns within the grace is what reaches the state. (The plugin library
// ignores SIGINT for the same reason.)
func survive() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)

	go func() {
		<-asked
		time.AfterFunc(grace, func() { os.Exit(int(syscall.SIGTERM) + 128) })
	}()
}

// leave ends the provider some time after the Terraform that started it is gone. One that
// was killed cannot end its plugins: without this they would stay for ever. What a verb
// was doing has ended by then, because its context ends with the connection.
func leave(ctx context.Context, parent func() int, exit func(int)) {
	const pause = time.Second

	for first := parent(); parent() == first; {
		_ = wait.Sleep(ctx, pause)
	}

	_ = wait.Sleep(ctx, pause) // for a log-out that is under way

	exit(1)
}
