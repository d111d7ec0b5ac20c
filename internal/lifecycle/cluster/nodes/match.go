// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// ErrMismatch is what the errors are that say that the Nodes contradict a machine. Waiting
// does not mend them.
var ErrMismatch = errors.New("the Nodes contradict the machine")

// Index is a list of Nodes, in which the Nodes of many machines are found.
type Index struct {
	nodes     []kube.Node
	byID      map[string][]int // by normalised providerID
	byHost    map[string][]int // by namespace/host of providerIDs that are ours
	byName    map[string]int
	byAddress map[string][]int
}

// Found is what the Nodes say of one machine.
type Found struct {
	Node  *kube.Node  // nil where none is its
	Stale []kube.Node // left over from earlier machines: they must go first
}

// NewIndex looks through a list of Nodes once. It keeps the list.
func NewIndex(nodes []kube.Node) *Index {
	x := &Index{nodes: nodes, byID: map[string][]int{}, byHost: map[string][]int{}, byName: map[string]int{}, byAddress: map[string][]int{}}

	for i, n := range nodes {
		x.byName[n.Name] = i

		if id := normalise(n.ProviderID); id != "" {
			x.byID[id] = append(x.byID[id], i)
		}

		if id, ours := ParseProviderID(n.ProviderID); ours {
			x.byHost[id.host()] = append(x.byHost[id.host()], i)
		}

		for _, a := range n.Addresses {
			if key := addressKey(a.Address); key != "" && !slices.Contains(x.byAddress[key], i) {
				x.byAddress[key] = append(x.byAddress[key], i)
			}
		}
	}

	return x
}

func (i Identity) host() string { return i.Namespace + "/" + i.Host }

// addressKey writes an address in one way; what is none (a host name) is empty.
func addressKey(s string) string {
	a, err := netip.ParseAddr(strings.TrimSpace(s))
	if err != nil || a.IsUnspecified() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return ""
	}

	return a.Unmap().WithZone("").String()
}

// Find finds the Node of a machine: the one with its providerID, else the one with its name,
// else the one with an address that only this Node has. existing says which machines there
// are; nil means that nobody knows, and then no Node is stale. The error is [ErrMismatch].
func (x *Index) Find(w Want, existing func(machine string) bool) (Found, error) {
	stale, err := x.stale(w, existing)
	found := Found{Stale: stale}

	if err != nil {
		return found, err
	}

	for _, find := range []func(Want, func(string) bool) (*kube.Node, error){x.withID, x.withName, x.withAddress} {
		n, err := find(w, existing)
		if err != nil {
			return found, err
		}

		// What must go first is found by its name as well.
		if n != nil && !slices.ContainsFunc(stale, func(s kube.Node) bool { return s.Name == n.Name }) {
			found.Node = n

			break
		}
	}

	return found, nil
}

// stale returns the Nodes that have the name or the host of a machine and the providerID of
// one that does not exist any more. Such a providerID can never be changed.
func (x *Index) stale(w Want, existing func(machine string) bool) ([]kube.Node, error) {
	mine, ok := ParseProviderID(w.ProviderID)
	if !ok {
		return nil, nil
	}

	var stale []kube.Node

	suspects := slices.Clone(x.byHost[mine.host()])
	if i, ok := x.byName[w.Machine]; ok && !slices.Contains(suspects, i) {
		suspects = append(suspects, i)
	}

	for _, i := range suspects {
		n := x.nodes[i]
		id, ours := ParseProviderID(n.ProviderID)

		switch {
		case !ours, id == mine:
		case existing != nil && id.Namespace == mine.Namespace && (id.Machine == mine.Machine || !existing(id.Machine)):
			stale = append(stale, n)
		case id.host() == mine.host():
			return nil, fmt.Errorf("%w: Node %q has provider ID %q, on the host of machine %s whose provider ID is %q; "+
				"if that Node is left over, delete it (kubectl delete node %s)", ErrMismatch, n.Name, n.ProviderID, w.Machine, w.ProviderID, n.Name)
		}
	}

	slices.SortFunc(stale, func(a, b kube.Node) int { return cmp.Compare(a.Name, b.Name) })

	return stale, nil
}

func (x *Index) withID(w Want, _ func(string) bool) (*kube.Node, error) {
	id := normalise(w.ProviderID)
	if id == "" {
		return nil, nil
	}

	switch hits := x.byID[id]; len(hits) {
	case 0:
		return nil, nil
	case 1:
		return &x.nodes[hits[0]], nil
	default:
		return nil, fmt.Errorf("%w: the Nodes %s all have the provider ID %q of machine %s; delete those that are not its own",
			ErrMismatch, x.names(hits), w.ProviderID, w.Machine)
	}
}

