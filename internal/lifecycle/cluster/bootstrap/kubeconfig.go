// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// The groups whose members may do everything.
const (
	GroupMasters       = "system:masters"         // cannot be taken back before the certificate ends
	GroupClusterAdmins = "kubeadm:cluster-admins" // bound by a ClusterRoleBinding since 1.29
)

const (
	defaultUser = "kubernetes-admin"
	maxTTL      = 10 * 365 * 24 * time.Hour

	// AdminTTL is how long the certificate of a kubeconfig that is kept holds. It is made anew
	// at half of that; see [NeedsRenewal].
	AdminTTL = 365 * 24 * time.Hour
	// CallTTL is how long the certificate of our own calls holds.
	CallTTL = 2 * time.Hour
)

// Options say whom a kubeconfig is for.
type Options struct {
	User          string   // empty: kubernetes-admin
	Organizations []string // the groups of the user
	Cluster       string   // the name of the cluster in the kubeconfig; empty: kubernetes
	TTL           time.Duration
	Now           time.Time
}

// Access is a way into a cluster.
type Access struct {
	Kubeconfig  []byte
	Server      string // https://HOST:PORT
	CA          string // PEM
	Certificate string // PEM, of the client; empty where a token stands for it
	Key         string // PEM
	Token       string
	Begins      time.Time // of the client's certificate
	Ends        time.Time
}

// String keeps what it holds.
func (a Access) String() string { return "access to " + a.Server }

// GoString is [Access.String].
func (a Access) GoString() string { return a.String() }

// Kubeconfig makes a kubeconfig, with a certificate that the cluster's CA signs.
func Kubeconfig(pki PKI, at Endpoint, o Options) (Access, error) {
	switch {
	case at.Host == "":
		return Access{}, errNoEndpoint
	case len(o.Organizations) == 0:
		return Access{}, errors.New("a kubeconfig needs a group, from which its user has its rights")
	}

	o = o.named()

	pair, cert, err := pki.CA.client(o)
	if err != nil {
		return Access{}, fmt.Errorf("cluster CA: %w", err)
	}

	a := Access{
		Server: "https://" + at.String(), CA: pki.CA.Certificate, Certificate: pair.Certificate, Key: pair.Key,
		Begins: cert.NotBefore, Ends: cert.NotAfter,
	}

	a.Kubeconfig, err = writeKubeconfig(a, o)

	return a, err
}

// client makes a certificate by which an authority knows a client.
func (p Pair) client(o Options) (Pair, *x509.Certificate, error) {
	if o.TTL <= 0 || o.TTL > maxTTL {
		return Pair{}, nil, fmt.Errorf("a client's certificate holds more than nothing and at most %d hours", int(maxTTL.Hours()))
	}

	if err := p.Check(o.Now); err != nil {
		return Pair{}, nil, err
	}

	ca, err := decodeCertificate(p.Certificate)
	if err != nil {
		return Pair{}, nil, err
	}

	by, err := decodeKey(p.Key)
	if err != nil {
		return Pair{}, nil, err
	}

	key, err := newKey(ECDSAP256)
	if err != nil {
		return Pair{}, nil, err
	}

	t := &x509.Certificate{
		Subject:   pkix.Name{CommonName: o.User, Organization: o.Organizations},
		NotBefore: o.Now.Add(-backdated), NotAfter: o.Now.Add(o.TTL),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}

	// Nobody believes a certificate for longer than its authority.
	if t.NotAfter.After(ca.NotAfter) {
		t.NotAfter = ca.NotAfter
	}

	pair, err := sign(t, ca, key, by)

	return pair, t, err
}

// EtcdClient is what a client of the cluster's etcd shows and believes.
func EtcdClient(pki PKI, ttl time.Duration, now time.Time) (tls.Certificate, *x509.CertPool, error) {
	pair, _, err := pki.EtcdCA.client(Options{User: "kube-etcd-metal3", TTL: ttl, Now: now})
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("etcd CA: %w", err)
	}

	cert, err := tls.X509KeyPair([]byte(pair.Certificate), []byte(pair.Key))
	if err != nil {
		return tls.Certificate{}, nil, errors.New("etcd CA: its certificate for us cannot be used")
	}

	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(pki.EtcdCA.Certificate))

	return cert, pool, nil
}

// NeedsRenewal reports that the certificate of a kubeconfig is past half of its life. One that
// cannot be read needs to be made anew too.
func NeedsRenewal(kubeconfig []byte, now time.Time) bool {
	const half = 2

	a, err := ParseKubeconfig(kubeconfig)
	if err != nil || a.Ends.IsZero() {
		return true
	}

	return now.After(a.Begins.Add(a.Ends.Sub(a.Begins) / half))
}

// At is the same access by another way to the same cluster: a kubeconfig that was read on one of
// its machines may name that machine alone. The options give it names.
func (a Access) At(e Endpoint, o Options) (Access, error) {
	if e.Host == "" {
		return Access{}, errNoEndpoint
	}

	a.Server = "https://" + e.String()

	var err error

	a.Kubeconfig, err = writeKubeconfig(a, o.named())

	return a, err
}

var errNoEndpoint = errors.New("a kubeconfig needs the endpoint of the cluster")

// named fills in names.
func (o Options) named() Options {
	if o.User == "" {
		o.User = defaultUser
	}

	if o.Cluster == "" {
		o.Cluster = "kubernetes"
	}

	return o
}

func writeKubeconfig(a Access, o Options) ([]byte, error) {
	name := o.User + "@" + o.Cluster

	out, err := yaml.Marshal(kubeconfig{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: []namedCluster{{o.Cluster, kubeCluster{Server: a.Server, CAData: []byte(a.CA)}}},
		Contexts: []namedContext{{name, kubeContext{o.Cluster, o.User}}},
		Users:    []namedUser{{o.User, kubeUser{CertificateData: []byte(a.Certificate), KeyData: []byte(a.Key), Token: a.Token}}},
	})
	if err != nil {
		return nil, errors.New("the kubeconfig has no YAML form")
	}

	return out, nil
}
