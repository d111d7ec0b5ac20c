// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package contract holds small configurations that must work as they stand, and runs them
// with Terraform and the built provider on the lab inside it. They fix names and shapes:
// whoever changes one of them changes what users have written.
package contract
