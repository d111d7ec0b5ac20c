// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

const (
	// inFlight bounds the requests of one client. Ironic is one Python process: it answers
	// 120 to 190 requests a second, however many ask at a time.
	inFlight = 16

	// bodyLimit is far above a page of 1,000 nodes in detail (3 MB) or an inventory.
	bodyLimit = 256 << 20
)

// httpClient makes the one HTTP client of a far side.
//
// Redirects are not followed: the answer 3xx is an error that names the place.
func httpClient(cfg Config, fallback *tls.Config) (*http.Client, error) {
	next := cfg.Transport

	if next == nil {
		conf, err := tlsConfig(cfg, fallback)
		if err != nil {
			return nil, err
		}

		next = transport.New(conf, inFlight)
	}

	return &http.Client{
		Transport:     bounded{next, cfg.Trace},
		Timeout:       cfg.Timeout,
		CheckRedirect: transport.NoRedirect,
	}, nil
}

// tlsConfig reads the files of the configuration. The fallback is what clouds.yaml asks for.
func tlsConfig(cfg Config, fallback *tls.Config) (*tls.Config, error) {
	own := cfg.CACertFile != "" || cfg.ClientCertFile != "" || cfg.ClientKeyFile != "" || cfg.Insecure
	if !own && fallback != nil {
		return fallback, nil
	}

	conf := transport.TLS(cfg.Insecure)

	if cfg.CACertFile != "" {
		if err := transport.TrustFile(conf, cfg.CACertFile); err != nil {
			return nil, &ConfigError{"ca_cert_file", err}
		}
	}

	switch {
	case cfg.ClientCertFile == "" && cfg.ClientKeyFile == "":
		return conf, nil
	case cfg.ClientCertFile == "":
		return nil, &ConfigError{"client_cert_file", errors.New("a client key needs its certificate")}
	case cfg.ClientKeyFile == "":
		return nil, &ConfigError{"client_key_file", errors.New("a client certificate needs its key")}
	}

	for option, file := range map[string]string{"client_cert_file": cfg.ClientCertFile, "client_key_file": cfg.ClientKeyFile} {
		if _, err := os.Stat(file); err != nil {
			return nil, &ConfigError{option, err}
		}
	}

	pair, err := tls.LoadX509KeyPair(cfg.ClientCertFile, cfg.ClientKeyFile)
	if err != nil {
		return nil, wrong("client_cert_file", "%s and %s: %w", cfg.ClientCertFile, cfg.ClientKeyFile, err)
	}

	conf.Certificates = []tls.Certificate{pair}

	return conf, nil
}

// bounded bounds bodies and tells the trace of each request.
type bounded struct {
	next  http.RoundTripper
	trace transport.Trace
}

// RoundTrip implements http.RoundTripper.
func (t bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	answer, err := t.next.RoundTrip(r)
	t.trace.Tell(r.Context(), r, answer, start)

	if err != nil {
		return nil, err
	}

	answer.Body = limited{io.LimitReader(answer.Body, bodyLimit), answer.Body}

	return answer, nil
}

type limited struct {
	io.Reader
	io.Closer
}
