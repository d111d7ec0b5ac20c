// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ironic talks to the OpenStack bare metal service.
//
// It knows endpoints, authentication, microversions, error bodies and what each request
// costs. It knows nothing of Terraform, and decides nothing: see internal/lifecycle/host.
package ironic
