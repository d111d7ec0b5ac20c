// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
	at "github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// bootstrapAttribute says how machines become a cluster where no user data of one's own does.
func bootstrapAttribute() schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: "How machines become a cluster. Leave it out to bring user data of your own (Talos, k3s, RKE2, …).",
		Attributes: map[string]schema.Attribute{
			"kubeadm": schema.SingleNestedAttribute{
				Required: true, Attributes: kubeadmAttributes(),
				MarkdownDescription: "User data for kubeadm: certificates of the cluster's CAs, `kubeadm init` on the first machine of the control plane and `kubeadm join` on all others. " +
					"The image must have a container runtime, kubelet and kubeadm of the version.",
			},
		},
	}
}

func kubeadmAttributes() map[string]schema.Attribute {
	all := map[string]schema.Attribute{
		"version":                schema.StringAttribute{Required: true, MarkdownDescription: "Version of Kubernetes in full, such as `v1.37.2`; 1.22 or newer."},
		"pki":                    pkiAttribute(),
		"pki_wo_version":         schema.Int64Attribute{Optional: true, MarkdownDescription: "Increase it when write-only keys of `pki` change."},
		"token_lifetime":         at.Duration("1h", "How long tokens with which machines join are valid; at least for `timeouts.provision` and `wait.node_timeout` of their machine. Default `1h`."),
		"allow_etcd_member_loss": at.Flag(false, "Take machines of the control plane away although their etcd member cannot be removed first. Default `false`."),
		"address_pool":           at.Text("Pool of `ip_pools` whose address a node and its API have. Default: the one that has the default route."),
		"node_name":              at.Text("Template of the name of a node. Default: the machine's name."),
	}

	maps.Copy(all, kubeadmSettings())
	maps.Copy(all, cloudConfigAttributes())

	return all
}

// kubeadmSettings go into kubeadm's configuration.
func kubeadmSettings() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"pod_subnet":           at.Text("Network of pods."),
		"service_subnet":       at.Text("Network of services."),
		"dns_domain":           at.Text("Domain of services. Default: kubeadm's, `cluster.local`."),
		"cert_sans":            at.Texts("More names and addresses in the API's certificate. The endpoint is always in it."),
		"cri_socket":           at.Text("Socket of the container runtime. Default `unix:///run/containerd/containerd.sock`."),
		"encryption_algorithm": at.Text("Kind of keys: `ECDSA-P256`, `ECDSA-P384`, `RSA-2048`, `RSA-3072` or `RSA-4096`. Default `ECDSA-P256`."),
		"image_repository":     at.Text("Where images of Kubernetes come from. Default: kubeadm's."),
		"bind_port":            at.NumberOrNone(1, maxPort, "Port of the API on each machine. Default `6443`."),
		"extra": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Parts of kubeadm's configuration, in YAML or JSON, that are merged into what is made.",
			Attributes: map[string]schema.Attribute{
				"cluster_configuration":    at.Text("`ClusterConfiguration`."),
				"init_configuration":       at.Text("`InitConfiguration`."),
				"join_configuration":       at.Text("`JoinConfiguration`."),
				"kubelet_configuration":    at.Text("`KubeletConfiguration`."),
				"kube_proxy_configuration": at.Text("`KubeProxyConfiguration`."),
			},
		},
		"kube_vip": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Have kube-vip hold the endpoint, as a static pod on the machines of the control plane.",
			Attributes: map[string]schema.Attribute{
				"image":     schema.StringAttribute{Required: true, MarkdownDescription: "Image, with its version."},
				"interface": at.Text("Network interface. Default: the one of the default route."),
				"address":   at.Text("Address. Default: the endpoint's."),
			},
		},
		"keepalived": schema.SingleNestedAttribute{
			Optional: true, MarkdownDescription: "Have keepalived, which must be in the image, hold the endpoint.",
			Attributes: map[string]schema.Attribute{
				"interface": schema.StringAttribute{Required: true, MarkdownDescription: "Network interface."},
				"router_id": schema.Int64Attribute{Required: true, MarkdownDescription: "Id of the virtual router: one for each endpoint of a network."},
				"address":   at.Text("Address. Default: the endpoint's."),
			},
		},
	}
}

