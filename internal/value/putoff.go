// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

// PutOff says how an ephemeral resource is opened after what the provider's configuration waits for:
// by an argument that is not known in the plan. With depends_on alone Terraform opens it in the plan
// all the same (seen with 1.11).
func PutOff(argument string) string {
	return "Let " + argument + " come from what the provider's configuration waits for: a value that is not known in the plan puts the ephemeral resource off " +
		"until the apply has it (depends_on does not). Or apply that first (-target)."
}
