// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"

	"sigs.k8s.io/yaml"
)

// kubeconfig is the part of a kubeconfig that holds what it takes to get in without the help of
// other files and programs.
type kubeconfig struct {
	APIVersion     string         `json:"apiVersion"`
	Kind           string         `json:"kind"`
	CurrentContext string         `json:"current-context"`
	Clusters       []namedCluster `json:"clusters"`
	Contexts       []namedContext `json:"contexts"`
	Users          []namedUser    `json:"users"`
}

type namedCluster struct {
	Name    string      `json:"name"`
	Cluster kubeCluster `json:"cluster"`
}

type kubeCluster struct {
	Server string `json:"server"`
	CAData []byte `json:"certificate-authority-data,omitempty"`
}

type namedContext struct {
	Name    string      `json:"name"`
	Context kubeContext `json:"context"`
}

type kubeContext struct {
	Cluster string `json:"cluster"`
	User    string `json:"user"`
}

type namedUser struct {
	Name string   `json:"name"`
	User kubeUser `json:"user"`
}

type kubeUser struct {
	CertificateData []byte `json:"client-certificate-data,omitempty"`
	KeyData         []byte `json:"client-key-data,omitempty"`
	Token           string `json:"token,omitempty"`
}

// maxKubeconfig bounds what is read.
const maxKubeconfig = 1 << 20

// ParseKubeconfig reads the current context of a kubeconfig that holds its certificates and
// keys itself. Its errors say nothing of what it holds.
func ParseKubeconfig(text []byte) (Access, error) {
	if len(text) > maxKubeconfig {
		return Access{}, fmt.Errorf("a kubeconfig of more than %d bytes is not read", maxKubeconfig)
	}

	var k kubeconfig
	if err := yaml.Unmarshal(text, &k); err != nil {
		return Access{}, errors.New("this is no kubeconfig: neither JSON nor YAML, or of another shape")
	}

	cluster, user, err := k.current()
	if err != nil {
		return Access{}, err
	}

	server, err := url.Parse(cluster.Server)
	if err != nil || server.Scheme != "https" || server.Hostname() == "" || server.User != nil {
		return Access{}, errors.New("the server of the kubeconfig is no https URL of a host")
	}

	a := Access{
		Kubeconfig: text, Server: cluster.Server, CA: string(cluster.CAData),
		Certificate: string(user.CertificateData), Key: string(user.KeyData), Token: user.Token,
	}

	return a, a.read()
}

// current is what the current context names.
func (k kubeconfig) current() (kubeCluster, kubeUser, error) {
	var (
		context *kubeContext
		cluster *kubeCluster
		user    *kubeUser
	)

	for i := range k.Contexts {
		if k.Contexts[i].Name == k.CurrentContext {
			context = &k.Contexts[i].Context
		}
	}

	if context == nil {
		return kubeCluster{}, kubeUser{}, errors.New("the kubeconfig has no current context")
	}

	for i := range k.Clusters {
		if k.Clusters[i].Name == context.Cluster {
			cluster = &k.Clusters[i].Cluster
		}
	}

	for i := range k.Users {
		if k.Users[i].Name == context.User {
			user = &k.Users[i].User
		}
	}

	if cluster == nil || user == nil {
		return kubeCluster{}, kubeUser{}, errors.New("the current context of the kubeconfig names a cluster or a user that is not in it")
	}

	return *cluster, *user, nil
}

// read checks the parts and reads how long the certificate holds.
func (a *Access) read() error {
	if a.CA != "" {
		if _, err := decodeCertificate(a.CA); err != nil {
			return fmt.Errorf("the CA of the kubeconfig: %w", err)
		}
	}

	if a.Certificate == "" && a.Key == "" {
		if a.Token == "" {
			return errors.New("the kubeconfig holds neither a certificate and key of its user (client-certificate-data, client-key-data) nor a token")
		}

		return nil
	}

	cert, err := decodeCertificate(a.Certificate)
	if err != nil {
		return fmt.Errorf("the user of the kubeconfig: %w", err)
	}

	if _, err := tls.X509KeyPair([]byte(a.Certificate), []byte(a.Key)); err != nil {
		return errors.New("the user of the kubeconfig: its certificate and key do not belong together")
	}

	a.Begins, a.Ends = cert.NotBefore, cert.NotAfter

	return nil
}
