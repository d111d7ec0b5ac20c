// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	// Manager is the field manager of everything that is applied.
	Manager = "metal3-cluster"

	inFlight  = 16        // requests of one client at a time; the API server's own limits are far above
	bodyLimit = 256 << 20 // far above a page of Nodes with all their images
	pageSize  = 500

	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
)

// Client talks to one API server. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	base    string
	timeout time.Duration
	agent   string
	trace   transport.Trace
	slots   wait.Places
	secrets []string // all spellings of the lasting ones
	served  served
}

// New checks a configuration and makes a client. It reads the files that the configuration
// names, and calls nobody.
func New(cfg Config) (*Client, error) {
	settings, err := cfg.settings()
	if err != nil {
		return nil, err
	}

	// The limits are ours, and a request has its own timeout.
	settings.QPS, settings.Burst, settings.Timeout = -1, 0, 0
	settings.UserAgent = ""
	settings.Dial = cfg.Dial

	if err := checkTLS(settings); err != nil {
		return nil, err
	}

	client, err := rest.HTTPClientFor(settings)
	if err != nil {
		return nil, &ConfigError{"kubeconfig", err} // it names files and plugins
	}

	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}

	c := &Client{
		http:    &http.Client{Transport: client.Transport, CheckRedirect: transport.NoRedirect},
		base:    strings.TrimRight(settings.Host, "/"),
		timeout: cfg.Timeout,
		agent:   cfg.UserAgent,
		trace:   cfg.Trace,
		slots:   make(wait.Places, inFlight),
	}

	for _, secret := range []string{settings.BearerToken, settings.Password} {
		c.secrets = append(c.secrets, transport.Spellings(secret)...)
	}

	return c, nil
}

// Server returns the address of the API server.
func (c *Client) Server() string { return c.base }

// call is one request.
type call struct {
	op      string // for messages: "cordon Node a"
	method  string
	path    string
	query   url.Values
	kind    string // Content-Type of the body
	body    any
	passing []string // secrets in the body, which an answer may repeat
}

// answer is what came back, whatever the status.
type answer struct {
	status int
	header http.Header
	body   []byte
	from   *http.Response
}

// pause is how reads are repeated that broke on the way.
var pause = wait.Cadence{First: 100 * time.Millisecond, Factor: 3, Jitter: 0.2, Errors: 3}

const patience = 10 * time.Second

// do sends a request and returns what a success says. Reads whose answer got lost are repeated a
// few times; nothing else is: whether it arrived is for the caller to look at.
func (c *Client) do(ctx context.Context, k call) (answer, error) {
	if k.method == http.MethodGet {
		return transport.Repeat(ctx, pause, patience, func(ctx context.Context) (answer, error) {
			return c.once(ctx, k)
		}, broken)
	}

	return c.once(ctx, k)
}

func (c *Client) once(ctx context.Context, k call) (answer, error) {
	a, err := c.send(ctx, k)
	if err != nil {
		return a, err
	}

	if a.status/100 != 2 {
		return a, c.refusal(k, a)
	}

	return a, nil
}

// send sends a request and returns the answer, whatever its status.
func (c *Client) send(ctx context.Context, k call) (answer, error) {
	free, err := c.slots.Enter(ctx)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", k.op, err)
	}
	defer free()

	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	request, err := c.request(limited, k)
	if err != nil {
		return answer{}, err
	}

	began := time.Now()
	response, err := c.http.Do(request)
	c.trace.Tell(ctx, request, response, began)

	if err != nil {
		return answer{}, c.unanswered(ctx, k, err)
	}

	defer func() { _ = response.Body.Close() }()

	body, err := transport.ReadBody(response.Body, bodyLimit)
	if err != nil {
		return answer{}, c.unanswered(ctx, k, err)
	}

	return answer{response.StatusCode, response.Header, body, response}, nil
}

func (c *Client) request(ctx context.Context, k call) (*http.Request, error) {
	var body []byte

	if k.body != nil {
		encoded, err := json.Marshal(k.body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.op, err)
		}

		body = encoded
	}

	target := c.base + k.path
	if len(k.query) > 0 {
		target += "?" + k.query.Encode()
	}

	request, err := http.NewRequestWithContext(ctx, k.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, err)
	}

	request.Header.Set("Accept", "application/json")

	if k.body != nil {
		kind := k.kind
		if kind == "" {
			kind = "application/json"
		}

		request.Header.Set("Content-Type", kind)
	}

	if c.agent != "" {
		request.Header.Set("User-Agent", c.agent)
	}

	return request, nil
}

// segment escapes a name for a path. Names come from answers and configurations of others.
func segment(name string) string { return url.PathEscape(name) }
