// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/bmc"
)

// Direct asks BMCs directly, where that is allowed and possible: the machine that runs
// Terraform often cannot reach them.
type Direct struct {
	Access string     // "auto", "direct" or "ironic"
	Base   bmc.Config // what is the same for all BMCs: how to reach them
}

// The ways to reach a BMC.
const (
	AccessAuto   = "auto"   // directly if it answers within two seconds
	AccessDirect = "direct" // directly, or it is an error
	AccessIronic = "ironic" // through Ironic only
)

// autoWait is how long a BMC may take to answer before "auto" leaves the question to Ironic.
const autoWait = 2 * time.Second

// Check tries address and credentials. It returns a [CredentialsError] where the BMC itself
// refuses them, and nil where it cannot be asked and need not be.
func (d Direct) Check(ctx context.Context, b BMC) error {
	endpoint := b.Access.Endpoint()
	if d.Access == AccessIronic || !strings.HasPrefix(endpoint, "http") {
		return nil // IPMI speaks no Redfish; Ironic tries it
	}

	if d.Access != AccessDirect {
		var cancel context.CancelFunc

		ctx, cancel = context.WithTimeout(ctx, autoWait)
		defer cancel()
	}

	cfg := d.Base
	cfg.Address, cfg.SystemPath, cfg.Username, cfg.Password = endpoint, b.Access.SystemPath(), b.Username, b.Password
	// A bundle that is only on the conductor makes this check fail, never unsafe.
	cfg.VerifyCA, cfg.Insecure = b.VerifyCA, b.DisableCertificateVerification

	client := bmc.New(cfg)
	defer client.Close(ctx)

	err := client.Check(ctx)

	switch {
	case err == nil:
		return nil
	case errors.Is(err, bmc.ErrAuth):
		return &CredentialsError{err.Error()}
	case d.Access == AccessDirect:
		return err
	default:
		return nil
	}
}
