// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package tfrun runs the built provider under the Terraform command, in folders of their own,
// and cuts such runs short. Only tests import it.
package tfrun
