// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// The command terraform-provider-metal3 serves the provider to Terraform or OpenTofu.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// version is stamped by the linker.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve until interrupted, for a debugger, and print how to attach Terraform")
	flag.Parse()
	quiet(os.Environ())
	survive()

	if !*debug {
		go leave(os.Getppid, os.Exit)
	}

	err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address: provider.Address,
		Debug:   *debug,
	})
	if err != nil {
		log.Fatal(err)
	}
}

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
func leave(parent func() int, exit func(int)) {
	const pause = time.Second

	for first := parent(); parent() == first; {
		_ = wait.Sleep(context.Background(), pause)
	}

	_ = wait.Sleep(context.Background(), pause) // for a log-out that is under way

	exit(1)
}
