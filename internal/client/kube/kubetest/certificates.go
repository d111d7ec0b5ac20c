// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kubetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"
)

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  any
	pem  []byte
}

func newAuthority(tb testing.TB, name string) *authority {
	tb.Helper()

	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-5 * time.Minute), NotAfter: time.Now().Add(10 * 365 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IsCA: true, BasicConstraintsValid: true,
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}

	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}

	return &authority{cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

// authorityOf reads an authority.
func authorityOf(certPEM, keyPEM []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}

	if pair.Leaf == nil || !pair.Leaf.IsCA {
		return nil, errors.New("not an authority")
	}

	return &authority{pair.Leaf, pair.PrivateKey, certPEM}, nil
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}

	return key
}

// sign makes a certificate and returns it with its key as PEM.
func (a *authority) sign(tb testing.TB, template *x509.Certificate) (certPEM, keyPEM []byte) {
	tb.Helper()

	key := newKey(tb)
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore = a.cert.NotBefore
	template.KeyUsage = x509.KeyUsageDigitalSignature

	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		tb.Fatal(err)
	}

	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}

	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

func (a *authority) serving(tb testing.TB, names []string, until time.Time) *tls.Certificate {
	tb.Helper()

	template := &x509.Certificate{Subject: pkix.Name{CommonName: "kube-apiserver"}, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}

	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}

	pair, err := tls.X509KeyPair(a.sign(tb, template))
	if err != nil {
		tb.Fatal(err)
	}

	return &pair
}

func (a *authority) client(tb testing.TB, name string, groups ...string) (certPEM, keyPEM []byte) {
	tb.Helper()

	return a.sign(tb, &x509.Certificate{
		Subject:  pkix.Name{CommonName: name, Organization: groups},
		NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// ShowForeignCertificate has the server show a certificate of another authority from now on.
func (s *Server) ShowForeignCertificate() {
	s.show(newAuthority(s.t, "another cluster").serving(s.t, s.names(), time.Now().Add(time.Hour)))
}

// ShowCertificateUntil has the server show a certificate that ends then.
func (s *Server) ShowCertificateUntil(end time.Time) { s.show(s.ca.serving(s.t, s.names(), end)) }

func (s *Server) show(cert *tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.serving = cert
	s.server.SetKeepAlivesEnabled(false) // the next request makes a new connection
}
