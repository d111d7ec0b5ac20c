// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// The command terraform-provider-metal3 serves the provider to Terraform or OpenTofu.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// version is stamped by the linker.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve until interrupted, for a debugger, and print how to attach Terraform")
	flag.Parse()
	quiet(os.Environ())

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
