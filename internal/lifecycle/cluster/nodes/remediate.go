// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNotAllowed is what the errors of [Limit.Allowed] and [ControlPlanePool.Allowed] are.
var ErrNotAllowed = errors.New("remediation is not allowed")

// Limit is how many machines of a pool may be unhealthy before none of them is touched:
// many that look ill at once are a sign that the eyes are ill.
type Limit struct {
	count   int
	percent bool
}

// Unlimited allows any number of unhealthy machines.
var Unlimited = Limit{count: 100, percent: true}

// ParseLimit reads a number of machines ("2") or a share of a pool ("40%").
func ParseLimit(s string) (Limit, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(s), "%")

	n, err := strconv.ParseUint(digits, 10, 31)

	switch {
	case err != nil:
		return Limit{}, fmt.Errorf(`max_unhealthy %q is neither a number of machines like "2" nor a share like "40%%"`, s)
	case percent && n > 100:
		return Limit{}, fmt.Errorf("max_unhealthy %q is more than all machines: the most is 100%%", s)
	}

	return Limit{count: int(n), percent: percent}, nil
}

// Of is how many machines of a pool of that size may be unhealthy. A share rounds down, as
// Cluster API's MachineHealthCheck does.
func (l Limit) Of(size int) int {
	if l.percent {
		return l.count * size / 100
	}

	return l.count
}

// String is how a user writes the limit.
func (l Limit) String() string {
	if l.percent {
		return strconv.Itoa(l.count) + "%"
	}

	return strconv.Itoa(l.count)
}

// Allowed says whether machines of a pool of that size may be remediated while so many of it
// are unhealthy. The error is [ErrNotAllowed].
func (l Limit) Allowed(pool string, size, unhealthy int) error {
	if most := l.Of(size); unhealthy > most {
		return fmt.Errorf("%w: %d of the %d machines of pool %q are unhealthy and max_unhealthy = %q allows %d; "+
			"look for a common cause (network, API server, power), or raise max_unhealthy",
			ErrNotAllowed, unhealthy, size, pool, l, most)
	}

	return nil
}

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