func (x *Index) withName(w Want, existing func(string) bool) (*kube.Node, error) {
	i, ok := x.byName[w.Machine]
	if !ok {
		return nil, nil
	}

	n := &x.nodes[i]
	id, ours := ParseProviderID(n.ProviderID)

	switch foreign := n.ProviderID != "" && !ours; {
	case w.ProviderID == "", foreign && w.CloudProvider:
		return n, nil
	case foreign:
		return nil, fmt.Errorf("%w: Node %q has provider ID %q, that of machine %s is %q; another cloud provider set it: "+
			"set cloud_provider_enabled, or switch that one off (k3s: --disable-cloud-controller) and delete the Node, or give kubelet --provider-id",
			ErrMismatch, n.Name, n.ProviderID, w.Machine, w.ProviderID)
	case ours && existing != nil && (id.Machine == w.Machine || !existing(id.Machine)):
		return n, nil // stale: the caller knows
	case ours:
		return nil, fmt.Errorf("%w: Node %q has provider ID %q, that of machine %s is %q, and Kubernetes never changes one; "+
			"if the Node is left over, delete it (kubectl delete node %s)", ErrMismatch, n.Name, n.ProviderID, w.Machine, w.ProviderID, n.Name)
	}

	return n, w.checkUUID(n)
}

// checkUUID looks whether a Node without providerID says that it is another machine.
func (w Want) checkUUID(n *kube.Node) error {
	uuid := n.Labels[UUIDLabel]
	if uuid == "" || strings.EqualFold(uuid, w.ClaimID) || strings.EqualFold(uuid, w.HostID) || w.ClaimID == "" && w.HostID == "" {
		return nil
	}

	return fmt.Errorf("%w: Node %q looks like that of machine %s, and its label %s = %q is of another one (claim %s, host %s); "+
		"if the Node is left over, delete it (kubectl delete node %s)", ErrMismatch, n.Name, w.Machine, UUIDLabel, uuid, w.ClaimID, w.HostID, n.Name)
}

// withAddress finds the only Node with an address of the machine, among those that nothing
// says to be another machine's.
func (x *Index) withAddress(w Want, existing func(string) bool) (*kube.Node, error) {
	var unique, shared []int

	for _, a := range w.Addresses {
		hits := x.byAddress[addressKey(a)]
		free := slices.DeleteFunc(slices.Clone(hits), func(i int) bool { return !x.free(i, w, existing) })

		switch {
		case len(free) == 0:
		case len(hits) == 1 && !slices.Contains(unique, free[0]):
			unique = append(unique, free[0])
		case len(hits) > 1:
			shared = hits
		}
	}

	switch {
	case len(unique) == 1:
		n := &x.nodes[unique[0]]

		return n, w.checkUUID(n)
	case len(unique) > 1:
		return nil, fmt.Errorf("%w: addresses of machine %s (%s) are those of several Nodes: %s; start its kubelet with the name of the machine, or with --provider-id=%s",
			ErrMismatch, w.Machine, strings.Join(w.Addresses, ", "), x.names(unique), w.ProviderID)
	case len(shared) > 1:
		return nil, fmt.Errorf("%w: the Nodes %s share an address of machine %s (%s), so that none is known to be its own; "+
			"start its kubelet with the name of the machine, or with --provider-id=%s", ErrMismatch, x.names(shared), w.Machine, strings.Join(w.Addresses, ", "), w.ProviderID)
	}

	return nil, nil
}

// free reports whether a Node may belong to a machine that neither providerID nor name say.
func (x *Index) free(i int, w Want, existing func(string) bool) bool {
	n := x.nodes[i]
	_, ours := ParseProviderID(n.ProviderID)

	switch {
	case n.Name != w.Machine && existing != nil && existing(n.Name):
		return false
	case n.ProviderID == "":
		return true
	default:
		return w.ProviderID == "" || w.CloudProvider && !ours
	}
}

// names lists Nodes for people.
func (x *Index) names(hits []int) string {
	names := make([]string, 0, len(hits))
	for _, i := range hits {
		names = append(names, x.nodes[i].Name)
	}

	slices.Sort(names)

	return strings.Join(names, ", ")
}
