// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Client talks to one Ironic. It is safe for concurrent use.
type Client struct {
	cfg      Config
	http     *http.Client
	timeout  time.Duration
	endpoint string                 // as configured
	found    atomic.Pointer[string] // as the catalogue says
	keystone *keystone

	sessions shared[*gophercloud.ServiceClient]
	versions shared[int]
	slots    wait.Places
	secrets  scrubber
}

// New checks a configuration and makes a client. It reads the files that the
// configuration names, and calls nobody.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.check()
	if err != nil {
		return nil, err
	}

	ks, err := keystoneOf(cfg)
	if err != nil {
		return nil, err
	}

	c := &Client{cfg: cfg, timeout: cfg.Timeout, endpoint: cfg.Endpoint, keystone: ks, slots: make(wait.Places, inFlight)}
	c.secrets.learn(cfg.Password)

	if ks == nil {
		c.http, err = httpClient(cfg, nil)
	} else {
		c.secrets.learn(ks.auth.Password, ks.auth.Passcode, ks.auth.ApplicationCredentialSecret, ks.auth.TokenID)
		c.http, err = httpClient(cfg, ks.tls)
	}

	if err != nil {
		return nil, err
	}

	return c, nil
}

// Endpoint returns the address of Ironic in a form that can be compared: no slash at its
// end and no /v1. It is empty until the first answer where only Keystone's catalogue knows it.
func (c *Client) Endpoint() string {
	if found := c.found.Load(); found != nil {
		return *found
	}

	return c.endpoint
}
