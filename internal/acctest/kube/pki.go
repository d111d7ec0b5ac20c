// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Pair is a certificate and its key.
type Pair struct {
	Cert      *x509.Certificate
	Key       *ecdsa.PrivateKey
	PEM, PKey []byte
}

// NewCA makes an authority.
func NewCA(tb testing.TB, name string) *Pair {
	tb.Helper()

	return sign(tb, nil, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IsCA: true, BasicConstraintsValid: true,
	})
}

// Client signs a client certificate.
func (p *Pair) Client(tb testing.TB, name string, groups ...string) *Pair {
	tb.Helper()

	return sign(tb, p, &x509.Certificate{
		Subject:  pkix.Name{CommonName: name, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// Server signs a serving certificate.
func (p *Pair) Server(tb testing.TB, hosts ...string) *Pair {
	tb.Helper()

	return p.serving(tb, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, hosts)
}

// Both signs a certificate for servers that are clients of each other.
func (p *Pair) Both(tb testing.TB, hosts ...string) *Pair {
	tb.Helper()

	return p.serving(tb, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, hosts)
}

func (p *Pair) serving(tb testing.TB, usages []x509.ExtKeyUsage, hosts []string) *Pair {
	tb.Helper()

	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "server"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: usages,
	}

	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}

	return sign(tb, p, template)
}

// TLS is the pair for a TLS connection.
func (p *Pair) TLS(tb testing.TB) tls.Certificate {
	tb.Helper()

	pair, err := tls.X509KeyPair(p.PEM, p.PKey)
	if err != nil {
		tb.Fatal(err)
	}

	return pair
}

func (p *Pair) write(tb testing.TB, dir, name string) {
	tb.Helper()

	for file, content := range map[string][]byte{name + ".crt": p.PEM, name + ".key": p.PKey} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
}

func sign(tb testing.TB, by *Pair, template *x509.Certificate) *Pair {
	tb.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}

	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-5*time.Minute), time.Now().AddDate(1, 0, 0)

	parent, signer := template, key
	if by != nil {
		parent, signer = by.Cert, by.Key
	}

	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		tb.Fatal(err)
	}

	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}

	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}

	return &Pair{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
}

// kubeconfig writes a kubeconfig with a client certificate.
func kubeconfig(url string, ca []byte, client *Pair) []byte {
	code := base64.StdEncoding.EncodeToString

	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, certificate-authority-data: %s}}]
users: [{name: admin, user: {client-certificate-data: %s, client-key-data: %s}}]
contexts: [{name: admin@test, context: {cluster: test, user: admin}}]
current-context: admin@test
`, url, code(ca), code(client.PEM), code(client.PKey))
}
