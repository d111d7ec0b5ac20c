// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The types below are the JSON format of Terraform: their tags are its names,
// and what is absent there is absent here.

type schemas struct {
	Provider   *schema             `json:"provider,omitempty"`
	Resources  map[string]*schema  `json:"resource_schemas,omitempty"`
	Data       map[string]*schema  `json:"data_source_schemas,omitempty"`
	Ephemeral  map[string]*schema  `json:"ephemeral_resource_schemas,omitempty"`
	Lists      map[string]*schema  `json:"list_resource_schemas,omitempty"`
	Actions    map[string]action   `json:"action_schemas,omitempty"`
	Functions  map[string]function `json:"functions,omitempty"`
	Identities map[string]identity `json:"resource_identity_schemas,omitempty"`
}

type schema struct {
	Version int64  `json:"version"`
	Block   *block `json:"block,omitempty"`
}

type action struct {
	Block *block `json:"block,omitempty"`
}

type block struct {
	Attributes      map[string]attribute   `json:"attributes,omitempty"`
	BlockTypes      map[string]nestedBlock `json:"block_types,omitempty"`
	Description     string                 `json:"description,omitempty"`
	DescriptionKind string                 `json:"description_kind,omitempty"`
	Deprecated      bool                   `json:"deprecated,omitempty"`
}

type nestedBlock struct {
	NestingMode string `json:"nesting_mode"`
	Block       *block `json:"block,omitempty"`
	MinItems    int64  `json:"min_items,omitempty"`
	MaxItems    int64  `json:"max_items,omitempty"`
}

type attribute struct {
	Type            tftypes.Type `json:"type,omitempty"`
	NestedType      *nestedType  `json:"nested_type,omitempty"`
	Description     string       `json:"description,omitempty"`
	DescriptionKind string       `json:"description_kind,omitempty"`
	Deprecated      bool         `json:"deprecated,omitempty"`
	Required        bool         `json:"required,omitempty"`
	Optional        bool         `json:"optional,omitempty"`
	Computed        bool         `json:"computed,omitempty"`
	Sensitive       bool         `json:"sensitive,omitempty"`
	WriteOnly       bool         `json:"write_only,omitempty"`
}

type nestedType struct {
	Attributes  map[string]attribute `json:"attributes,omitempty"`
	NestingMode string               `json:"nesting_mode"`
}

type function struct {
	Description string       `json:"description,omitempty"`
	Summary     string       `json:"summary,omitempty"`
	Return      tftypes.Type `json:"return_type"`
	Parameters  []parameter  `json:"parameters,omitempty"`
	Variadic    *parameter   `json:"variadic_parameter,omitempty"`
}

type parameter struct {
	Name        string       `json:"name,omitempty"`
	Description string       `json:"description,omitempty"`
	IsNullable  bool         `json:"is_nullable,omitempty"`
	Type        tftypes.Type `json:"type"`
}

type identity struct {
	Version    int64                        `json:"version"`
	Attributes map[string]identityAttribute `json:"attributes,omitempty"`
}

type identityAttribute struct {
	Type              tftypes.Type `json:"type,omitempty"`
	Description       string       `json:"description,omitempty"`
	RequiredForImport bool         `json:"required_for_import,omitempty"`
	OptionalForImport bool         `json:"optional_for_import,omitempty"`
}

func newSchemas(s *tfprotov6.GetProviderSchemaResponse, i *tfprotov6.GetResourceIdentitySchemasResponse) schemas {
	return schemas{
		Provider:   newSchema(s.Provider),
		Resources:  each(s.ResourceSchemas, newSchema),
		Data:       each(s.DataSourceSchemas, newSchema),
		Ephemeral:  each(s.EphemeralResourceSchemas, newSchema),
		Lists:      each(s.ListResourceSchemas, newSchema),
		Actions:    each(s.ActionSchemas, func(a *tfprotov6.ActionSchema) action { return action{Block: newBlock(a.Schema.Block)} }),
		Functions:  each(s.Functions, newFunction),
		Identities: each(i.IdentitySchemas, newIdentity),
	}
}

// each converts the values of a map; nothing stays nothing.
func each[From, To any](from map[string]From, convert func(From) To) map[string]To {
	if len(from) == 0 {
		return nil
	}

	to := make(map[string]To, len(from))
	for key, value := range from {
		to[key] = convert(value)
	}

	return to
}

func newSchema(s *tfprotov6.Schema) *schema {
	if s == nil {
		return nil
	}

	return &schema{Version: s.Version, Block: newBlock(s.Block)}
}

func newBlock(b *tfprotov6.SchemaBlock) *block {
	if b == nil {
		return nil
	}

	out := &block{
		Attributes:      newAttributes(b.Attributes),
		Description:     b.Description,
		DescriptionKind: kind(b.DescriptionKind),
		Deprecated:      b.Deprecated,
	}

	for _, nested := range b.BlockTypes {
		if out.BlockTypes == nil {
			out.BlockTypes = map[string]nestedBlock{}
		}

		out.BlockTypes[nested.TypeName] = nestedBlock{
			NestingMode: strings.ToLower(nested.Nesting.String()),
			Block:       newBlock(nested.Block),
			MinItems:    nested.MinItems,
			MaxItems:    nested.MaxItems,
		}
	}

	return out
}

func newAttributes(attributes []*tfprotov6.SchemaAttribute) map[string]attribute {
	out := make(map[string]attribute, len(attributes))

	for _, a := range attributes {
		converted := attribute{
			Type:            a.Type,
			Description:     a.Description,
			DescriptionKind: kind(a.DescriptionKind),
			Deprecated:      a.Deprecated,
			Required:        a.Required,
			Optional:        a.Optional,
			Computed:        a.Computed,
			Sensitive:       a.Sensitive,
			WriteOnly:       a.WriteOnly,
		}

		if a.NestedType != nil {
			converted.NestedType = &nestedType{
				Attributes:  newAttributes(a.NestedType.Attributes),
				NestingMode: strings.ToLower(a.NestedType.Nesting.String()),
			}
		}

		out[a.Name] = converted
	}

	return out
}

func newFunction(f *tfprotov6.Function) function {
	out := function{Description: f.Description, Summary: f.Summary, Return: f.Return.Type}

	for _, p := range f.Parameters {
		out.Parameters = append(out.Parameters, newParameter(p))
	}

	if f.VariadicParameter != nil {
		variadic := newParameter(f.VariadicParameter)
		out.Variadic = &variadic
	}

	return out
}

func newParameter(p *tfprotov6.FunctionParameter) parameter {
	return parameter{Name: p.Name, Description: p.Description, IsNullable: p.AllowNullValue, Type: p.Type}
}

func newIdentity(i *tfprotov6.ResourceIdentitySchema) identity {
	out := identity{Version: i.Version, Attributes: make(map[string]identityAttribute, len(i.IdentityAttributes))}

	for _, a := range i.IdentityAttributes {
		out.Attributes[a.Name] = identityAttribute{
			Type:              a.Type,
			Description:       a.Description,
			RequiredForImport: a.RequiredForImport,
			OptionalForImport: a.OptionalForImport,
		}
	}

	return out
}

// kind names how a description is written.
func kind(k tfprotov6.StringKind) string {
	if k == tfprotov6.StringKindMarkdown {
		return "markdown"
	}

	return "plain"
}
