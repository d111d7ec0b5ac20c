// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// hashPattern is a pin of a CA.
var hashPattern = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// render is one machine of a kubeadm cluster being written down.
type render struct {
	k            Kubeadm
	v            Vars
	version      Version
	form         string
	controlPlane bool
	first        bool
}

// begin checks what all machines need. The role is the caller's: what a machine is told must
// not hang on how its role is spelled.
func (k Kubeadm) begin(v Vars, controlPlane, first bool) (*render, error) {
	if errs := k.Check(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}

	version, err := ParseVersion(k.Version)
	if err != nil {
		return nil, err
	}

	form, err := version.form()
	if err != nil {
		return nil, err
	}

	switch {
	case v.Cluster.Name == "" || v.Cluster.Endpoint.Host == "":
		return nil, errors.New("the kubeadm profile needs the cluster's name and endpoint")
	case v.Machine.Name == "":
		return nil, errors.New("the kubeadm profile needs the machine's name")
	case v.Machine.ProviderID != "" && !strings.Contains(v.Machine.ProviderID, "://"):
		return nil, fmt.Errorf("%s: the provider id %q lacks its scheme", v.Machine.Name, v.Machine.ProviderID)
	case controlPlane && k.KubeVIP != nil && k.bindPort(v) != v.Cluster.Endpoint.port():
		return nil, fmt.Errorf("kube-vip leads port %d of the endpoint to the same port of a machine, where bind_port is %d", v.Cluster.Endpoint.port(), k.bindPort(v))
	}

	return &render{k: k, v: v, version: version, form: form, controlPlane: controlPlane, first: first}, nil
}

// registration is how the machine becomes a Node.
func (r *render) registration() (nodeRegistration, error) {
	name := r.v.Machine.Name

	if r.k.NodeName != "" {
		text, err := Source{Template: r.k.NodeName}.Render(r.v)
		if err != nil {
			return nodeRegistration{}, fmt.Errorf("node_name: %w", err)
		}

		name = strings.TrimSpace(string(text))
	}

	if !nodeName.MatchString(name) || len(name) > maxNodeName {
		return nodeRegistration{}, fmt.Errorf("%s: the name of its Node must be a DNS name in lower case with at most %d letters", r.v.Machine.Name, maxNodeName)
	}

	out := nodeRegistration{Name: name, CRISocket: r.k.CRISocket}
	if out.CRISocket == "" {
		out.CRISocket = defaultCRISocket
	}

	// A static pod is in place before kubeadm join looks; it minded in its older versions.
	if r.controlPlane && r.k.KubeVIP != nil {
		out.IgnorePreflightErrors = []string{"DirAvailable--etc-kubernetes-manifests"}
	}

	if id := r.v.Machine.ProviderID; id != "" {
		out.KubeletExtraArgs = append(out.KubeletExtraArgs, argument{"provider-id", id})
	}

	if id := r.v.Machine.ClaimID; id != "" {
		out.KubeletExtraArgs = append(out.KubeletExtraArgs, argument{"node-labels", labelUUID + "=" + id})
	}

	if r.k.AddressPool != "" {
		a, ok := r.v.Addresses[r.k.AddressPool]
		if !ok || a.Address == "" {
			return nodeRegistration{}, fmt.Errorf("address_pool: %s has no address of the pool %q", r.v.Machine.Name, r.k.AddressPool)
		}

		out.KubeletExtraArgs = append(out.KubeletExtraArgs, argument{"node-ip", a.Address})
	}

	return out, nil
}

const (
	labelUUID   = "metal3.io/uuid"
	maxNodeName = 253
)

var nodeName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

func (r *render) localAPI() apiEndpoint {
	return apiEndpoint{AdvertiseAddress: r.v.Addresses[r.k.AddressPool].Address, BindPort: r.k.bindPort(r.v)}
}

// bindPort is the port of the API on a machine. kube-vip changes no ports; whatever else stands
// at the endpoint may.
func (k Kubeadm) bindPort(v Vars) int {
	switch {
	case k.BindPort != 0:
		return k.BindPort
	case k.KubeVIP != nil:
		return v.Cluster.Endpoint.port()
	default:
		return DefaultPort
	}
}

func (k Kubeadm) algorithm() Algorithm {
	if k.EncryptionAlgorithm == "" {
		return ECDSAP256
	}

	return k.EncryptionAlgorithm
}

// checkFragments tries what users add against documents of ours, as far as the plan knows them.
func (k Kubeadm) checkFragments(version Version) []error {
	form, err := version.form()
	if err != nil {
		return nil
	}

	k.NodeName, k.AddressPool = "", "" // need a machine

	r := &render{
		k: k, version: version, form: form, controlPlane: true,
		v: Vars{Cluster: Cluster{Name: "c", Endpoint: Endpoint{Host: "e"}}, Machine: Machine{Name: "m", ProviderID: "p://", ClaimID: "c"}},
	}
	token := Token{strings.Repeat("0", tokenIDLength), strings.Repeat("0", tokenSecretLength)}

	_, initErr := r.initYAML(token, time.Hour)
	_, joinErr := r.joinYAML(token, "sha256:"+strings.Repeat("0", 64)) //nolint:mnd // letters of a SHA-256

	return slices.DeleteFunc([]error{initErr, joinErr}, func(err error) bool { return err == nil })
}

func unique(all []string) []string {
	var out []string

	for _, s := range all {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}

	return out
}
