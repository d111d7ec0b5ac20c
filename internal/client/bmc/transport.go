// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// bodyLimit is far above any document of a system.
const bodyLimit = 16 << 20

// whole authenticates requests, reads answers whole, and tells the trace of each.
//
// Whole, because the library gives its slot to the next request once the header is there:
// a small computer would then send more bodies at a time than it was asked for.
type whole struct {
	next  http.RoundTripper
	trace transport.Trace
}

// RoundTrip implements http.RoundTripper.
func (t *whole) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	r = r.Clone(ctx)
	authorize(r)

	start := time.Now()
	answer, err := t.next.RoundTrip(r)
	t.trace.Tell(ctx, r, answer, start)

	if err != nil {
		return nil, err
	}

	body, err := transport.ReadBody(answer.Body, bodyLimit)
	_ = answer.Body.Close()

	switch {
	case errors.Is(err, transport.ErrTooLong):
		return nil, errors.New("the answer is too long for a BMC")
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	}

	answer.Body = io.NopCloser(bytes.NewReader(body))

	if r.Method == http.MethodPost {
		nameSession(answer, body)
	}

	return answer, nil
}

// CloseIdleConnections closes those of the transport below.
func (t *whole) CloseIdleConnections() {
	if next, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		next.CloseIdleConnections()
	}
}

// redirect follows a redirect only to another path of the same BMC, and only when reading:
// a change would turn into a read, and another host would see the token.
func redirect(r *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) > 3 || r.Method != http.MethodGet || r.URL.Host != first.URL.Host || r.URL.Scheme != first.URL.Scheme {
		return http.ErrUseLastResponse
	}

	return nil
}
