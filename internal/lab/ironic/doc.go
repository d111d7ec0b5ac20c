// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package ironic is the lab's Ironic: an HTTP API that remembers its nodes in the lab's store
// and moves them through their provision states by the clock.
//
// It answers as Ironic 29.0.5 (API 1.96) answers, which the contract suite of the lab holds it
// to. It has no goroutine: a transition is stored with the time at which its next stage is due,
// and the first request that comes later does what has become due. So a lab that was killed
// goes on where it was, and several processes can share one store.
//
// This package is the service: the routes, a request in its transaction, and what tests tell it
// to do wrong ([Service.FailNext], [Service.Edit], Inject). Below it, each importing only what
// comes later: nodes, ports, allocations (the endpoints), api (what they share), conductor
// (what happens to a node), record (what is remembered), state, version and fault (the words).
// trouble stands beside them, between the service and the network.
package ironic
