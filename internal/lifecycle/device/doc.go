// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package device brings composable devices (GPUs, CXL memory) to hosts and takes them away
// again, as the composable-resource-operator does, and without its leaks.
//
// A fabric's answer to an order is never believed: whether a device came or went is found
// out by looking, and what was ordered is written down before it is ordered, so that
// neither a lost answer nor a killed run leaves a device that nobody knows.
//
// machine.go decides for one device, machine_place.go for all devices of a resource; [Run] does it.
package device
