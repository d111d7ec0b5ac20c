// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// shape is what the state of a resource looks like today.
type shape struct {
	once    sync.Once
	kind    tftypes.Type // nil where it could not be told
	version int64
}

// UpgradeResourceState implements [tfprotov6.ResourceServer]. Terraform asks for it once a
// host and run, also where nothing is to be upgraded. A state of today's version with
// nothing in it that the schema does not know goes back as it came: to read it value by
// value and write it again is a quarter of an unchanged plan.
func (s *shortcuts) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	if req.TypeName == typeName+"_baremetal_host" && req.RawState != nil && s.upToDate(ctx, req) {
		return &tfprotov6.UpgradeResourceStateResponse{UpgradedState: &tfprotov6.DynamicValue{JSON: req.RawState.JSON}}, nil
	}

	return s.framework.UpgradeResourceState(ctx, req)
}

func (s *shortcuts) upToDate(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) bool {
	s.shape.once.Do(func() {
		schema, err := s.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
		if err == nil && schema.ResourceSchemas[req.TypeName] != nil {
			s.shape.kind, s.shape.version = schema.ResourceSchemas[req.TypeName].ValueType(), schema.ResourceSchemas[req.TypeName].Version
		}
	})

	if s.shape.kind == nil || req.Version != s.shape.version {
		return false
	}

	var state map[string]any

	d := json.NewDecoder(bytes.NewReader(req.RawState.JSON))
	d.UseNumber()

	return d.Decode(&state) == nil && state != nil && fits(s.shape.kind, state)
}

// fits reports whether a value out of JSON is one of a type. Attributes that are missing are null.
func fits(kind tftypes.Type, v any) bool {
	if v == nil {
		return true
	}

	switch kind := kind.(type) {
	case tftypes.Object:
		m, ok := v.(map[string]any)
		for key, one := range m {
			inner, known := kind.AttributeTypes[key]
			ok = ok && known && fits(inner, one)
		}

		return ok
	case tftypes.Map:
		m, ok := v.(map[string]any)
		for _, one := range m {
			ok = ok && fits(kind.ElementType, one)
		}

		return ok
	case tftypes.List:
		return allFit(kind.ElementType, v)
	case tftypes.Set:
		return allFit(kind.ElementType, v)
	default:
		return primitive(kind, v)
	}
}

func allFit(kind tftypes.Type, v any) bool {
	l, ok := v.([]any)
	for _, one := range l {
		ok = ok && fits(kind, one)
	}

	return ok
}

func primitive(kind tftypes.Type, v any) bool {
	switch v.(type) {
	case string:
		return kind.Is(tftypes.String)
	case json.Number:
		return kind.Is(tftypes.Number)
	case bool:
		return kind.Is(tftypes.Bool)
	default:
		return false
	}
}
