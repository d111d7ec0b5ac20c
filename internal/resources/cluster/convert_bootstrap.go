// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// kubeadm reads the profile of the cluster; false where it has none, or it is not known.
func (m model) kubeadm(ctx context.Context, diags *diag.Diagnostics) (kubeadmModel, bool) {
	b, ok := value.Object[bootstrapModel](ctx, m.Bootstrap, diags)
	if !ok {
		return kubeadmModel{}, false
	}

	return value.Object[kubeadmModel](ctx, b.Kubeadm, diags)
}

// profile is the profile as package bootstrap takes it.
func (k kubeadmModel) profile(ctx context.Context, diags *diag.Diagnostics) bootstrap.Kubeadm {
	out := bootstrap.Kubeadm{
		Version: k.Version.ValueString(), PodSubnet: k.PodSubnet.ValueString(), ServiceSubnet: k.ServiceSubnet.ValueString(), DNSDomain: k.DNSDomain.ValueString(),
		CertSANs: value.GoStrings(k.CertSANs), CRISocket: k.CRISocket.ValueString(), EncryptionAlgorithm: bootstrap.Algorithm(k.Algorithm.ValueString()),
		ImageRepository: k.ImageRepository.ValueString(), NodeName: k.NodeName.ValueString(), AddressPool: k.AddressPool.ValueString(), BindPort: int(k.BindPort.ValueInt64()),
		PreCommands: value.GoStrings(k.PreCommands), PostCommands: value.GoStrings(k.PostCommands), NTP: value.GoStrings(k.NTP),
	}

	for _, f := range objects[fileModel](ctx, k.Files, diags) {
		out.Files = append(out.Files, bootstrap.File{
			Path: f.Path.ValueString(), Content: f.Content.ValueString(), Encoding: f.Encoding.ValueString(), Owner: f.Owner.ValueString(),
			Permissions: f.Permissions.ValueString(), Append: f.Append.ValueBool(), Role: f.Role.ValueString(),
		})
	}

	for _, u := range objects[userModel](ctx, k.Users, diags) {
		out.Users = append(out.Users, bootstrap.User{
			Name: u.Name.ValueString(), SSHAuthorizedKeys: value.GoStrings(u.Keys), Sudo: u.Sudo.ValueString(), Groups: value.GoStrings(u.Groups),
			Shell: u.Shell.ValueString(), PasswordHash: u.PasswordHash.ValueString(),
		})
	}

	if e, ok := value.Object[extraModel](ctx, k.Extra, diags); ok {
		out.Extra = bootstrap.Fragments{
			ClusterConfiguration: e.Cluster.ValueString(), InitConfiguration: e.Init.ValueString(), JoinConfiguration: e.Join.ValueString(),
			KubeletConfiguration: e.Kubelet.ValueString(), KubeProxyConfiguration: e.KubeProxy.ValueString(),
		}
	}

	if v, ok := value.Object[kubeVIPModel](ctx, k.KubeVIP, diags); ok {
		out.KubeVIP = &bootstrap.KubeVIP{Image: v.Image.ValueString(), Interface: v.Interface.ValueString(), Address: v.Address.ValueString()}
	}

	if v, ok := value.Object[keepalivedModel](ctx, k.Keepalived, diags); ok {
		out.Keepalived = &bootstrap.Keepalived{Interface: v.Interface.ValueString(), RouterID: int(v.RouterID.ValueInt64()), Address: v.Address.ValueString()}
	}

	return out
}

// pki is what a user brings. The configuration has the write-only keys; without one (nil) they
// are left out.
func (k kubeadmModel) pki(ctx context.Context, config *kubeadmModel, diags *diag.Diagnostics) bootstrap.PKI {
	p, _ := value.Object[pkiModel](ctx, k.PKI, diags)

	var wo pkiModel

	if config != nil {
		wo, _ = value.Object[pkiModel](ctx, config.PKI, diags)
	}

	pair := func(certificate, key, writeOnly types.String) bootstrap.Pair {
		out := bootstrap.Pair{Certificate: certificate.ValueString(), Key: key.ValueString()}
		if value.Known(writeOnly) {
			out.Key = writeOnly.ValueString()
		}

		return out
	}

	return bootstrap.PKI{
		CA:             pair(p.CACertificate, p.CAKey, wo.CAKeyWO),
		EtcdCA:         pair(p.EtcdCACertificate, p.EtcdCAKey, wo.EtcdCAKeyWO),
		FrontProxyCA:   pair(p.FrontCACertificate, p.FrontCAKey, wo.FrontCAKeyWO),
		ServiceAccount: pair(types.StringNull(), p.ServiceAccountKey, wo.ServiceAccountKeyWO),
	}
}