// cloudConfigAttributes go into the rest of the user data.
func cloudConfigAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"pre_commands":  at.Texts("Commands before kubeadm."),
		"post_commands": at.Texts("Commands after kubeadm."),
		"ntp":           at.Texts("Time servers."),
		"files": schema.ListNestedAttribute{
			Optional: true, MarkdownDescription: "Files on machines.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"path":        at.Text("Path. Required."),
				"content":     schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Content. Default: empty."},
				"owner":       at.Text("Owner. Default `root:root`."),
				"permissions": at.Text("Mode. Default `0644`."),
				"encoding":    at.Text("How the content is written: `b64`, `gzip` or `gz+b64`. Default: as it is."),
				"append":      schema.BoolAttribute{Optional: true, MarkdownDescription: "Append to what is there. Default `false`."},
				"role":        at.Text("`control_plane` or `worker`: only on those. Default: on all."),
			}},
		},
		"users": schema.ListNestedAttribute{
			Optional: true, MarkdownDescription: "Users on all machines.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"name":                at.Text("Name. Required."),
				"ssh_authorized_keys": at.Texts("Keys that may log in."),
				"sudo":                at.Text("Rule of sudo, such as `ALL=(ALL) NOPASSWD:ALL`."),
				"groups":              at.Texts("Groups."),
				"shell":               at.Text("Shell."),
				"password_hash":       at.Secret("Hash of the password. Default: no login with a password."),
			}},
		},
	}
}

// pkiAttribute holds what a user brings. Whatever is left out is made once.
func pkiAttribute() schema.SingleNestedAttribute {
	parts := map[string]schema.Attribute{}

	for name, what := range map[string]string{"ca": "cluster's CA", "etcd_ca": "etcd's CA", "front_proxy_ca": "front proxy's CA"} {
		parts[name+"_certificate"] = at.Text("Certificate (PEM) of the "+what+".", pemOf("CERTIFICATE"))
		parts[name+"_private_key"] = at.Secret("Private key (PEM) of the "+what+". It is in the state.",
			pemOf("PRIVATE KEY"), stringvalidator.PreferWriteOnlyAttribute(inPKI(name+"_private_key_wo")))
		parts[name+"_private_key_wo"] = at.WriteOnly("Private key (PEM) of the "+what+", never stored in the state.",
			pemOf("PRIVATE KEY"), stringvalidator.ConflictsWith(sibling(name+"_private_key")))
	}

	parts["service_account_private_key"] = at.Secret("Private key (PEM) that signs tokens of service accounts. It is in the state.",
		pemOf("PRIVATE KEY"), stringvalidator.PreferWriteOnlyAttribute(inPKI("service_account_private_key_wo")))
	parts["service_account_private_key_wo"] = at.WriteOnly("Private key (PEM) that signs tokens of service accounts, never stored in the state.",
		pemOf("PRIVATE KEY"), stringvalidator.ConflictsWith(sibling("service_account_private_key")))

	return schema.SingleNestedAttribute{
		Optional: true, Attributes: parts,
		MarkdownDescription: "Certificates and keys of the cluster. What is left out is made once and kept in the resource's private state, which is part of the state file. " +
			"Write-only keys are nowhere in it: an apply needs them whenever a machine joins.",
	}
}

// inPKI is an attribute of pki from the root: the validator that prefers write-only attributes takes
// no relative path.
func inPKI(name string) path.Expression {
	return path.MatchRoot("bootstrap").AtName("kubeadm").AtName("pki").AtName(name)
}

// sshAttributes are a connection and the path of a kubeconfig.
func sshAttributes() map[string]schema.Attribute {
	all := connectionvalue.Attributes(remote.SSH)
	all["path"] = at.TextOr("/etc/kubernetes/admin.conf", "Path of the kubeconfig there. Default `/etc/kubernetes/admin.conf`.", absolutePath())

	return all
}
