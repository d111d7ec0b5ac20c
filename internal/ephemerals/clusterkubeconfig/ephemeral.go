// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package clusterkubeconfig is the ephemeral resource metal3_cluster_kubeconfig: a way into a
// workload cluster that never gets into a state.
package clusterkubeconfig

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/ephemeralvalidator"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

var (
	_ ephemeral.EphemeralResourceWithConfigure        = (*kubeconfigResource)(nil)
	_ ephemeral.EphemeralResourceWithConfigValidators = (*kubeconfigResource)(nil)
)

// limit bounds reading from a machine.
const limit = 2 * time.Minute

// far is the part of the provider that this ephemeral resource needs.
type far interface {
	Nodes(ctx context.Context) (*remote.Pool, remote.Config, error)
}

type kubeconfigResource struct{ far far }

// NewEphemeralResource returns the ephemeral resource.
func NewEphemeralResource() ephemeral.EphemeralResource { return &kubeconfigResource{} }

// Metadata names the ephemeral resource.
func (e *kubeconfigResource) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_cluster_kubeconfig"
}

// Configure takes over what the provider offers.
func (e *kubeconfigResource) Configure(_ context.Context, req ephemeral.ConfigureRequest, resp *ephemeral.ConfigureResponse) {
	value.Offered("The ephemeral resource metal3_cluster_kubeconfig", req.ProviderData, &e.far, &resp.Diagnostics)
}

// ConfigValidators refuse none and several of the ways.
func (e *kubeconfigResource) ConfigValidators(context.Context) []ephemeral.ConfigValidator {
	return []ephemeral.ConfigValidator{
		ephemeralvalidator.ExactlyOneOf(path.MatchRoot("ca"), path.MatchRoot("kubeconfig"), path.MatchRoot("ssh")),
	}
}

// Open makes the kubeconfig, or reads it.
func (e *kubeconfigResource) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	access, err := m.access(ctx, e.far, time.Now(), &resp.Diagnostics)

	switch {
	case resp.Diagnostics.HasError():
		return
	case err != nil:
		resp.Diagnostics.AddError("No kubeconfig of the cluster", value.Sentence(err))

		return
	}

	m.fill(access)

	if !access.Ends.IsZero() && time.Now().After(access.Ends) {
		resp.Diagnostics.AddWarning("Kubeconfig that has ended", "The certificate of the kubeconfig ended at "+m.ExpiresAt.ValueString()+
			": the cluster refuses it. Make it anew: an apply of the metal3_cluster renews its kubeconfig; on a machine that kubeadm made, `kubeadm certs renew admin.conf` does.")
	}

	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}

// text is a value that may be absent.
func text(s string) types.String {
	if s == "" {
		return types.StringNull()
	}

	return types.StringValue(s)
}
