// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"crypto/tls"
	"net/http"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

const (
	// bodyLimit is far above the machines of a large tenant (1,000 machines with 8 devices: 4 MB).
	bodyLimit = 8 << 20

	idleConns = 8 // kept for the next requests
)

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

		next = transport.New(conf, idleConns)
	}

	_, l.traced = next.(*http.Transport)

	l.client = &http.Client{Transport: next, CheckRedirect: transport.NoRedirect}

	return l.client, nil
}

func tlsConfig(cfg Config) (*tls.Config, error) {
	conf := transport.TLS(cfg.Insecure)
	conf.ServerName = cfg.TLSServerName

	if cfg.CACertPEM != "" {
		if err := transport.Trust(conf, []byte(cfg.CACertPEM)); err != nil {
			return nil, &ConfigError{"ca_cert_pem", err}
		}
	}

	if cfg.CACertFile != "" {
		if err := transport.TrustFile(conf, cfg.CACertFile); err != nil {
			return nil, &ConfigError{"ca_cert_file", err}
		}
	}

	return conf, nil
}
