// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// KindNote is what is left of a claim that somebody removed from a host on which the machine
// may still run.
const KindNote Kind = "note"

// Found is a claim that carries a cluster's identity.
type Found struct {
	Machine    string
	ID         string // of the claim; also where it is gone (KindNote)
	Kind       Kind
	HostID     string // empty: an allocation that has no host
	Host       host.Seen
	Note       map[string]any
	Allocation *ironic.Allocation
}

// Leftover lists what in this Ironic carries a cluster's identity, sorted by machine: its
// allocations, and nodes with its note. It asks for one list of each; the list of nodes is
// the shared one, so that who needs it fresh drops that first.
func Leftover(ctx context.Context, far Far, namespace, cluster string) ([]Found, error) {
	nodes, err := far.All(ctx)
	if err != nil {
		return nil, err
	}

	all, err := far.Allocations(ctx)
	if err != nil && !errors.Is(err, ironic.ErrNoAllocations) {
		return nil, err
	}

	byID := map[string]host.Seen{}
	for _, s := range nodes {
		byID[s.Node.UUID] = s
	}

	var (
		out  []Found
		seen = map[string]bool{}
	)

	for i := range all {
		a := &all[i]

		machine, ours := owned(*a, namespace, cluster)
		if !ours {
			continue
		}

		f := Found{Machine: machine, ID: a.UUID, Kind: KindAllocation, Allocation: a}
		if s, there := byID[a.NodeUUID]; there && s.Node.InstanceUUID == a.UUID {
			f.HostID, f.Host, f.Note = s.Node.UUID, s, noteOf(s)
			seen[s.Node.UUID] = true
		}

		out = append(out, f)
	}

	for _, s := range nodes {
		if f, ours := noted(s, namespace, cluster); ours && !seen[s.Node.UUID] {
			out = append(out, f)
		}
	}

	slices.SortStableFunc(out, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.ID, b.ID), cmp.Compare(a.HostID, b.HostID))
	})

	return out, nil
}

// owned says whether an allocation is a cluster's, and for which machine: by its extra, or by
// a name from which its id follows.
func owned(a ironic.Allocation, namespace, cluster string) (string, bool) {
	if a.Extra[ExtraNamespace] == namespace && a.Extra[ExtraCluster] == cluster && a.Extra[ExtraMachine] != "" {
		return a.Extra[ExtraMachine], true
	}

	machine, ok := strings.CutPrefix(a.Name, AllocationName(namespace, cluster, ""))
	if !ok || !strings.EqualFold(a.UUID, host.MachineClaim(namespace, cluster, machine)) {
		return "", false
	}

	return machine, true
}

// noted says whether a node carries a cluster's note, and what it is worth: a note of another
// claim than the present one is nobody's, and so is one on a host on which nothing runs.
func noted(s host.Seen, namespace, cluster string) (Found, bool) {
	note := noteOf(s)
	t := host.ReadTenancy(s.Node.InstanceInfo)

	if t.Namespace != namespace || t.Cluster != cluster || t.Machine == "" {
		return Found{}, false
	}

	f := Found{Machine: t.Machine, ID: t.ID, HostID: s.Node.UUID, Host: s, Note: note}
	if f.ID == "" {
		f.ID = host.MachineClaim(namespace, cluster, t.Machine)
	}

	switch {
	case s.Node.InstanceUUID == f.ID:
		f.Kind = kindOf(s)
	case s.Node.InstanceUUID == "" && !slices.Contains(idle, s.Node.ProvisionState):
		f.Kind = KindNote
	default:
		return Found{}, false
	}

	return f, true
}

func noteOf(s host.Seen) map[string]any {
	note, _ := s.Node.InstanceInfo[host.TenancyKey].(map[string]any)

	return note
}
