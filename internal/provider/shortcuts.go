// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-log/tflog"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/baremetalhost"
)

// framework is the framework's server with what the protocol's own interface leaves out:
// embedded as a mere ProviderServer it would serve neither actions nor lists.
type framework interface {
	tfprotov6.ProviderServer
	tfprotov6.ActionServer
	tfprotov6.ListResourceServer
}

// shortcuts answers refresh and plan of a host that nothing happened to, without the
// framework.
//
// The framework walks a resource value by value from the root, several times a request,
// and a host with its inventory has hundreds of values: tens of milliseconds of CPU for
// each of hundreds of hosts of which nothing changed. A host whose state is settled (see
// baremetalhost.Mark) carries a mark in its private state: the hash of the record that the
// state was made from. The same hash at the next refresh gives the same state, and the
// same state as proposal gives the same plan. Whatever is not exactly that case goes the
// long way.
type shortcuts struct {
	framework

	provider *metal3
	shape    shape
}

// ReadResource implements [tfprotov6.ResourceServer].
func (s *shortcuts) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	mark, ok := markOf(req.TypeName, req.Private)
	if !ok || !s.unchanged(ctx, mark) {
		return s.framework.ReadResource(ctx, req)
	}

	tflog.Debug(ctx, "record unchanged, state unchanged", map[string]any{"node_uuid": mark.UUID})

	return &tfprotov6.ReadResourceResponse{NewState: req.CurrentState, Private: req.Private, NewIdentity: req.CurrentIdentity}, nil
}

// unchanged reports whether a refresh would find the record that the mark speaks of.
func (s *shortcuts) unchanged(ctx context.Context, mark baremetalhost.Mark) bool {
	served := s.provider.served.Load()
	if served == nil {
		return false
	}

	far, err := served.Hosts(ctx)
	if err != nil {
		return false // the long way has the words
	}

	seen, err := far.Refresh(ctx, mark.UUID)

	return err == nil && mark.Holds(seen, far.Endpoint())
}

// PlanResourceChange implements [tfprotov6.ResourceServer].
func (s *shortcuts) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if _, ok := markOf(req.TypeName, req.PriorPrivate); !ok || !nothingNew(req) {
		return s.framework.PlanResourceChange(ctx, req)
	}

	return &tfprotov6.PlanResourceChangeResponse{PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity}, nil
}

// nothingNew reports whether a proposal is the prior state. Values that are not known do
// not decode, and go the long way.
func nothingNew(req *tfprotov6.PlanResourceChangeRequest) bool {
	var all [3]map[string]any

	for i, v := range []*tfprotov6.DynamicValue{req.PriorState, req.ProposedNewState, req.Config} {
		if v == nil || msgpack.Unmarshal(v.MsgPack, &all[i]) != nil {
			return false
		}
	}

	return baremetalhost.SameProposal(all[0], all[1], all[2])
}

// markOf reads the mark out of the framework's form of private state: JSON of base64 of JSON.
func markOf(kind string, private []byte) (baremetalhost.Mark, bool) {
	if kind != typeName+"_baremetal_host" || len(private) == 0 {
		return baremetalhost.Mark{}, false
	}

	var all map[string][]byte
	if json.Unmarshal(private, &all) != nil {
		return baremetalhost.Mark{}, false
	}

	return baremetalhost.ReadMark(all[baremetalhost.MarkKey])
}
