// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package bmc speaks Redfish with the BMC of a machine: what the host needs of it
// directly, which is little, because Ironic does the rest.
//
// It stands on gofish for requests and vocabulary, and hides what gofish leaves to its
// user: a context for each call, sessions that are always closed, tasks that are followed
// to their end, preconditions, and errors without secrets. Documents are decoded field by
// field, since one odd value must not hide a whole system.
package bmc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/stmcginnis/gofish"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

// Ways to authenticate, in the words of Ironic's redfish_auth_type.
const (
	AuthAuto    = "auto"    // a session; HTTP Basic where the BMC gives none
	AuthSession = "session" // a session or nothing
	AuthBasic   = "basic"   // HTTP Basic with every request
)

const (
	defaultTimeout = 30 * time.Second // of one request
	logoutTimeout  = 5 * time.Second  // for the end of a session, whatever ended the work
	inFlight       = 4                // requests at a time: BMCs are small computers
)

// Config says how to reach one BMC.
type Config struct {
	Address    string // base URL: Ironic's redfish_address
	SystemPath string // path of the system, "" to look for it
	Username   string
	Password   string
	Auth       string // one of the Auth… words, "" for auto
	VerifyCA   string // file of CA certificates on this machine, "" for those of the system
	Insecure   bool   // do not verify the certificate
	Timeout    time.Duration

	Transport http.RoundTripper // instead of a transport of its own; then VerifyCA and Insecure have no say
	Trace     transport.Trace   // told of every request
}

// Client talks to one BMC. It is safe for concurrent use, and must be closed.
type Client struct {
	cfg     Config
	http    *http.Client
	invalid error // what is wrong with the configuration
	secrets *redactor

	mu      sync.Mutex
	api     *gofish.APIClient
	cred    *credential
	pending *login
	system  string // path of the system, once it is known
	refs    int    // users that have not closed it yet
	closed  bool
	leave   func() // takes the client out of its pool
}

// New returns a client. It calls nobody: the first request connects.
func New(cfg Config) *Client {
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}

	if cfg.Auth == "" {
		cfg.Auth = AuthAuto
	}

	c := &Client{cfg: cfg, secrets: newRedactor(cfg.Username, cfg.Password), refs: 1}

	if cfg.SystemPath != "" {
		path := "/" + strings.Trim(cfg.SystemPath, "/")
		c.system = (&url.URL{Path: path}).EscapedPath()
	}

	c.invalid = c.configure()

	return c
}

// configure checks the configuration and makes the HTTP client.
func (c *Client) configure() error {
	u, err := url.Parse(c.cfg.Address)

	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return errors.New("the address of the BMC is no http or https URL")
	case u.User != nil:
		return errors.New("the address of the BMC must not hold a user name or a password")
	}

	c.cfg.Address = u.Scheme + "://" + u.Host

	next := c.cfg.Transport
	if next == nil {
		conf, err := c.tlsConfig()
		if err != nil {
			return err
		}

		next = &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			TLSClientConfig:     conf,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: inFlight,
			MaxConnsPerHost:     inFlight,
			IdleConnTimeout:     time.Minute,
		}
	}

	c.http = &http.Client{
		Transport:     &whole{next: next, trace: c.cfg.Trace},
		Timeout:       c.cfg.Timeout,
		CheckRedirect: redirect,
	}

	return nil
}

func (c *Client) tlsConfig() (*tls.Config, error) {
	conf := transport.TLS(c.cfg.Insecure)

	if c.cfg.VerifyCA == "" || c.cfg.Insecure {
		return conf, nil
	}

	pem, err := os.ReadFile(c.cfg.VerifyCA)
	if err != nil {
		return nil, fmt.Errorf("read the CA certificates for the BMC: %w", err)
	}

	if err := transport.Trust(conf, pem); err != nil {
		return nil, fmt.Errorf("%s %w", c.cfg.VerifyCA, err)
	}

	return conf, nil
}

// connect returns the library's client, made at the first need.
func (c *Client) connect(ctx context.Context) (*gofish.APIClient, error) {
	if c.invalid != nil {
		return nil, c.invalid
	}

	c.mu.Lock()
	api, closed := c.api, c.closed
	c.mu.Unlock()

	switch {
	case closed:
		return nil, ErrClosed
	case api != nil:
		return api.WithContext(ctx), nil
	}

	if c.cfg.Auth == AuthBasic { // some services hide even their root
		ctx = withCredential(ctx, c.basic())
	}

	api, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint:              c.cfg.Address,
		HTTPClient:            c.http,
		MaxConcurrentRequests: inFlight,
		ReuseConnections:      true,
		NoModifyTransport:     true,
	})
	if err != nil {
		return nil, c.sort(ctx, "connect to the BMC", err)
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	// Of two that connected at the same time one wins: its semaphore bounds both.
	if c.api == nil {
		c.api = api
	}

	return c.api.WithContext(ctx), nil
}

// Close ends the session when the last user of the client is done.
//
// It takes its time, at most some seconds, even when the context has ended: BMCs allow few
// sessions, and one that stays open keeps others out. It returns no error, because nobody
// could do anything about it.
func (c *Client) Close(ctx context.Context) {
	c.mu.Lock()

	c.refs--
	if c.refs > 0 || c.closed {
		c.mu.Unlock()

		return
	}

	c.closed = true
	cred, pending, leave := c.cred, c.pending, c.leave
	c.cred = nil
	c.mu.Unlock()

	if leave != nil {
		leave()
	}

	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), logoutTimeout)
	defer cancel()

	if pending != nil { // a login under way ends its own session, as the client is closed
		select {
		case <-pending.done:
		case <-short.Done():
		}
	}

	c.logout(short, cred)

	if c.http != nil {
		c.http.CloseIdleConnections()
	}
}
