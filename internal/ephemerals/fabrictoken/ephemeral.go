// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabrictoken is the ephemeral resource metal3_fabric_token: a token of the fabric
// manager, for requests that this provider has no resource for.
package fabrictoken

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*tokenResource)(nil)

// services is the part of the provider that this ephemeral resource needs.
type services interface {
	Devices(ctx context.Context) (*device.Desk, error)
}

type tokenResource struct{ services services }

// model is the ephemeral resource as Terraform sees it.
type model struct {
	WaitFor     types.String `tfsdk:"wait_for"`
	AccessToken types.String `tfsdk:"access_token"`
	TokenType   types.String `tfsdk:"token_type"`
	Expiry      types.String `tfsdk:"expiry"`
	Endpoint    types.String `tfsdk:"endpoint"`
}

// NewEphemeralResource returns the ephemeral resource.
func NewEphemeralResource() ephemeral.EphemeralResource { return &tokenResource{} }

// Metadata names the ephemeral resource.
func (e *tokenResource) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_fabric_token"
}

// Schema is the token and what belongs to it.
func (e *tokenResource) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A token of the fabric manager that the provider is configured for, to be used while Terraform runs and never stored. The provider's " +
			"own requests share it, so it costs no login of its own while one is good. Managers of FTI have tokens; the others do not.",
		Attributes: map[string]schema.Attribute{
			"wait_for": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Any text that is not known before the manager is there, where the same run makes it. It changes nothing but when this is opened. " +
					"(`depends_on` does not put an ephemeral resource off: Terraform 1.11.)",
			},
			"access_token": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "The token."},
			"token_type":   schema.StringAttribute{Computed: true, MarkdownDescription: "How to present it: `Bearer`."},
			"expiry": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "When it ends (RFC 3339), null where the manager does not tell. Some live only a minute: use it at once. " +
					"It cannot be renewed, only asked for anew.",
			},
			"endpoint": schema.StringAttribute{Computed: true, MarkdownDescription: "Address of the manager that takes it."},
		},
	}
}

// Configure takes over what the provider offers.
func (e *tokenResource) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	value.Offered("The ephemeral resource metal3_fabric_token", req.ProviderData, &e.services, &resp.Diagnostics)
}

// Open asks for a token.
func (e *tokenResource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	token, endpoint, err := e.token(ctx)
	if err != nil {
		resp.Diagnostics.Append(failure(err))

		return
	}

	m.AccessToken, m.TokenType, m.Expiry = types.StringValue(token.AccessToken), types.StringValue(token.Type), types.StringNull()
	m.Endpoint = types.StringValue(endpoint)

	if !token.Expiry.IsZero() {
		m.Expiry = types.StringValue(token.Expiry.UTC().Format(time.RFC3339))
	}

	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}

// errNoTokens says that the manager is not one that works with tokens.
var errNoTokens = errors.New("this kind of manager (fabric.type) has no tokens: it takes the user name and password of fabric.auth with each request, " +
	"or no login at all. Those of types fti_fm and fti_cm have tokens")

func (e *tokenResource) token(ctx context.Context) (fabric.Token, string, error) {
	if e.services == nil {
		return fabric.Token{}, "", device.ErrUnknown
	}

	desk, err := e.services.Devices(ctx)
	if err != nil {
		return fabric.Token{}, "", err
	}

	// A token is for all that is at the address: whose machines are meant is the caller's to say.
	address := fabric.Address(desk.Fabric.Endpoint())

	source, ok := desk.Fabric.(fabric.TokenSource)
	if !ok {
		return fabric.Token{}, "", fmt.Errorf("the manager at %s: %w", address, errNoTokens)
	}

	token, err := source.Token(ctx)
	if err != nil {
		return fabric.Token{}, "", fmt.Errorf("ask %s for a token: %w", address, err)
	}

	return token, address, nil
}

// failure turns an error into words for people.
func failure(err error) diag.Diagnostic {
	switch {
	case errors.Is(err, device.ErrUnknown):
		return diag.NewErrorDiagnostic("No token of the fabric manager yet", value.Sentence(err)+
			" "+value.PutOff("wait_for"))
	case errors.Is(err, errNoTokens):
		return diag.NewErrorDiagnostic("The fabric manager has no tokens", value.Sentence(err))
	default:
		return diag.NewErrorDiagnostic("No token of the fabric manager", value.Sentence(err))
	}
}
