// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package providertest

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// Server is a provider as Terraform sees it.
type Server struct {
	tfprotov6.ProviderServer

	schema *tfprotov6.GetProviderSchemaResponse
}

// NewServer starts a provider in this process. Its environment is empty unless an option gives one.
func NewServer(t *testing.T, opts ...provider.Option) *Server {
	t.Helper()

	opts = append([]provider.Option{provider.WithEnvironment(func(string) string { return "" })}, opts...)

	served := provider.NewServer("test", opts...)()

	schema, err := served.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}

	if text := Errors(schema.Diagnostics); text != "" {
		t.Fatal(text)
	}

	return &Server{served, schema}
}

// Schema is everything that the provider serves.
func (s *Server) Schema() *tfprotov6.GetProviderSchemaResponse { return s.schema }

// Configure validates the provider block and configures the provider with it.
func (s *Server) Configure(t *testing.T, block Map) []*tfprotov6.Diagnostic {
	t.Helper()

	config := dynamic(t, s.schema.Provider.ValueType(), block)

	valid, err := s.ValidateProviderConfig(t.Context(), &tfprotov6.ValidateProviderConfigRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(valid.Diagnostics) != "" {
		return valid.Diagnostics
	}

	resp, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{Config: config})
	if err != nil {
		t.Fatal(err)
	}

	return append(valid.Diagnostics, resp.Diagnostics...)
}

// Read validates and reads a data source.
func (s *Server) Read(t *testing.T, typeName string, block Map) (Map, []*tfprotov6.Diagnostic) {
	t.Helper()

	valueType := s.schema.DataSourceSchemas[typeName].ValueType()
	config := dynamic(t, valueType, block)

	valid, err := s.ValidateDataResourceConfig(t.Context(), &tfprotov6.ValidateDataResourceConfigRequest{TypeName: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(valid.Diagnostics) != "" {
		return nil, valid.Diagnostics
	}

	resp, err := s.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{TypeName: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(resp.Diagnostics) != "" {
		return nil, resp.Diagnostics
	}

	state, err := resp.State.Unmarshal(valueType)
	if err != nil {
		t.Fatal(err)
	}

	if !state.IsFullyKnown() {
		t.Errorf("Terraform takes no unknown values from a data source: %s", state)
	}

	read, ok := Plain(state).(Map)
	if !ok {
		t.Fatalf("the state is %s", state)
	}

	return read, resp.Diagnostics
}

// Open validates and opens an ephemeral resource.
func (s *Server) Open(t *testing.T, typeName string, block Map) (Map, []*tfprotov6.Diagnostic) {
	t.Helper()

	valueType := s.schema.EphemeralResourceSchemas[typeName].ValueType()
	config := dynamic(t, valueType, block)

	valid, err := s.ValidateEphemeralResourceConfig(t.Context(), &tfprotov6.ValidateEphemeralResourceConfigRequest{TypeName: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(valid.Diagnostics) != "" {
		return nil, valid.Diagnostics
	}

	resp, err := s.OpenEphemeralResource(t.Context(), &tfprotov6.OpenEphemeralResourceRequest{TypeName: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(resp.Diagnostics) != "" {
		return nil, resp.Diagnostics
	}

	result, err := resp.Result.Unmarshal(valueType)
	if err != nil {
		t.Fatal(err)
	}

	opened, ok := Plain(result).(Map)
	if !ok || !result.IsFullyKnown() {
		t.Fatalf("the result is %s", result)
	}

	return opened, resp.Diagnostics
}

// Invoke validates, plans and invokes an action, as Terraform 1.14 does. It returns the
// lines of progress.
func (s *Server) Invoke(t *testing.T, typeName string, block Map) ([]string, []*tfprotov6.Diagnostic) {
	t.Helper()

	served, ok := s.ProviderServer.(tfprotov6.ActionServer)
	if !ok {
		t.Fatal("Terraform would find no actions in this server")
	}

	config := dynamic(t, s.schema.ActionSchemas[typeName].Schema.ValueType(), block)

	valid, err := served.ValidateActionConfig(t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(valid.Diagnostics) != "" {
		return nil, valid.Diagnostics
	}

	plan, err := served.PlanAction(t.Context(), &tfprotov6.PlanActionRequest{ActionType: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	if Errors(plan.Diagnostics) != "" {
		return nil, plan.Diagnostics
	}

	stream, err := served.InvokeAction(t.Context(), &tfprotov6.InvokeActionRequest{ActionType: typeName, Config: config})
	if err != nil {
		t.Fatal(err)
	}

	var (
		progress []string
		diags    []*tfprotov6.Diagnostic
	)

	for event := range stream.Events {
		switch event := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			progress = append(progress, event.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			diags = append(diags, event.Diagnostics...)
		}
	}

	return progress, diags
}

func dynamic(t *testing.T, valueType tftypes.Type, block Map) *tfprotov6.DynamicValue {
	t.Helper()

	config, err := tfprotov6.NewDynamicValue(valueType, Value(valueType, block))
	if err != nil {
		t.Fatal(err)
	}

	return &config
}

// Errors joins the errors among diagnostics, each as "path: summary: detail".
func Errors(all []*tfprotov6.Diagnostic) string { return pick(all, tfprotov6.DiagnosticSeverityError) }

// Warnings joins the warnings among diagnostics.
func Warnings(all []*tfprotov6.Diagnostic) string {
	return pick(all, tfprotov6.DiagnosticSeverityWarning)
}

func pick(all []*tfprotov6.Diagnostic, severity tfprotov6.DiagnosticSeverity) string {
	text := ""

	for _, d := range all {
		if d.Severity != severity {
			continue
		}

		if d.Attribute != nil {
			text += d.Attribute.String() + ": "
		}

		text += d.Summary + ": " + d.Detail + "\n"
	}

	return text
}
