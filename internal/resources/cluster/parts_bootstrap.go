// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/hashicorp/terraform-plugin-framework/types"

type bootstrapModel struct {
	Kubeadm types.Object `tfsdk:"kubeadm"`
}

type kubeadmModel struct {
	Version             types.String `tfsdk:"version"`
	PKI                 types.Object `tfsdk:"pki"`
	PKIVersion          types.Int64  `tfsdk:"pki_wo_version"`
	TokenLifetime       types.String `tfsdk:"token_lifetime"`
	AllowEtcdMemberLoss types.Bool   `tfsdk:"allow_etcd_member_loss"`
	AddressPool         types.String `tfsdk:"address_pool"`
	NodeName            types.String `tfsdk:"node_name"`

	PodSubnet       types.String `tfsdk:"pod_subnet"`
	ServiceSubnet   types.String `tfsdk:"service_subnet"`
	DNSDomain       types.String `tfsdk:"dns_domain"`
	CertSANs        types.List   `tfsdk:"cert_sans"`
	CRISocket       types.String `tfsdk:"cri_socket"`
	Algorithm       types.String `tfsdk:"encryption_algorithm"`
	ImageRepository types.String `tfsdk:"image_repository"`
	BindPort        types.Int64  `tfsdk:"bind_port"`
	Extra           types.Object `tfsdk:"extra"`
	KubeVIP         types.Object `tfsdk:"kube_vip"`
	Keepalived      types.Object `tfsdk:"keepalived"`

	PreCommands  types.List `tfsdk:"pre_commands"`
	PostCommands types.List `tfsdk:"post_commands"`
	NTP          types.List `tfsdk:"ntp"`
	Files        types.List `tfsdk:"files"`
	Users        types.List `tfsdk:"users"`
}

type extraModel struct {
	Cluster   types.String `tfsdk:"cluster_configuration"`
	Init      types.String `tfsdk:"init_configuration"`
	Join      types.String `tfsdk:"join_configuration"`
	Kubelet   types.String `tfsdk:"kubelet_configuration"`
	KubeProxy types.String `tfsdk:"kube_proxy_configuration"`
}

type kubeVIPModel struct {
	Image     types.String `tfsdk:"image"`
	Interface types.String `tfsdk:"interface"`
	Address   types.String `tfsdk:"address"`
}

type keepalivedModel struct {
	Interface types.String `tfsdk:"interface"`
	RouterID  types.Int64  `tfsdk:"router_id"`
	Address   types.String `tfsdk:"address"`
}

type fileModel struct {
	Path        types.String `tfsdk:"path"`
	Content     types.String `tfsdk:"content"`
	Owner       types.String `tfsdk:"owner"`
	Permissions types.String `tfsdk:"permissions"`
	Encoding    types.String `tfsdk:"encoding"`
	Append      types.Bool   `tfsdk:"append"`
	Role        types.String `tfsdk:"role"`
}

type userModel struct {
	Name         types.String `tfsdk:"name"`
	Keys         types.List   `tfsdk:"ssh_authorized_keys"`
	Sudo         types.String `tfsdk:"sudo"`
	Groups       types.List   `tfsdk:"groups"`
	Shell        types.String `tfsdk:"shell"`
	PasswordHash types.String `tfsdk:"password_hash"`
}

type pkiModel struct {
	CACertificate       types.String `tfsdk:"ca_certificate"`
	CAKey               types.String `tfsdk:"ca_private_key"`
	CAKeyWO             types.String `tfsdk:"ca_private_key_wo"`
	EtcdCACertificate   types.String `tfsdk:"etcd_ca_certificate"`
	EtcdCAKey           types.String `tfsdk:"etcd_ca_private_key"`
	EtcdCAKeyWO         types.String `tfsdk:"etcd_ca_private_key_wo"`
	FrontCACertificate  types.String `tfsdk:"front_proxy_ca_certificate"`
	FrontCAKey          types.String `tfsdk:"front_proxy_ca_private_key"`
	FrontCAKeyWO        types.String `tfsdk:"front_proxy_ca_private_key_wo"`
	ServiceAccountKey   types.String `tfsdk:"service_account_private_key"`
	ServiceAccountKeyWO types.String `tfsdk:"service_account_private_key_wo"`
}
