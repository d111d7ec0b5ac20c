// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package transport is what the clients of the far sides share: connections, TLS, the trace of
// requests, bounded answers, causes of failed connections, spellings of secrets.
//
// It holds mechanics only. What an error means, whether a redirect is followed and what is
// repeated is the business of each client.
package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// New makes a transport of its own for a far side with a few idle connections kept.
func New(conf *tls.Config, idle int) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}

	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     conf,
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: idle,
		IdleConnTimeout:     90 * time.Second,
	}
}

// NoRedirect makes an answer 3xx an answer like any other, as CheckRedirect of a client. A
// request that changes something would turn into a GET, of which the answer looks like that of
// the change, and another host would see the credentials.
func NoRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Trace is told of every request, without bodies and without secrets. Status is 0 where there
// was no answer.
type Trace func(ctx context.Context, method, url string, status int, elapsed time.Duration)

// Tell tells the trace, if there is one, of a request that began at a moment and ends now.
func (t Trace) Tell(ctx context.Context, r *http.Request, answer *http.Response, began time.Time) {
	if t == nil {
		return
	}

	status := 0
	if answer != nil {
		status = answer.StatusCode
	}

	t(ctx, r.Method, r.URL.Redacted(), status, time.Since(began))
}
