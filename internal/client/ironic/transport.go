// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"
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
// Redirects are not followed: a request that changes something would turn into a GET, and
// one to another host would carry credentials there. The answer 3xx is an error that names the place.
func httpClient(cfg Config, fallback *tls.Config) (*http.Client, error) {
	next := cfg.Transport

	if next == nil {
		conf, err := tlsConfig(cfg, fallback)
		if err != nil {
			return nil, err
		}

		dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
		next = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           dialer.DialContext,
			TLSClientConfig:       conf,
			TLSHandshakeTimeout:   10 * time.Second,
			ForceAttemptHTTP2:     true,
			MaxIdleConnsPerHost:   inFlight,
			IdleConnTimeout:       90 * time.Second,
			ExpectContinueTimeout: time.Second,
		}
	}

	return &http.Client{
		Transport:     transport{next, cfg.Trace},
		Timeout:       cfg.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// tlsConfig reads the files of the configuration. The fallback is what clouds.yaml asks for.
func tlsConfig(cfg Config, fallback *tls.Config) (*tls.Config, error) {
	own := cfg.CACertFile != "" || cfg.ClientCertFile != "" || cfg.ClientKeyFile != "" || cfg.Insecure
	if !own && fallback != nil {
		return fallback, nil
	}

	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: cfg.Insecure} //nolint:gosec // an explicit option of the user

	if cfg.CACertFile != "" {
		pem, err := os.ReadFile(cfg.CACertFile)
		if err != nil {
			return nil, &ConfigError{"ca_cert_file", err}
		}

		conf.RootCAs = x509.NewCertPool()
		if !conf.RootCAs.AppendCertsFromPEM(pem) {
			return nil, wrong("ca_cert_file", "%s holds no certificate in PEM form", cfg.CACertFile)
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

// transport bounds bodies and tells the trace of each request.
type transport struct {
	next  http.RoundTripper
	trace func(ctx context.Context, method, url string, status int, elapsed time.Duration)
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	start := time.Now()
	answer, err := t.next.RoundTrip(r)

	if t.trace != nil {
		status := 0
		if answer != nil {
			status = answer.StatusCode
		}

		t.trace(r.Context(), r.Method, r.URL.Redacted(), status, time.Since(start))
	}

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
