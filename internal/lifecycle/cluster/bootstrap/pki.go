// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// Algorithm is a kind of keys, spelled as kubeadm does.
type Algorithm string

// The kinds of keys that there are.
const (
	ECDSAP256 Algorithm = "ECDSA-P256"
	ECDSAP384 Algorithm = "ECDSA-P384"
	RSA2048   Algorithm = "RSA-2048"
	RSA3072   Algorithm = "RSA-3072"
	RSA4096   Algorithm = "RSA-4096"
)

// Algorithms are the kinds of keys that there are; the first is what counts where nobody chooses.
func Algorithms() []Algorithm { return []Algorithm{ECDSAP256, ECDSAP384, RSA2048, RSA3072, RSA4096} }

// Pair is a certificate, or a public key, and the private key to it, as PEM.
type Pair struct {
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
}

// String keeps what it holds.
func (p Pair) String() string { return "***" }

// GoString is [Pair.String].
func (p Pair) GoString() string { return p.String() }

// PKI is what all machines of a control plane share. Its JSON is for a place that keeps secrets.
type PKI struct {
	CA             Pair `json:"ca"`
	EtcdCA         Pair `json:"etcd_ca"`
	FrontProxyCA   Pair `json:"front_proxy_ca"`
	ServiceAccount Pair `json:"service_account"` // the certificate is the public key
}

// String keeps what it holds.
func (p PKI) String() string { return "***" }

// GoString is [PKI.String].
func (p PKI) GoString() string { return p.String() }

// PKIOptions say how keys are made.
type PKIOptions struct {
	Algorithm Algorithm // empty: ECDSA-P256
	Years     int       // that certificates of authorities hold; 0: 10
	Now       time.Time
}

const (
	defaultYears = 10
	maxYears     = 100
	backdated    = 5 * time.Minute // for hosts whose clocks are behind
)

// Generate makes what is missing of the key pairs of a cluster and keeps what is there, which it checks.
func Generate(given PKI, o PKIOptions) (PKI, error) {
	if o.Years == 0 {
		o.Years = defaultYears
	}

	if o.Years < 0 || o.Years > maxYears {
		return PKI{}, fmt.Errorf("certificates hold 1 to %d years, not %d", maxYears, o.Years)
	}

	for _, a := range given.authorities() {
		if *a.pair != (Pair{}) {
			continue
		}

		made, err := newAuthority(a.cn, o)
		if err != nil {
			return PKI{}, fmt.Errorf("make the %s: %w", a.name, err)
		}

		*a.pair = made
	}

	if err := given.serviceAccount(o); err != nil {
		return PKI{}, err
	}

	return given, given.Check(o.Now)
}

// authority is one of the authorities, as people and as kubeadm call it.
type authority struct {
	name, cn string
	pair     *Pair
}

func (p *PKI) authorities() []authority {
	return []authority{
		{"cluster CA", "kubernetes", &p.CA},
		{"etcd CA", "etcd-ca", &p.EtcdCA},
		{"front proxy CA", "front-proxy-ca", &p.FrontProxyCA},
	}
}

// serviceAccount fills in the pair for tokens of service accounts, or the public half of a given key.
func (p *PKI) serviceAccount(o PKIOptions) error {
	if p.ServiceAccount.Key == "" && p.ServiceAccount.Certificate != "" {
		return nil // Check tells
	}

	if p.ServiceAccount.Key == "" {
		key, err := newKey(o.Algorithm)
		if err != nil {
			return fmt.Errorf("make the service account key: %w", err)
		}

		if p.ServiceAccount.Key, err = encodeKey(key); err != nil {
			return err
		}
	}

	if p.ServiceAccount.Certificate == "" {
		key, err := decodeKey(p.ServiceAccount.Key)
		if err != nil {
			return fmt.Errorf("service account key: %w", err)
		}

		if p.ServiceAccount.Certificate, err = encodePublic(key.Public()); err != nil {
			return err
		}
	}

	return nil
}

// CAHash is the pin by which joining machines know the cluster: the SHA-256 of the public key of
// its CA.
func (p PKI) CAHash() (string, error) {
	cert, err := decodeCertificate(p.CA.Certificate)
	if err != nil {
		return "", fmt.Errorf("cluster CA: %w", err)
	}

	sum := sha256.Sum256(cert.RawSubjectPublicKeyInfo)

	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

func newAuthority(cn string, o PKIOptions) (Pair, error) {
	key, err := newKey(o.Algorithm)
	if err != nil {
		return Pair{}, err
	}

	t := &x509.Certificate{
		Subject: pkix.Name{CommonName: cn}, DNSNames: []string{cn},
		NotBefore: o.Now.Add(-backdated), NotAfter: o.Now.AddDate(o.Years, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment | x509.KeyUsageCertSign,
		BasicConstraintsValid: true, IsCA: true,
	}

	return sign(t, t, key, key)
}

// sign makes a certificate for a key.
func sign(t, parent *x509.Certificate, key, by crypto.Signer) (Pair, error) {
	const serialBits = 120

	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), serialBits))
	if err != nil {
		return Pair{}, fmt.Errorf("make a serial number: %w", err)
	}

	t.SerialNumber = serial.Add(serial, big.NewInt(1))

	der, err := x509.CreateCertificate(rand.Reader, t, parent, key.Public(), by)
	if err != nil {
		return Pair{}, fmt.Errorf("sign a certificate: %w", err)
	}

	text, err := encodeKey(key)
	if err != nil {
		return Pair{}, err
	}

	return Pair{Certificate: encodeCertificate(der), Key: text}, nil
}

func newKey(a Algorithm) (crypto.Signer, error) {
	var (
		key crypto.Signer
		err error
	)

	switch a {
	case ECDSAP256, "":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case ECDSAP384:
		key, err = ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case RSA2048, RSA3072, RSA4096:
		bits := map[Algorithm]int{RSA2048: 2048, RSA3072: 3072, RSA4096: 4096}
		key, err = rsa.GenerateKey(rand.Reader, bits[a])
	default:
		return nil, a.check()
	}

	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}

	return key, nil
}

func (a Algorithm) check() error {
	all := Algorithms()
	if a == "" || slices.Contains(all, a) {
		return nil
	}

	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}

	return fmt.Errorf("there are no keys of kind %q; there are %s", a, strings.Join(names, ", "))
}
