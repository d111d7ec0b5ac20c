// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package value

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/attr/xattr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"sigs.k8s.io/yaml"
)

var (
	_ basetypes.StringTypable                    = DocumentType{}
	_ basetypes.StringValuableWithSemanticEquals = Document{}
	_ xattr.ValidateableAttribute                = Document{}
	_ SemanticString                             = Document{}
)

// ParseDocument reads an object written in JSON or YAML. Its errors hold positions and key
// names, never values: a document may carry secrets.
func ParseDocument(s string) (map[string]any, error) {
	doc, err := yaml.YAMLToJSONStrict([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("the document is neither JSON nor YAML: %w", err)
	}

	var parsed any
	if err := json.Unmarshal(doc, &parsed); err != nil {
		return nil, fmt.Errorf("the document cannot be read: %w", err)
	}

	object, ok := parsed.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the document must be an object (keys and values), it is %s", kind(parsed))
	}

	return object, nil
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "empty"
	case []any:
		return "a list"
	case string:
		return "a string"
	default:
		return "a single value"
	}
}

// DocumentType is the type of an attribute that holds an object written in JSON or YAML.
type DocumentType struct{ basetypes.StringType }

// Document is an object written in JSON or YAML, as the user wrote it.
type Document struct{ basetypes.StringValue }

// NewDocument returns a known document.
func NewDocument(s string) Document { return Document{basetypes.NewStringValue(s)} }

// NullDocument returns the absent document.
func NullDocument() Document { return Document{basetypes.NewStringNull()} }

// UnknownDocument returns a document that is not known yet.
func UnknownDocument() Document { return Document{basetypes.NewStringUnknown()} }

// Object returns the parsed document, nil where it is null or unknown.
func (d Document) Object() (map[string]any, error) {
	if d.IsNull() || d.IsUnknown() {
		return nil, nil
	}

	return ParseDocument(d.ValueString())
}

// Type implements attr.Value.
func (d Document) Type(context.Context) attr.Type { return DocumentType{} }

// Equal implements attr.Value; it compares texts.
func (d Document) Equal(o attr.Value) bool {
	other, ok := o.(Document)

	return ok && d.StringValue.Equal(other.StringValue)
}

// SameMeaning reports whether two texts say the same.
func (d Document) SameMeaning(other string) bool {
	ours, err := ParseDocument(d.ValueString())
	if err != nil {
		return false
	}

	theirs, err := ParseDocument(other)

	return err == nil && reflect.DeepEqual(ours, theirs)
}

// StringSemanticEquals keeps the configured text where only order, spacing or notation differ.
func (d Document) StringSemanticEquals(_ context.Context, v basetypes.StringValuable) (bool, diag.Diagnostics) {
	other, ok := v.(Document)

	return ok && d.SameMeaning(other.ValueString()), nil
}

// ValidateAttribute refuses what is no object.
func (d Document) ValidateAttribute(_ context.Context, req xattr.ValidateAttributeRequest, resp *xattr.ValidateAttributeResponse) {
	if _, err := d.Object(); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid document", Sentence(err))
	}
}

// Equal implements attr.Type.
func (t DocumentType) Equal(o attr.Type) bool {
	_, ok := o.(DocumentType)

	return ok
}

// String implements attr.Type.
func (t DocumentType) String() string { return "value.DocumentType" }

// ValueType implements attr.Type.
func (t DocumentType) ValueType(context.Context) attr.Value { return Document{} }

// ValueFromString implements basetypes.StringTypable.
func (t DocumentType) ValueFromString(_ context.Context, v basetypes.StringValue) (basetypes.StringValuable, diag.Diagnostics) {
	return Document{v}, nil
}

// ValueFromTerraform implements attr.Type.
func (t DocumentType) ValueFromTerraform(ctx context.Context, in tftypes.Value) (attr.Value, error) {
	v, err := stringFromTerraform(ctx, in)

	return Document{v}, err
}
