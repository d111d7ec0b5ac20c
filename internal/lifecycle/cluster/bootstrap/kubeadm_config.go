// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap/fragment"
)

// typeMeta heads each document.
type typeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// clusterConfiguration is the part of kubeadm's ClusterConfiguration that is ours.
type clusterConfiguration struct {
	typeMeta

	KubernetesVersion    string     `json:"kubernetesVersion"`
	ClusterName          string     `json:"clusterName"`
	ControlPlaneEndpoint string     `json:"controlPlaneEndpoint"`
	EncryptionAlgorithm  Algorithm  `json:"encryptionAlgorithm,omitempty"`
	ImageRepository      string     `json:"imageRepository,omitempty"`
	Networking           networking `json:"networking,omitzero"`
	APIServer            apiServer  `json:"apiServer"`
}

type networking struct {
	PodSubnet     string `json:"podSubnet,omitempty"`
	ServiceSubnet string `json:"serviceSubnet,omitempty"`
	DNSDomain     string `json:"dnsDomain,omitempty"`
}

type apiServer struct {
	CertSANs []string `json:"certSANs"`
}

// initConfiguration is the part of kubeadm's InitConfiguration that is ours.
type initConfiguration struct {
	typeMeta

	BootstrapTokens  []bootstrapToken `json:"bootstrapTokens"`
	LocalAPIEndpoint apiEndpoint      `json:"localAPIEndpoint"`
	NodeRegistration nodeRegistration `json:"nodeRegistration"`
}

type bootstrapToken struct {
	Token  string   `json:"token"`
	TTL    string   `json:"ttl"`
	Usages []string `json:"usages"`
	Groups []string `json:"groups"`
}

type apiEndpoint struct {
	AdvertiseAddress string `json:"advertiseAddress,omitempty"`
	BindPort         int    `json:"bindPort"`
}

// joinConfiguration is the part of kubeadm's JoinConfiguration that is ours.
type joinConfiguration struct {
	typeMeta

	Discovery        discovery        `json:"discovery"`
	ControlPlane     *controlPlane    `json:"controlPlane,omitempty"`
	NodeRegistration nodeRegistration `json:"nodeRegistration"`
}

type discovery struct {
	BootstrapToken discoveryToken `json:"bootstrapToken"`
}

type discoveryToken struct {
	Token             string   `json:"token"`
	APIServerEndpoint string   `json:"apiServerEndpoint"`
	CACertHashes      []string `json:"caCertHashes"`
}

type controlPlane struct {
	LocalAPIEndpoint apiEndpoint `json:"localAPIEndpoint"`
}

type nodeRegistration struct {
	Name                  string     `json:"name"`
	CRISocket             string     `json:"criSocket"`
	IgnorePreflightErrors []string   `json:"ignorePreflightErrors,omitempty"`
	KubeletExtraArgs      []argument `json:"kubeletExtraArgs,omitempty"`
}

// argument is how v1beta4 writes one; v1beta3 has a map, see arguments.
type argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// initYAML is the configuration of the machine that begins the cluster.
func (r *render) initYAML(t Token, ttl time.Duration) ([]byte, error) {
	if !t.valid() || ttl <= 0 {
		return nil, errors.New("a cluster begins with a bootstrap token and its life")
	}

	registration, err := r.registration()
	if err != nil {
		return nil, err
	}

	k, meta := r.k, func(kind string) typeMeta { return typeMeta{r.form, kind} }

	cluster := clusterConfiguration{
		typeMeta:             meta("ClusterConfiguration"),
		KubernetesVersion:    r.version.String(),
		ClusterName:          r.v.Cluster.Name,
		ControlPlaneEndpoint: r.v.Cluster.Endpoint.String(),
		ImageRepository:      k.ImageRepository,
		Networking:           networking{k.PodSubnet, k.ServiceSubnet, k.DNSDomain},
		APIServer:            apiServer{unique(append([]string{r.v.Cluster.Endpoint.Host}, k.CertSANs...))},
	}

	if r.version.Minor >= minorAlgorithm {
		cluster.EncryptionAlgorithm = k.algorithm()
	}

	first := initConfiguration{
		typeMeta: meta("InitConfiguration"),
		BootstrapTokens: []bootstrapToken{{
			Token: t.Reveal(), TTL: ttl.String(), Usages: []string{"signing", "authentication"}, Groups: []string{tokenGroup},
		}},
		LocalAPIEndpoint: r.localAPI(), NodeRegistration: registration,
	}

	return r.documents(
		document{"cluster_configuration", cluster, k.Extra.ClusterConfiguration},
		document{"init_configuration", first, k.Extra.InitConfiguration},
		document{"kubelet_configuration", typeMeta{"kubelet.config.k8s.io/v1beta1", "KubeletConfiguration"}, k.Extra.KubeletConfiguration},
		document{"kube_proxy_configuration", typeMeta{"kubeproxy.config.k8s.io/v1alpha1", "KubeProxyConfiguration"}, k.Extra.KubeProxyConfiguration},
	)
}

// joinYAML is the configuration of all other machines.
func (r *render) joinYAML(t Token, caHash string) ([]byte, error) {
	// Without the pin kubeadm would believe whoever answers at the endpoint.
	if !t.valid() || !hashPattern.MatchString(caHash) {
		return nil, errors.New("a machine joins with a bootstrap token and the hash of the cluster's CA")
	}

	registration, err := r.registration()
	if err != nil {
		return nil, err
	}

	join := joinConfiguration{
		typeMeta: typeMeta{r.form, "JoinConfiguration"},
		Discovery: discovery{discoveryToken{
			Token: t.Reveal(), APIServerEndpoint: r.v.Cluster.Endpoint.String(), CACertHashes: []string{caHash},
		}},
		NodeRegistration: registration,
	}
	if r.controlPlane {
		join.ControlPlane = &controlPlane{r.localAPI()}
	}

	return r.documents(document{"join_configuration", join, r.k.Extra.JoinConfiguration})
}

// rules say what users may add.
func (r *render) rules() fragment.Rules {
	// Discovery is how a joining machine learns whom to trust: unsafeSkipCAVerification would be
	// enough to make it believe anybody.
	rules := fragment.Rules{Lists: r.form == v1beta4, Whole: []string{"discovery"}}

	// One part is for all that join: a worker with a control plane's settings would become one.
	if !r.controlPlane {
		rules.Drop = []string{"controlPlane"}
	}

	return rules
}

// document is one of ours, and what the user adds to it under which name.
type document struct {
	attribute string
	ours      any
	theirs    string
}

func (r *render) documents(all ...document) ([]byte, error) {
	var (
		out  []string
		errs []error
	)

	for _, d := range all {
		if _, onlyHead := d.ours.(typeMeta); onlyHead && d.theirs == "" {
			continue
		}

		merged, err := fragment.Merge(d.ours, d.theirs, r.rules())
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", d.attribute, err))

			continue
		}

		text, err := yaml.Marshal(merged)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: it has no YAML form", d.attribute))

			continue
		}

		out = append(out, string(text))
	}

	return []byte(strings.Join(out, "---\n")), errors.Join(errs...)
}
