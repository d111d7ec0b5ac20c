// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabrictoken_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

// manager is a fabric manager with tokens.
type manager struct {
	*providertest.Fabric

	token fabric.Token
	err   error
}

// Token implements fabric.TokenSource.
func (m manager) Token(context.Context) (fabric.Token, error) { return m.token, m.err }

func open(t *testing.T, of block, opts ...provider.Option) (block, string) {
	t.Helper()

	s := providertest.NewServer(t, opts...)
	if text := providertest.Errors(s.Configure(t, of)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Open(t, "metal3_fabric_token", nil)

	return got, providertest.Errors(diags)
}

func TestToken(t *testing.T) {
	t.Parallel()

	ends := time.Date(2031, 2, 3, 4, 5, 6, 7, time.FixedZone("east", 3600))

	for name, c := range map[string]struct {
		token  fabric.Token
		expiry any
	}{
		"a token that ends":                 {fabric.Token{AccessToken: "tok", Type: "Bearer", Expiry: ends}, "2031-02-03T03:05:06Z"},
		"a token of which nobody says when": {fabric.Token{AccessToken: "tok", Type: "Bearer"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := manager{&providertest.Fabric{}, c.token, nil}

			got, errs := open(t, nil, provider.WithDesk(device.NewDesk(f, nil)))
			if errs != "" || got["access_token"] != "tok" || got["token_type"] != "Bearer" || got["expiry"] != c.expiry || got["endpoint"] != f.Endpoint() {
				t.Errorf("got %v: %s", got, errs)
			}
		})
	}
}

func TestToken_refusals(t *testing.T) {
	t.Parallel()

	desk := func(f fabric.Fabric) []provider.Option {
		return []provider.Option{provider.WithDesk(device.NewDesk(f, nil))}
	}

	for name, c := range map[string]struct {
		block block
		opts  []provider.Option
		says  []string
	}{
		"a manager without tokens":  {nil, desk(&providertest.Fabric{}), []string{"has no tokens", "fabric.type", "https://fabric.test"}},
		"a login that is refused":   {nil, desk(manager{Fabric: &providertest.Fabric{}, err: errors.New("401 wrong user")}), []string{"No token", "401 wrong user"}},
		"no fabric at all":          {nil, nil, []string{"fabric.endpoint"}},
		"a fabric not known yet":    {block{"fabric": block{"endpoint": providertest.Unknown{}}}, nil, []string{"yet", "fabric.endpoint", "wait_for"}},
		"a lab's manager without":   {block{"lab": block{"dir": t.TempDir(), "fabric_type": "nec_cdim"}}, nil, []string{"has no tokens"}},
		"a lab with another secret": {block{"lab": block{"dir": t.TempDir()}, "fabric": block{"auth": block{"password": "wrong"}}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, errs := open(t, c.block, c.opts...)
			if (errs == "") != (len(c.says) == 0) {
				t.Errorf("got %v: %s", got, errs)
			}

			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}
		})
	}
}

// TestToken_ofTheLab logs in at the lab's token service.
func TestToken_ofTheLab(t *testing.T) {
	t.Parallel()

	got, errs := open(t, block{"lab": block{"dir": t.TempDir()}})

	token, _ := got["access_token"].(string)
	expiry, _ := got["expiry"].(string)

	if ends, err := time.Parse(time.RFC3339, expiry); err != nil || time.Until(ends) <= 0 {
		t.Errorf("it ends at %q: %v", expiry, err)
	}

	if errs != "" || len(token) < 10 || got["endpoint"] != lab.FabricEndpoint {
		t.Errorf("a token of %d letters at %v: %s", len(token), got["endpoint"], errs)
	}
}
