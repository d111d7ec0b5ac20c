// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package functions holds the provider's functions. They are pure and need no
// configuration of the provider.
package functions

import "github.com/hashicorp/terraform-plugin-framework/function"

// All returns the constructors of every function that the provider serves.
func All() []func() function.Function {
	return []func() function.Function{
		NewIPAt,
		NewImageChecksumType,
		NewMatchLabels,
		NewParseBMCAddress,
		NewProviderID,
		NewRenderMetaData,
		NewRenderNetworkData,
	}
}
