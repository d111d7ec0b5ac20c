// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// The labels of PEM blocks.
const (
	pemCertificate = "CERTIFICATE"
	pemKey         = "PRIVATE KEY"
	pemECKey       = "EC PRIVATE KEY"
	pemRSAKey      = "RSA PRIVATE KEY"
	pemPublic      = "PUBLIC KEY"
)

// maxPEM bounds what is read of a user's text.
const maxPEM = 256 << 10

// Check lists everything that is wrong with the key pairs: a missing half, a key that does not
// belong to its certificate, a certificate that is no authority's, or is not valid now.
func (p PKI) Check(now time.Time) error {
	var errs []error

	for _, a := range p.authorities() {
		for _, err := range a.pair.check(now) {
			errs = append(errs, fmt.Errorf("%s: %w", a.name, err))
		}
	}

	if err := p.checkServiceAccount(); err != nil {
		errs = append(errs, fmt.Errorf("service account: %w", err))
	}

	return errors.Join(errs...)
}

// Check lists what is wrong with the certificate and the key of an authority.
func (p Pair) Check(now time.Time) error { return errors.Join(p.check(now)...) }

func (p Pair) check(now time.Time) []error {
	var errs []error

	cert, err := decodeCertificate(p.Certificate)
	if err != nil {
		errs = append(errs, err)
	}

	key, err := decodeKey(p.Key)
	if err != nil {
		errs = append(errs, err)
	}

	if cert == nil {
		return errs
	}

	if key != nil && !samePublic(cert.PublicKey, key.Public()) {
		errs = append(errs, errors.New("the private key does not belong to the certificate"))
	}

	if !cert.BasicConstraintsValid || !cert.IsCA || (cert.KeyUsage != 0 && cert.KeyUsage&x509.KeyUsageCertSign == 0) {
		errs = append(errs, errors.New("the certificate is not that of an authority (CA:TRUE, with the right to sign certificates)"))
	}

	if now.After(cert.NotAfter) {
		errs = append(errs, fmt.Errorf("the certificate ended at %s", cert.NotAfter.UTC().Format(time.RFC3339)))
	}

	if now.Before(cert.NotBefore) {
		errs = append(errs, fmt.Errorf("the certificate is not valid before %s", cert.NotBefore.UTC().Format(time.RFC3339)))
	}

	return errs
}

func (p PKI) checkServiceAccount() error {
	key, err := decodeKey(p.ServiceAccount.Key)
	if err != nil {
		return err
	}

	block, err := decodePEM(p.ServiceAccount.Certificate, pemPublic)
	if err != nil {
		return fmt.Errorf("public key: %w", err)
	}

	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return errors.New("the public key cannot be read")
	}

	if !samePublic(public, key.Public()) {
		return errors.New("the private key does not belong to the public key")
	}

	return nil
}

func samePublic(a, b crypto.PublicKey) bool {
	known, ok := a.(interface{ Equal(x crypto.PublicKey) bool })

	return ok && known.Equal(b)
}

// decodePEM reads the first block that has one of the labels.
func decodePEM(text string, labels ...string) (*pem.Block, error) {
	if text == "" {
		return nil, errors.New("missing")
	}

	if len(text) > maxPEM {
		return nil, fmt.Errorf("more than %d bytes", maxPEM)
	}

	for rest := []byte(text); ; {
		var block *pem.Block

		if block, rest = pem.Decode(rest); block == nil {
			return nil, fmt.Errorf("no PEM block of the kind %q in it", labels[0])
		}

		for _, label := range labels {
			if block.Type == label {
				return block, nil
			}
		}
	}
}

func decodeCertificate(text string) (*x509.Certificate, error) {
	block, err := decodePEM(text, pemCertificate)
	if err != nil {
		return nil, fmt.Errorf("certificate: %w", err)
	}

	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, errors.New("certificate: it cannot be read")
	}

	return cert, nil
}

// decodeKey reads a private key of a kind that Kubernetes takes. Its errors say nothing of it.
func decodeKey(text string) (crypto.Signer, error) {
	block, err := decodePEM(text, pemKey, pemECKey, pemRSAKey)
	if err != nil {
		return nil, fmt.Errorf("private key: %w", err)
	}

	if block.Headers["DEK-Info"] != "" {
		return nil, errors.New("private key: it is encrypted")
	}

	var key any

	switch block.Type {
	case pemECKey:
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case pemRSAKey:
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}

	if err != nil {
		return nil, errors.New("private key: it cannot be read")
	}

	switch key := key.(type) {
	case *ecdsa.PrivateKey:
		return key, nil
	case *rsa.PrivateKey:
		return key, nil
	default:
		return nil, errors.New("private key: neither RSA nor ECDSA, which is what Kubernetes takes")
	}
}

func encodeCertificate(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: der}))
}

func encodeKey(key crypto.Signer) (string, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return "", fmt.Errorf("encode a private key: %w", err)
	}

	return string(pem.EncodeToMemory(&pem.Block{Type: pemKey, Bytes: der})), nil
}

func encodePublic(key crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return "", fmt.Errorf("encode a public key: %w", err)
	}

	return string(pem.EncodeToMemory(&pem.Block{Type: pemPublic, Bytes: der})), nil
}
