// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/trouble"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

// What tests say to a service and hear of it, so that they need no other package.
type (
	// Failure is how a verb fails: see [Service.FailNext].
	Failure = record.Failure
	// Trouble is what goes wrong with the next requests of a kind: see Inject of [Service].
	Trouble = trouble.Trouble
	// Request is a request that was served: see Requests of [Service].
	Request = trouble.Request
)

// DefaultMinor is the newest API version of Ironic 29.0.5.
const DefaultMinor = version.Default

// Busy is the trouble of an overloaded server.
func Busy(match string, times int) Trouble { return trouble.Busy(match, times) }

// Mangle is a rewrite that does what servers do to values they were sent.
func Mangle(kind string, doc map[string]any) { trouble.Mangle(kind, doc) }
