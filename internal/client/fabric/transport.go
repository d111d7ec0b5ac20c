// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// bodyLimit is far above the machines of a large tenant (1,000 machines with 8 devices: 4 MB).
const bodyLimit = 8 << 20

// lazyClient makes the HTTP client of a caller when the first request needs it, so that
// configuring the provider reads no file.
type lazyClient struct {
	mu     sync.Mutex
	client *http.Client
	traced bool // net/http carries the requests, and tells when it has a connection for one
}

func (l *lazyClient) get(cfg Config) (*http.Client, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.client != nil {
		return l.client, nil
	}

	next := cfg.Transport
	if next == nil {
		conf, err := tlsConfig(cfg)
		if err != nil {
			return nil, err
		}

		dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
		next = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			TLSClientConfig:     conf,
			TLSHandshakeTimeout: 10 * time.Second,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 8,
			IdleConnTimeout:     90 * time.Second,
		}
	}

	_, l.traced = next.(*http.Transport)

	// Redirects are not followed: an order would turn into a GET, of which the answer looks
	// like that of the order, and another host would see the token.
	l.client = &http.Client{
		Transport:     next,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}

	return l.client, nil
}

func tlsConfig(cfg Config) (*tls.Config, error) {
	conf := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		ServerName:         cfg.TLSServerName,
		InsecureSkipVerify: cfg.Insecure, //nolint:gosec // an explicit option of the user
	}

	if cfg.CACertPEM == "" && cfg.CACertFile == "" {
		return conf, nil
	}

	conf.RootCAs = x509.NewCertPool()

	if cfg.CACertPEM != "" && !conf.RootCAs.AppendCertsFromPEM([]byte(cfg.CACertPEM)) {
		return nil, &ConfigError{"ca_cert_pem", errors.New("holds no certificate in PEM form")}
	}

	if cfg.CACertFile == "" {
		return conf, nil
	}

	pem, err := os.ReadFile(cfg.CACertFile)
	if err != nil {
		return nil, &ConfigError{"ca_cert_file", err}
	}

	if !conf.RootCAs.AppendCertsFromPEM(pem) {
		return nil, &ConfigError{"ca_cert_file", fmt.Errorf("%s holds no certificate in PEM form", cfg.CACertFile)}
	}

	return conf, nil
}
