// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Command schemajson prints the provider's schemas in the JSON of
// `terraform providers schema`, for the generator of the documentation.
//
// It asks the provider itself, over the protocol's server and without a
// Terraform: an older one leaves out what it does not know (identities,
// actions, list resources), and the pages would lack it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// name is the key under which the generator looks for the provider: its short
// name, not its address.
const name = "metal3"

func main() {
	log.SetFlags(0)

	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer) error {
	server := providerserver.NewProtocol6(provider.New("dev")())()

	schemas, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		return fmt.Errorf("schemas: %w", err)
	}

	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		return fmt.Errorf("identities: %w", err)
	}

	if err := errors.Join(failed(schemas.Diagnostics), failed(identities.Diagnostics)); err != nil {
		return err
	}

	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")

	if err := encoder.Encode(map[string]any{
		"format_version":   "1.0",
		"provider_schemas": map[string]any{name: newSchemas(schemas, identities)},
	}); err != nil {
		return fmt.Errorf("print: %w", err)
	}

	return nil
}

// failed turns the errors among diagnostics into one error.
func failed(diagnostics []*tfprotov6.Diagnostic) error {
	var errs []error

	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s", d.Summary, d.Detail))
		}
	}

	return errors.Join(errs...)
}
