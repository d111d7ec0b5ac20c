// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// Kubeadm is the kubeadm profile of a cluster, as the configuration writes it.
type Kubeadm struct {
	Version             string    `json:"version"`
	PodSubnet           string    `json:"pod_subnet,omitempty"`
	ServiceSubnet       string    `json:"service_subnet,omitempty"`
	DNSDomain           string    `json:"dns_domain,omitempty"`
	CertSANs            []string  `json:"cert_sans,omitempty"` // besides the endpoint's
	CRISocket           string    `json:"cri_socket,omitempty"`
	EncryptionAlgorithm Algorithm `json:"encryption_algorithm,omitempty"`
	ImageRepository     string    `json:"image_repository,omitempty"`
	// NodeName is a template of the name of the Node; empty: the machine's name.
	NodeName string `json:"node_name,omitempty"`
	// AddressPool names the pool whose address the Node and its API have; empty: the one that
	// has the default route.
	AddressPool  string      `json:"address_pool,omitempty"`
	BindPort     int         `json:"bind_port,omitempty"`
	PreCommands  []string    `json:"pre_commands,omitempty"`
	PostCommands []string    `json:"post_commands,omitempty"`
	Files        []File      `json:"files,omitempty"`
	Users        []User      `json:"users,omitempty"`
	NTP          []string    `json:"ntp,omitempty"` // servers
	Extra        Fragments   `json:"extra,omitzero"`
	KubeVIP      *KubeVIP    `json:"kube_vip,omitempty"`
	Keepalived   *Keepalived `json:"keepalived,omitempty"`
}

// Fragments are parts of kubeadm's configuration that users write themselves, in JSON or YAML.
type Fragments struct {
	ClusterConfiguration   string `json:"cluster_configuration,omitempty"`
	InitConfiguration      string `json:"init_configuration,omitempty"`
	JoinConfiguration      string `json:"join_configuration,omitempty"`
	KubeletConfiguration   string `json:"kubelet_configuration,omitempty"`
	KubeProxyConfiguration string `json:"kube_proxy_configuration,omitempty"`
}

// Where kubeadm finds its configuration, and the names of its container runtime's socket.
const (
	initPath         = "/run/kubeadm/kubeadm.yaml"
	joinPath         = "/run/kubeadm/kubeadm-join-config.yaml"
	defaultCRISocket = "unix:///run/containerd/containerd.sock"
)

// Check lists everything that is wrong with the profile, by attribute, before there is a machine.
func (k Kubeadm) Check() []error {
	var errs []error

	add := func(attribute string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", attribute, err))
		}
	}

	version, err := ParseVersion(k.Version)
	add("version", err)

	if err == nil {
		_, err = version.form()
		add("version", err)
	}

	if err == nil && k.EncryptionAlgorithm != "" && version.Minor < minorAlgorithm {
		add("encryption_algorithm", fmt.Errorf("kubeadm takes it from 1.%d on, not in %s", minorAlgorithm, version))
	}

	add("encryption_algorithm", k.EncryptionAlgorithm.check())
	add("pod_subnet", checkSubnets(k.PodSubnet))
	add("service_subnet", checkSubnets(k.ServiceSubnet))

	_, err = ParseTemplate(k.NodeName)
	add("node_name", err)

	if k.BindPort < 0 || k.BindPort > 65535 {
		add("bind_port", errors.New("a port is between 1 and 65535"))
	}

	for _, f := range k.Files {
		add("files", f.check())
	}

	for _, u := range k.Users {
		add("users", u.check())
	}

	add("kube_vip", k.KubeVIP.check())
	add("keepalived", k.Keepalived.check())

	if k.KubeVIP != nil && k.Keepalived != nil {
		add("kube_vip", errors.New("kube-vip and keepalived would both hold the endpoint; choose one"))
	}

	return append(errs, k.checkFragments(version)...)
}

// Warnings lists what may not be as meant.
func (k Kubeadm) Warnings() []string {
	version, err := ParseVersion(k.Version)
	if err != nil {
		return nil
	}

	var out []string

	if version.Minor > newestMinor {
		out = append(out, fmt.Sprintf("Kubernetes %s is newer than 1.%d, the newest that this provider was tested with: its kubeadm may no longer read %s.",
			version, newestMinor, forms[0].form))
	}

	const lastBroken = 6
	if k.KubeVIP != nil && version.Minor == minorSuperAdmin && version.Patch <= lastBroken {
		out = append(out, fmt.Sprintf("Kubernetes %s drops hostAliases of static pods, which kube-vip needs (kube-vip/kube-vip#692); take 1.29.7 or newer.", version))
	}

	return out
}

// checkSubnets takes one subnet, or one of each family with a comma between them.
func checkSubnets(s string) error {
	if s == "" {
		return nil
	}

	for part := range strings.SplitSeq(s, ",") {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is no subnet; write one such as 10.244.0.0/16", part)
		}

		if p != p.Masked() {
			return fmt.Errorf("%q has bits set behind its prefix; the subnet is %s", part, p.Masked())
		}
	}

	return nil
}

// SourceHash tells whether a machine was made from another profile. What only one role is made
// of counts for that role alone, and neither tokens nor keys count.
func (k Kubeadm) SourceHash(controlPlane bool) string {
	role := RoleControlPlane
	if !controlPlane {
		role = RoleWorker
		k.PodSubnet, k.ServiceSubnet, k.DNSDomain, k.CertSANs, k.ImageRepository = "", "", "", nil, ""
		k.EncryptionAlgorithm, k.BindPort, k.KubeVIP, k.Keepalived = "", 0, nil, nil
		k.Extra = Fragments{JoinConfiguration: k.Extra.JoinConfiguration}
	}

	k.Files = filesOf(k.Files, role)

	return hashOf(k)
}
