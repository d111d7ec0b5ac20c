// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubetest plays the API server of a workload cluster for tests: a TLS server with a
// memory that refuses what a real one refuses. It never is more lenient; what it does not know is
// answered 404. Faults are scripted with OnRequest, disruption budgets with Block.
//
// Kubelets are quick: a Pod that is deleted is shown as being deleted once and is gone then, unless
// it lingers.
package kubetest
