// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// The command terraform-provider-metal3 serves the provider to Terraform or OpenTofu.
package main

import (
	"flag"
	"log"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// version is stamped by the linker.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve until interrupted, for a debugger, and print how to attach Terraform")
	flag.Parse()

	if err := provider.Serve(version, *debug); err != nil {
		log.Fatal(err)
	}
}
