// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
)

// keystone is what a log-in needs. It is read when the client is made, and used at the first need.
type keystone struct {
	auth  gophercloud.AuthOptions
	place gophercloud.EndpointOpts
	tls   *tls.Config
}

// keystoneOf reads clouds.yaml or the OS_* variables; it calls nobody.
func keystoneOf(cfg Config) (*keystone, error) {
	if cfg.Auth != Keystone {
		return nil, nil //nolint:nilnil // no Keystone is no failure
	}

	name := cfg.Cloud
	if name == "" {
		name = os.Getenv("OS_CLOUD")
	}

	if name == "" {
		return keystoneFromEnvironment()
	}

	auth, place, conf, err := clouds.Parse(clouds.WithCloudName(name))
	if err != nil {
		// The words of a YAML parser repeat the lines that it dislikes, secrets included.
		if strings.Contains(err.Error(), "yaml:") {
			err = errors.New("clouds.yaml or secure.yaml is no valid YAML")
		}

		return nil, &ConfigError{"cloud", err}
	}

	auth.AllowReauth = true

	return &keystone{auth, place, conf}, nil
}

func keystoneFromEnvironment() (*keystone, error) {
	auth, err := openstack.AuthOptionsFromEnv()
	if err != nil {
		return nil, wrong("cloud", "neither a cloud of clouds.yaml is named, nor are the OS_* variables complete: %w", err)
	}

	auth.AllowReauth = true
	place := gophercloud.EndpointOpts{Region: os.Getenv("OS_REGION_NAME"), Availability: gophercloud.AvailabilityPublic}

	switch os.Getenv("OS_INTERFACE") {
	case "internal", "internalURL":
		place.Availability = gophercloud.AvailabilityInternal
	case "admin", "adminURL":
		place.Availability = gophercloud.AvailabilityAdmin
	}

	return &keystone{auth, place, nil}, nil
}

// session returns the authenticated client of the service. Only Keystone costs requests.
func (c *Client) session(ctx context.Context) (*gophercloud.ServiceClient, error) {
	return c.sessions.get(ctx, c.open)
}

func (c *Client) open(ctx context.Context) (*gophercloud.ServiceClient, error) {
	var (
		sc  *gophercloud.ServiceClient
		err error
		url = c.endpoint + "/v1"
	)

	switch c.cfg.Auth {
	case Keystone:
		return c.login(ctx)
	case HTTPBasic:
		sc, err = httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{
			IronicEndpoint: url, IronicUser: c.cfg.Username, IronicUserPassword: c.cfg.Password,
		})
	case NoAuth:
		sc, err = noauth.NewBareMetalNoAuth(noauth.EndpointOpts{IronicEndpoint: url})
	}

	if err != nil {
		return nil, fmt.Errorf("connect to Ironic: %w", err)
	}

	c.adorn(sc.ProviderClient)

	return sc, nil
}

// login asks Keystone for a token and, where no endpoint is configured, for the place of Ironic.
func (c *Client) login(ctx context.Context) (*gophercloud.ServiceClient, error) {
	k := call{op: "log in to Keystone", method: http.MethodPost}

	pc, err := openstack.NewClient(c.keystone.auth.IdentityEndpoint)
	if err != nil {
		return nil, &ConfigError{"cloud", errors.New("the address of Keystone (auth_url) is not a URL")}
	}

	c.adorn(pc)

	if err := openstack.Authenticate(ctx, pc, c.keystone.auth); err != nil {
		return nil, c.failure(ctx, k, err)
	}

	endpoint := c.endpoint
	if endpoint == "" {
		// Not openstack.NewBareMetalV1: it asks the service for its versions, without our context.
		place := c.keystone.place
		place.ApplyDefaults("baremetal")

		named, err := pc.EndpointLocator(place)
		if err != nil {
			return nil, &ConfigError{"endpoint", errors.New("the catalogue of Keystone names no bare metal service here: " + c.secrets.clean(err.Error()))}
		}

		if endpoint, err = normalise(named); err != nil {
			return nil, &ConfigError{"endpoint", fmt.Errorf("the catalogue of Keystone: %w", err)}
		}

		c.found.Store(&endpoint)
	}

	return &gophercloud.ServiceClient{ProviderClient: pc, Endpoint: endpoint + "/v1/", Type: "baremetal"}, nil
}

func (c *Client) adorn(pc *gophercloud.ProviderClient) {
	pc.HTTPClient = *c.http
	if c.cfg.UserAgent != "" {
		pc.UserAgent.Prepend(c.cfg.UserAgent)
	}
}
