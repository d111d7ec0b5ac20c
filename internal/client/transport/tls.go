// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
)

// ErrNoPEM says of bytes that should be certificates that they are none.
var ErrNoPEM = errors.New("holds no certificate in PEM form")

// TLS is the configuration that every client begins with. It trusts the system's authorities.
func TLS(insecure bool) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: insecure} //nolint:gosec // an explicit option of the user
}

// Trust adds authorities to those of the configuration; the first ones take the place of the system's.
func Trust(conf *tls.Config, pem []byte) error {
	if conf.RootCAs == nil {
		conf.RootCAs = x509.NewCertPool()
	}

	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return ErrNoPEM
	}

	return nil
}

// TrustFile is [Trust] with the authorities of a file.
func TrustFile(conf *tls.Config, file string) error {
	pem, err := os.ReadFile(file) //nolint:gosec // an option of the user
	if err != nil {
		return err // it names the file
	}

	if err := Trust(conf, pem); err != nil {
		return fmt.Errorf("%s %w", file, err)
	}

	return nil
}
