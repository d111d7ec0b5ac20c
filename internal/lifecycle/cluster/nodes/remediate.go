// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNotAllowed is what the errors of [ControlPlanePool.Allowed] are.
var ErrNotAllowed = errors.New("remediation is not allowed")

// ControlPlanePool is what is known of a control plane when one of its machines is to be
// remediated. Machines are named by their names.
type ControlPlanePool struct {
	Replicas     int
	Provisioning []string // machines that are not finished
	Deleting     []string // machines that are on their way out
	Remediating  []string // machines that are under remediation
	Stacked      bool     // etcd runs on these machines
	Members      []Member // of etcd; as many as answered, empty where it could not be asked
	Unhealthy    []string // names of the members that do not do their work
}

// Allowed says whether a machine of the control plane may be remediated, with everything that
// stands against it. The rules are those of Cluster API's KubeadmControlPlane. The error is
// [ErrNotAllowed].
func (p ControlPlanePool) Allowed(machine string) error {
	var against []string

	if p.Replicas <= 1 {
		against = append(against, fmt.Sprintf("the control plane has %d machine: what is on it would be lost", p.Replicas))
	}

	for _, busy := range []struct {
		names []string
		what  string
	}{
		{p.Provisioning, "still being provisioned"},
		{p.Deleting, "being deleted"},
		{p.Remediating, "already under remediation, and there is one at a time"},
	} {
		if others := without(busy.names, machine); len(others) > 0 {
			against = append(against, strings.Join(others, ", ")+": "+busy.what)
		}
	}

	if slices.Contains(p.Deleting, machine) {
		against = append(against, machine+" itself is being deleted")
	}

	if p.Stacked {
		if err := QuorumAfterRemoval(p.Members, p.Unhealthy, machine); err != nil {
			against = append(against, err.Error())
		}
	}

	if len(against) > 0 {
		return fmt.Errorf("%w for %s of the control plane: %s", ErrNotAllowed, machine, strings.Join(against, "; "))
	}

	return nil
}

// without is names but for one, each once and in order.
func without(names []string, name string) []string {
	rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
	slices.Sort(rest)

	return slices.Compact(rest)
}
