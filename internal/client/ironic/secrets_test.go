// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

const secret = "S3cret&+%"

// forms are what must not be seen of the secret.
func forms() []string {
	quoted, _ := json.Marshal(secret)

	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), "S3cret%26%2b%25", html.EscapeString(secret),
		strings.Trim(string(quoted), `"`), base64.StdEncoding.EncodeToString([]byte(secret)), base64.URLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("admin:" + secret)), base64.StdEncoding.EncodeToString([]byte("root:" + secret)),
	}
}

func leaks(text string) bool {
	for _, form := range forms() {
		if strings.Contains(text, strings.TrimRight(form, "=")) {
			return true
		}
	}

	// Of base64 inside of something longer, the middle must not be left over.
	return strings.Contains(text, "3cret") || strings.Contains(text, "czY3JldC") || strings.Contains(text, "UzNjcmV0")
}

func TestOBMH18_noAnswerShowsTheSecret(t *testing.T) {
	t.Parallel()

	create := func(ctx context.Context, c *ironic.Client) error {
		_, err := c.CreateNode(ctx, ironic.Create{Name: "n", Driver: "redfish", DriverInfo: map[string]any{"redfish_username": "root", "redfish_password": secret}})

		return err
	}
	patch := func(ctx context.Context, c *ironic.Client) error {
		_, err := c.PatchNode(ctx, someNode, []ironic.Patch{{Op: "add", Path: "/driver_info/redfish_password", Value: secret}})

		return err
	}
	whole := func(ctx context.Context, c *ironic.Client) error {
		_, err := c.PatchNode(ctx, someNode, []ironic.Patch{{Op: "add", Path: "/driver_info", Value: map[string]any{"ipmi_password": secret}}})

		return err
	}
	drive := func(ctx context.Context, c *ironic.Client) error {
		return c.Provision(ctx, someNode, ironic.Provision{Target: ironic.VerbActive, ConfigDrive: map[string]any{"user_data": secret}})
	}

	for name, tc := range map[string]struct {
		do     func(ctx context.Context, c *ironic.Client) error
		method string
		status int
		wrap   func(string) string
		stays  string
	}{
		"a refused registration":  {create, "POST", 400, fault, "redfish_username"},
		"a refused change":        {patch, "PATCH", 400, fault, "redfish_username"},
		"a change of the whole":   {whole, "PATCH", 409, fault, "redfish_username"},
		"a refused deployment":    {drive, "PUT", 400, fault, "redfish_username"},
		"a log-in that is echoed": {create, "POST", 401, func(s string) string { return `{"error":{"code":401,"message":` + quote(s) + `}}` }, "redfish_username"},
		"a page of a proxy":       {create, "POST", 400, func(s string) string { return "<html><title>" + s + "</title></html>" }, "is this Ironic"},
		"a traceback":             {create, "POST", 500, func(s string) string { return s }, "Ironic answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for _, form := range forms() {
					f := newFake()
					f.add(someNode, nil)
					f.answer(tc.method, "/v1/nodes", -1, tc.status, tc.wrap(fmt.Sprintf("bad redfish_username in %s: {'x': '%s'}", form, form)))

					err := tc.do(t.Context(), f.client(t))
					if err == nil || leaks(err.Error()) || leaks(fmt.Sprintf("%+v %#v", err, err)) {
						t.Errorf("%q: %v", form, err)
					}

					if !strings.Contains(err.Error(), tc.stays) {
						t.Errorf("nothing is left of the reason: %v", err)
					}
				}
			})
		})
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)

	return string(b)
}

func TestOBMH18_ownPasswordIsNotShown(t *testing.T) {
	t.Parallel()

	basic := func(cfg *ironic.Config) { cfg.Auth, cfg.Username, cfg.Password = ironic.HTTPBasic, "admin", secret }

	for _, form := range forms() {
		f := newFake()
		f.answer("GET", "/v1/drivers", -1, 401, fault("refused: Basic "+form))

		_, err := f.client(t, basic).Drivers(t.Context())
		if !errors.Is(err, ironic.ErrAuth) || leaks(err.Error()) {
			t.Errorf("%q: %v", form, err)
		}
	}
}

func TestOBMH18_valuesOfNamesThatSoundSecretAreNotShown(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"Python's words":   `Invalid: {'address': 'x', 'ipmi_password': 'Unheard#1', 'b': 2}`,
		"JSON":             `Invalid: {"redfish_password": "Unheard#1"}`,
		"escaped JSON":     `Invalid: {\"redfish_password\": \"Unheard#1\"}`,
		"a query":          `GET /x?token=Unheard#1`,
		"words":            `tried password: Unheard#1`,
		"the agent's":      `agent_token=Unheard#1, x`,
		"a Python unicode": `{u'snmp_auth_key': u'Unheard#1'}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			f.answer("GET", "/v1/nodes/", -1, 400, fault(text))

			_, err := f.client(t).Node(t.Context(), someNode)
			if err == nil || strings.Contains(err.Error(), "Unheard") || !strings.Contains(err.Error(), "***") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOBMH18_lastErrorAndHistoryAreCleaned(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.add(someNode, map[string]any{"last_error": "login with " + secret + " failed"})
	f.answer("GET", "/history", -1, 200, `{"history":[{"event":"login with `+url.QueryEscape(secret)+` failed"}]}`)
	c := f.client(t)

	n, err := c.PatchNode(t.Context(), someNode, []ironic.Patch{{Op: "add", Path: "/driver_info/redfish_password", Value: secret}})
	if err != nil || n.LastError != "login with *** failed" {
		t.Errorf("got %q, %v", n.LastError, err)
	}

	if g, err := c.Glance(t.Context(), someNode); err != nil || leaks(g.LastError) {
		t.Errorf("got %q, %v", g.LastError, err)
	}

	if events, err := c.History(t.Context(), someNode); err != nil || leaks(events[0].Text) {
		t.Errorf("got %v, %v", events, err)
	}
}

func TestOBMH18_anOrdinaryWordAsAPasswordLeavesMessagesReadable(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("POST", "/v1/nodes", -1, 400, fault("redfish_password is wrong: password"))

	_, err := f.client(t).CreateNode(t.Context(), ironic.Create{Driver: "redfish", DriverInfo: map[string]any{"redfish_password": "password"}})
	if err == nil || !strings.Contains(err.Error(), "redfish_password is wrong: ***") {
		t.Errorf("got %v", err)
	}
}

func TestTrace_showsNoSecret(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lines []string

		f := newFake()
		c := f.client(t, func(cfg *ironic.Config) {
			cfg.Auth, cfg.Username, cfg.Password = ironic.HTTPBasic, "admin", secret
			cfg.Trace = func(_ context.Context, method, address string, status int, elapsed time.Duration) {
				lines = append(lines, fmt.Sprintf("%s %s %d %s", method, address, status, elapsed))
			}
		})

		_, err := c.CreateNode(t.Context(), ironic.Create{Name: "n", Driver: "redfish", DriverInfo: map[string]any{"redfish_password": secret}})
		if err != nil || len(lines) != 2 || leaks(strings.Join(lines, "\n")) {
			t.Errorf("got %v, %v", lines, err)
		}

		if lines[1] != "POST http://ironic.test:6385/v1/nodes 201 0s" {
			t.Errorf("got %q", lines[1])
		}
	})
}
