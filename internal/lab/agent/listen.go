// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"time"
)

// listen serves the command API over TLS on a loopback port of its own until the agent ends.
func (a *agent) listen() error {
	certificate, ca, err := selfSigned(a.m.Name)
	if err != nil {
		return err
	}

	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12,
	})
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}

	a.mu.Lock()
	a.ca, a.url = ca, "https://"+listener.Addr().String()
	a.mu.Unlock()

	server := &http.Server{
		Handler: a.routes(), ReadHeaderTimeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
	}

	a.wg.Go(func() { _ = server.Serve(listener) })
	// Close cuts what is under way, as a machine does that loses its power.
	context.AfterFunc(a.ctx, func() { _ = server.Close() })

	return nil
}

// selfSigned makes a certificate for loopback and its PEM form, which goes to Ironic with the
// heartbeat: that is how it comes to trust it.
func selfSigned(name string) (tls.Certificate, string, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("agent: %w", err)
	}

	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "agent-" + name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, "", fmt.Errorf("agent: %w", err)
	}

	certificate := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}

	return certificate, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), nil
}
