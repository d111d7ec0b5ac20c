// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// DefaultTimeout bounds one request where the configuration names no bound.
	DefaultTimeout = 10 * time.Second

	bodyLimit = 4 << 20
	textLimit = 500
)

// Config says where an etcd is and how to talk to it.
type Config struct {
	Endpoints   []string        // https://host:2379 of its members; they are asked in this order
	CA          []byte          // PEM, etcd's own authority
	Certificate tls.Certificate // of a client, signed by it

	Timeout time.Duration // of one request; 0 means DefaultTimeout
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// String describes the configuration without its key.
func (cfg Config) String() string { return strings.Join(cfg.Endpoints, ", ") }

// GoString is String, so that no verb of fmt prints the key.
func (cfg Config) GoString() string { return cfg.String() }

// Client talks to the members of one etcd. It is safe for concurrent use.
type Client struct {
	http      *http.Client
	endpoints []string
	timeout   time.Duration
}

// New checks a configuration and makes a client. It calls nobody.
func New(cfg Config) (*Client, error) {
	if len(cfg.Endpoints) == 0 {
		return nil, errors.New("etcd: no endpoint is given")
	}

	endpoints := make([]string, 0, len(cfg.Endpoints))

	for _, endpoint := range cfg.Endpoints {
		u, err := url.Parse(endpoint)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" {
			return nil, errors.New("etcd: an endpoint is not like https://host:2379")
		}

		endpoints = append(endpoints, "https://"+u.Host)
	}

	conf := transport.TLS(false)
	if err := transport.Trust(conf, cfg.CA); err != nil {
		return nil, fmt.Errorf("etcd: its certificate authority: %w", err)
	}

	if len(cfg.Certificate.Certificate) == 0 {
		return nil, errors.New("etcd: a client certificate is needed")
	}

	conf.Certificates = []tls.Certificate{cfg.Certificate}
	trip := transport.New(conf, 1)
	trip.ForceAttemptHTTP2 = false // etcd takes HTTP/2 for gRPC
	trip.Proxy = nil               // the members of a control plane are asked directly

	if cfg.Dial != nil {
		trip.DialContext = cfg.Dial
	}

	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}

	return &Client{&http.Client{Transport: trip, CheckRedirect: transport.NoRedirect}, endpoints, cfg.Timeout}, nil
}

// Close ends idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ErrNotFound is what the error is about a member that is not there.
var ErrNotFound = errors.New("not found")

// Error is a request that etcd refused, or that got no answer.
type Error struct {
	Op       string
	Endpoint string
	Status   int // of HTTP; 0 where there was no answer
	Code     int // of gRPC
	Text     string

	kind error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: etcd at %s: %s", e.Op, e.Endpoint, e.Text) }

// Unwrap returns ErrNotFound or nil.
func (e *Error) Unwrap() error { return e.kind }

// The codes of gRPC that a caller can tell apart.
const (
	codeNotFound = 5
)

// any asks the members one after the other until one answers.
func (c *Client) any(ctx context.Context, op, path string, body, answer any) error {
	var failed []error

	for _, endpoint := range c.endpoints {
		err := c.one(ctx, endpoint, op, path, body, answer)

		var refused *Error
		if err == nil || ctx.Err() != nil || (errors.As(err, &refused) && refused.Status != 0) {
			return err
		}

		failed = append(failed, err)
	}

	if len(failed) == 1 {
		return failed[0]
	}

	all := errors.Join(failed...)
	for _, err := range failed {
		if wait.IsTransient(err) {
			return wait.Transient(all)
		}
	}

	return all
}

// one asks one member.
func (c *Client) one(ctx context.Context, endpoint, op, path string, body, answer any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}

	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	request, err := http.NewRequestWithContext(limited, http.MethodPost, endpoint+path, bytes.NewReader(encoded))
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}

	request.Header.Set("Content-Type", "application/json")

	response, err := c.http.Do(request)
	if err != nil {
		return c.unanswered(ctx, endpoint, op, err)
	}

	defer func() { _ = response.Body.Close() }()

	said, err := transport.ReadBody(response.Body, bodyLimit)
	if err != nil {
		return c.unanswered(ctx, endpoint, op, err)
	}

	if response.StatusCode != http.StatusOK {
		return refusal(endpoint, op, response.StatusCode, said)
	}

	if err := json.Unmarshal(said, answer); err != nil {
		return &Error{Op: op, Endpoint: endpoint, Status: response.StatusCode, Text: "the answer is not etcd's JSON"}
	}

	return nil
}

func (c *Client) unanswered(ctx context.Context, endpoint, op string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}

	err = transport.Inner(err)
	e := &Error{Op: op, Endpoint: endpoint, Text: err.Error()}

	switch transport.CauseOf(err) {
	case transport.Untrusted:
		e.Text = "its certificate is not of this cluster's etcd authority: " + err.Error()
	case transport.Alerted:
		e.Text = "it does not accept our certificate: " + err.Error()
	case transport.NoTLS:
		e.Text = "it does not speak TLS"
	case transport.Ended, transport.Other:
		if errors.Is(err, context.DeadlineExceeded) {
			e.Text = fmt.Sprintf("no answer within %s", c.timeout)
		}

		return wait.Transient(e)
	}

	return e
}

// refusal sorts an answer that says no. A member without a leader answers 503, and 500 or 504 are overloads.
func refusal(endpoint, op string, status int, body []byte) error {
	var said struct {
		Error, Message string
		Code           int
	}

	_ = json.Unmarshal(body, &said) // what is no JSON has no words

	e := &Error{Op: op, Endpoint: endpoint, Status: status, Code: said.Code, Text: said.Message}
	if e.Text == "" {
		e.Text = said.Error
	}

	if e.Text == "" {
		e.Text = strings.ToLower(http.StatusText(status))
	}

	if len(e.Text) > textLimit {
		e.Text = strings.ToValidUTF8(e.Text[:textLimit], "") + " …"
	}

	if said.Code == codeNotFound {
		e.kind = ErrNotFound
	}

	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return wait.Transient(e)
	}

	return e
}
