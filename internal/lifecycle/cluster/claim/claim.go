// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Far is what this package needs of Ironic. Errors are those of package ironic, but for a node
// that is not there, which is host.ErrGone. Every method may be called again.
type Far interface {
	// All returns the nodes, from the list that all readers of this moment share.
	All(ctx context.Context) ([]host.Seen, error)
	// Look returns a node as it is now.
	Look(ctx context.Context, id string) (host.Seen, error)
	// ByClaim returns the node whose instance_uuid is id, host.ErrGone where none has it.
	ByClaim(ctx context.Context, id string) (host.Seen, error)
	// Patch changes a node in one request and returns it as it is then.
	Patch(ctx context.Context, id string, ops []ironic.Patch) (host.Seen, error)

	// The allocations. Where they cannot be used the error is ironic.ErrNoAllocations.
	Allocations(ctx context.Context) ([]ironic.Allocation, error)
	Allocation(ctx context.Context, id string) (ironic.Allocation, error)
	Allocate(ctx context.Context, a ironic.NewAllocation) (ironic.Allocation, error)
	Amend(ctx context.Context, id string, extra map[string]string) (ironic.Allocation, error)
	Deallocate(ctx context.Context, id string) error
}

// Kind says what a claim is made of.
type Kind string

// The kinds of claims.
const (
	KindAllocation Kind = "allocation"
	KindInstance   Kind = "instance_uuid"
)

// The keys of an allocation's extra that say whose it is.
const (
	ExtraNamespace = "namespace"
	ExtraCluster   = "cluster"
	ExtraMachine   = "machine"
)

// notePath is where the note of a claim is kept on the node.
const notePath = "/instance_info/" + host.TenancyKey

// Request asks for a host for one machine.
type Request struct {
	// ID is the claim, host.MachineClaim of the three names.
	ID                          string
	Namespace, Cluster, Machine string
	// Candidates are tried in this order.
	Candidates []host.Seen
	// Extra is kept with an allocation; the three names are added.
	Extra map[string]string
	// Note is kept in the node's instance_info under host.TenancyKey; id and names are added.
	Note map[string]any
	// Eligible says why a host is not fit for the machine, "" where it is. It is asked again
	// once the host is claimed, and must not mind that the claim is ID. Nil accepts all.
	Eligible func(host.Seen) string
}

// Got is the host that a machine has.
type Got struct {
	Host    host.Seen
	Kind    Kind
	Resumed bool // the claim was there already; the host may be deployed
}

// AllocationName is the name of a machine's allocation.
func AllocationName(namespace, cluster, machine string) string {
	return namespace + "." + cluster + "." + machine
}

func (r Request) name() string { return AllocationName(r.Namespace, r.Cluster, r.Machine) }

// extra is what the allocation says of itself.
func (r Request) extra() map[string]string {
	out := map[string]string{}
	for key, value := range r.Extra {
		out[key] = value
	}

	out[ExtraNamespace], out[ExtraCluster], out[ExtraMachine] = r.Namespace, r.Cluster, r.Machine

	return out
}

// note is what the node says of the claim.
func (r Request) note() map[string]any {
	out := map[string]any{}
	for key, value := range r.Note {
		out[key] = value
	}

	out["id"], out["namespace"], out["cluster"], out["machine"] = r.ID, r.Namespace, r.Cluster, r.Machine

	return out
}

func (r Request) refusal(s host.Seen) string {
	if r.Eligible == nil {
		return ""
	}

	return r.Eligible(s)
}

// label names a host for people, and is the key of refusals.
func label(s host.Seen) string {
	if s.Node.Name != "" {
		return s.Node.Name
	}

	return s.Node.UUID
}
