// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

var (
	// readRhythm repeats reads that failed for the moment.
	readRhythm = wait.Cadence{First: 200 * time.Millisecond, Factor: 2.5, Max: 2 * time.Second, Jitter: 0.1, Errors: 3}

	// patience ends the repetition of reads that are slow to fail.
	patience = 20 * time.Second
)

// Authorizer puts on a request the proof of who we are.
type Authorizer interface {
	// Authorize adds the proof to a request. Its errors say that nothing was sent.
	Authorize(ctx context.Context, r *http.Request) error
	// Refused is told of an answer 401 and says whether to repeat the request once. [ProofOf]
	// the context is the one that Authorize saw for the request.
	Refused(ctx context.Context) bool
}

// Proof is what an [Authorizer] remembers from Authorize to Refused of one request: which
// token was refused matters when many requests run at a time.
type Proof struct{ Value string }

type proofKey struct{}

// ProofOf returns the memory of the request of a context, nil outside of one.
func ProofOf(ctx context.Context) *Proof {
	p, _ := ctx.Value(proofKey{}).(*Proof)

	return p
}

// Caller sends the requests of one driver to one address.
type Caller struct {
	cfg    Config
	base   string
	auth   Authorizer
	secret redactor
	lazy   lazyClient

	dialects []Dialect
}

// NewCaller makes a caller for an address as [NormalEndpoint] returns it. It calls nobody and
// reads no file. Without auth requests carry no proof. The dialects are those in which
// [ErrNotFound] may come; without one it comes in any.
func NewCaller(cfg Config, base string, auth Authorizer, dialects ...Dialect) (*Caller, error) {
	base, err := NormalEndpoint(base, cfg.AllowPlainHTTP)
	if err != nil {
		return nil, &ConfigError{"endpoint", err}
	}

	if cfg.RequestTimeout <= 0 {
		cfg.RequestTimeout = DefaultRequestTimeout
	}

	if cfg.MutateTimeout <= 0 {
		cfg.MutateTimeout = DefaultMutateTimeout
	}

	return &Caller{
		cfg: cfg, base: base, auth: auth, secret: newRedactor(cfg.Auth.Password, cfg.Auth.ClientSecret), dialects: dialects,
	}, nil
}

// Endpoint is the address without a slash at its end.
func (c *Caller) Endpoint() string { return c.base }

// Request is one question or one order.
type Request struct {
	Op      string // for people: "get machine 5f…"
	Method  string // GET where empty
	Path    string // below the address: escaped, begins with "/"
	Query   url.Values
	Header  http.Header
	Body    any        // sent as JSON
	Form    url.Values // sent as a form, where there is no Body
	Mutates bool       // it changes something: it is sent once, and its outcome may be unknown
}

// Answer is a good answer (2xx).
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Do sends a request. A read that fails for the moment is repeated a few times; an order is
// never, but for the answer 401, which says that nothing was done. Errors are [*Error] (or
// [*ConfigError]); those that may pass are marked with wait.Transient.
func (c *Caller) Do(ctx context.Context, r Request) (Answer, error) {
	if r.Method == "" {
		r.Method = http.MethodGet
	}

	if r.Mutates {
		a, err := c.authorized(ctx, r)

		return a, err
	}

	return transport.Repeat(ctx, readRhythm, patience, func(ctx context.Context) (Answer, error) {
		return c.authorized(ctx, r)
	}, again)
}

// again reports whether a quick repetition of a read may help. An answer 4xx that may pass
// is for those who wait anyway, and a login repeats itself.
func again(err error) bool {
	var e *Error

	return wait.IsTransient(err) && errors.As(err, &e) && !e.login && (e.Status == 0 || e.Status >= 500)
}

// authorized sends a request with a proof, and once more with a new one where it is refused.
func (c *Caller) authorized(ctx context.Context, r Request) (Answer, error) {
	ctx = context.WithValue(ctx, proofKey{}, &Proof{})

	a, err := c.exchange(ctx, r)

	var e *Error
	if c.auth == nil || !errors.As(err, &e) || e.login || e.Status != http.StatusUnauthorized || !c.auth.Refused(ctx) {
		return a, err
	}

	return c.exchange(ctx, r)
}

// exchange sends a request once.
func (c *Caller) exchange(ctx context.Context, r Request) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, c.ended(ctx, r, true)
	}

	client, err := c.lazy.get(c.cfg)
	if err != nil {
		return Answer{}, err
	}

	limit := c.cfg.RequestTimeout
	if r.Mutates {
		limit = c.cfg.MutateTimeout
	}

	var began atomic.Bool

	request, err := c.request(ctx, r)
	if err != nil {
		return Answer{}, err
	}

	if c.auth != nil {
		if err := c.auth.Authorize(ctx, request); err != nil {
			return Answer{}, c.loginFailed(r, err)
		}
	}

	// The time of the request begins here: a login has one of its own.
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	request = request.WithContext(httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { began.Store(true) },
	}))
	secret := c.secret.and(proofs(request.Header, r.Form)...)
	start := time.Now()
	response, err := client.Do(request)
	c.cfg.Trace.Tell(ctx, request, response, start)

	if err != nil {
		return Answer{}, c.unreached(ctx, r, failure{err: err, limit: limit, began: began.Load() || !c.lazy.traced, secret: secret})
	}
	defer response.Body.Close()

	body, err := transport.ReadBody(response.Body, bodyLimit)
	a := Answer{response.StatusCode, response.Header, body}

	switch {
	case errors.Is(err, transport.ErrTooLong):
		return Answer{}, c.Unusable(r, a, "the answer is longer than 8 MiB")
	case err != nil && a.Status < 300:
		return Answer{}, c.unreached(ctx, r, failure{err: err, limit: limit, began: true, secret: secret})
	case a.Status >= 300:
		return Answer{}, c.judge(r, a, secret)
	case !r.Mutates && isHTML(body):
		return Answer{}, c.Unusable(r, a, "HTML: "+title(body))
	}

	return a, nil
}

func (c *Caller) request(ctx context.Context, r Request) (*http.Request, error) {
	var (
		body io.Reader
		kind string
	)

	switch {
	case r.Body != nil:
		raw, err := json.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Op, err)
		}

		body, kind = bytes.NewReader(raw), "application/json"
	case r.Form != nil:
		body, kind = strings.NewReader(r.Form.Encode()), "application/x-www-form-urlencoded"
	}

	address := c.base + r.Path
	if len(r.Query) > 0 {
		address += "?" + r.Query.Encode()
	}

	request, err := http.NewRequestWithContext(ctx, r.Method, address, body)
	if err != nil {
		return nil, &Error{Op: r.Op, Method: r.Method, Path: r.Path, Kind: ErrConfig, Message: "no such address can be asked"}
	}

	request.Header.Set("Accept", "application/json")

	if c.cfg.UserAgent != "" {
		request.Header.Set("User-Agent", c.cfg.UserAgent)
	}

	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}

	for name, values := range r.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}

	return request, nil
}
