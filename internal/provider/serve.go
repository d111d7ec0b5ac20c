// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"os"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// Serve serves the provider to Terraform until Terraform ends. In debug mode it prints how
// to attach Terraform to it and serves until it is interrupted.
func Serve(version string, debug bool) error {
	quiet(os.Environ())
	tidy()
	survive()

	var opts []tf6server.ServeOpt
	if debug {
		opts = append(opts, tf6server.WithManagedDebug())
	} else {
		go leave(context.Background(), os.Getppid, os.Exit) //nolint:forbidigo // the life of the process
	}

	p := newProvider(version)
	defer p.logOut()

	return tf6server.Serve(Address, func() tfprotov6.ProviderServer { return server(p) }, opts...)
}

// logOutTime bounds what is done after Terraform has ended the provider: it kills one that
// does not end within two seconds.
const logOutTime = 1500 * time.Millisecond

// logOut ends sessions with far sides that count them.
func (p *metal3) logOut() {
	served := p.served.Load()
	if served == nil {
		return
	}

	ctx, cancel := context.WithTimeout(context.Background(), logOutTime) //nolint:forbidigo // the life of the process
	defer cancel()

	served.close(ctx)
}

// NewServer returns the constructor of what Terraform talks to: the framework's server,
// with the short ways of [shortcuts] before it.
func NewServer(version string, opts ...Option) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer { return server(newProvider(version, opts...)) }
}

func server(p *metal3) tfprotov6.ProviderServer {
	served, ok := providerserver.NewProtocol6(p)().(framework)
	if !ok {
		panic("the framework serves no actions and no lists any more") // a mistake in an update of the framework
	}

	return &shortcuts{framework: served, provider: p}
}
