// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// Offered takes the part S, an interface of the room's own, of what the provider offers to
// all rooms. Validation runs before the provider is configured: what was there then stays.
func Offered[S any](room string, offered any, to *S, diags *diag.Diagnostics) {
	if offered == nil {
		return
	}

	part, ok := offered.(S)
	if !ok {
		diags.AddError("Bug in the provider", fmt.Sprintf("%s was given %T, which lacks what it needs; please report this.", room, offered))

		return
	}

	*to = part
}
