// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The format is Terraform's, so the expectation is spelled in it.
const want = `{
  "resource_schemas": {
    "metal3_x": {
      "version": 2,
      "block": {
        "attributes": {
          "bmc": {
            "nested_type": {
              "attributes": {
                "password_wo": {"type": "string", "description_kind": "plain", "optional": true, "sensitive": true, "write_only": true}
              },
              "nesting_mode": "single"
            },
            "description_kind": "plain",
            "required": true
          },
          "labels": {"type": ["map", "string"], "description": "Words.", "description_kind": "markdown", "optional": true, "computed": true}
        },
        "block_types": {
          "old": {"nesting_mode": "list", "block": {"description_kind": "plain"}, "max_items": 1}
        },
        "description": "An x.",
        "description_kind": "markdown"
      }
    }
  },
  "action_schemas": {"metal3_do": {"block": {"description_kind": "plain"}}},
  "functions": {
    "parse": {
      "description": "Long.",
      "summary": "Short.",
      "return_type": ["object", {"a": "bool"}],
      "parameters": [{"name": "text", "is_nullable": true, "type": "string"}]
    }
  },
  "resource_identity_schemas": {
    "metal3_x": {"version": 1, "attributes": {"id": {"type": "string", "description": "It.", "required_for_import": true}}}
  }
}`

func TestNewSchemas_areInTerraformsFormat(t *testing.T) {
	t.Parallel()

	served := &tfprotov6.GetProviderSchemaResponse{
		ResourceSchemas: map[string]*tfprotov6.Schema{"metal3_x": {Version: 2, Block: &tfprotov6.SchemaBlock{
			Description:     "An x.",
			DescriptionKind: tfprotov6.StringKindMarkdown,
			Attributes: []*tfprotov6.SchemaAttribute{
				{Name: "labels", Type: tftypes.Map{ElementType: tftypes.String}, Optional: true, Computed: true, Description: "Words.", DescriptionKind: tfprotov6.StringKindMarkdown},
				{Name: "bmc", Required: true, NestedType: &tfprotov6.SchemaObject{
					Nesting:    tfprotov6.SchemaObjectNestingModeSingle,
					Attributes: []*tfprotov6.SchemaAttribute{{Name: "password_wo", Type: tftypes.String, Optional: true, Sensitive: true, WriteOnly: true}},
				}},
			},
			BlockTypes: []*tfprotov6.SchemaNestedBlock{{TypeName: "old", Nesting: tfprotov6.SchemaNestedBlockNestingModeList, MaxItems: 1, Block: &tfprotov6.SchemaBlock{}}},
		}}},
		ActionSchemas: map[string]*tfprotov6.ActionSchema{"metal3_do": {Schema: &tfprotov6.Schema{Block: &tfprotov6.SchemaBlock{}}}},
		Functions: map[string]*tfprotov6.Function{"parse": {
			Summary: "Short.", Description: "Long.",
			Return:     &tfprotov6.FunctionReturn{Type: tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.Bool}}},
			Parameters: []*tfprotov6.FunctionParameter{{Name: "text", Type: tftypes.String, AllowNullValue: true}},
		}},
	}
	identities := &tfprotov6.GetResourceIdentitySchemasResponse{IdentitySchemas: map[string]*tfprotov6.ResourceIdentitySchema{
		"metal3_x": {Version: 1, IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{{Name: "id", Type: tftypes.String, Description: "It.", RequiredForImport: true}}},
	}}

	got, err := json.Marshal(newSchemas(served, identities))
	if err != nil {
		t.Fatal(err)
	}

	var expected bytes.Buffer
	if err := json.Compact(&expected, []byte(want)); err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, expected.Bytes()) {
		t.Errorf("got  %s\nwant %s", got, expected.Bytes())
	}
}

func TestRun_printsTheWholeProvider(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}

	var printed struct {
		FormatVersion string `json:"format_version"`
		Providers     map[string]struct {
			Provider  json.RawMessage            `json:"provider"`
			Functions map[string]json.RawMessage `json:"functions"`
		} `json:"provider_schemas"`
	}
	if err := json.Unmarshal(out.Bytes(), &printed); err != nil {
		t.Fatal(err)
	}

	metal3, ok := printed.Providers["metal3"]
	if !ok || printed.FormatVersion != "1.0" {
		t.Fatalf("no provider %q in %.200s", "metal3", out.String())
	}

	if len(metal3.Provider) == 0 || len(metal3.Functions) == 0 {
		t.Errorf("the provider's block or its functions are missing: %.200s", out.String())
	}
}
