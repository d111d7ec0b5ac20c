// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// keystone is a fake of the identity service in front of a fake Ironic.
type keystone struct {
	*fake

	mu     sync.Mutex
	logins int
	valid  string // the token that Ironic accepts
	refuse bool
}

func (k *keystone) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	defer k.mu.Unlock()

	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")

	if r.URL.Host == "keystone.test:5000" {
		k.identity(w, r)

		return w.Result(), nil
	}

	if strings.HasPrefix(r.URL.Path, "/v1/") && r.Header.Get("X-Auth-Token") != k.valid {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"code":401,"message":"The request you have made requires authentication."}}`)

		return w.Result(), nil
	}

	return k.fake.RoundTrip(r)
}

func (k *keystone) identity(w *httptest.ResponseRecorder, r *http.Request) {
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusMultipleChoices)
		_, _ = io.WriteString(w, `{"versions":{"values":[{"id":"v3.14","status":"stable","links":[{"rel":"self","href":"http://keystone.test:5000/v3/"}]}]}}`)

		return
	}

	body, _ := io.ReadAll(r.Body)

	if k.refuse {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = fmt.Fprintf(w, `{"error":{"code":401,"message":%s,"title":"Unauthorized"}}`, quote("refused: "+string(body)))

		return
	}

	k.logins++
	k.valid = fmt.Sprintf("token-%d", k.logins)
	w.Header().Set("X-Subject-Token", k.valid)
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, `{"token":{"expires_at":"2999-01-01T00:00:00.000000Z","catalog":[{"type":"baremetal","name":"ironic","endpoints":[
		{"interface":"public","region":"RegionOne","region_id":"RegionOne","url":"http://ironic.test:6385"}]}]}}`)
}

func cloudsFile(t *testing.T) {
	t.Helper()

	file := filepath.Join(t.TempDir(), "clouds.yaml")
	text := "clouds:\n  mine:\n    region_name: RegionOne\n    auth:\n      auth_url: http://keystone.test:5000/v3\n" +
		"      username: admin\n      password: '" + secret + "'\n      project_name: p\n      user_domain_name: Default\n      project_domain_name: Default\n"

	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv("OS_CLIENT_CONFIG_FILE", file)
}

func TestKeystone(t *testing.T) { //nolint:paralleltest // it sets the environment, and its parts follow each other
	cloudsFile(t)

	k := &keystone{fake: newFake()}
	ids := k.fleet(2)

	c, err := ironic.New(ironic.Config{Auth: ironic.Keystone, Cloud: "mine", Transport: k})
	if err != nil || c.Endpoint() != "" {
		t.Fatalf("got %v, %v", c.Endpoint(), err)
	}

	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := c.Node(t.Context(), ids[0]); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	if k.logins != 1 || c.Endpoint() != "http://ironic.test:6385" {
		t.Errorf("%d log-ins, endpoint %q", k.logins, c.Endpoint())
	}

	t.Run("a token that ends midway is replaced once", func(t *testing.T) {
		k.mu.Lock()
		k.valid = "revoked"
		k.mu.Unlock()

		if _, err := c.PatchNode(t.Context(), ids[1], []ironic.Patch{{Op: "add", Path: "/extra/a", Value: 1}}); err != nil || k.logins != 2 {
			t.Errorf("%d log-ins, %v", k.logins, err)
		}
	})

	t.Run("a log-in that is refused midway is an authentication error without secrets", func(t *testing.T) {
		k.mu.Lock()
		k.valid, k.refuse = "revoked", true
		k.mu.Unlock()

		_, err := c.Node(t.Context(), ids[0])
		if !errors.Is(err, ironic.ErrAuth) || leaks(err.Error()) || !strings.Contains(err.Error(), "Keystone answered 401") {
			t.Errorf("got %v", err)
		}
	})
}

func TestKeystone_aRefusedLogIn(t *testing.T) { //nolint:paralleltest // it sets the environment
	cloudsFile(t)

	k := &keystone{fake: newFake(), refuse: true}

	c, err := ironic.New(ironic.Config{Auth: ironic.Keystone, Cloud: "mine", Transport: k})
	if err != nil {
		t.Fatal(err)
	}

	_, err = c.Node(t.Context(), someNode)
	if !errors.Is(err, ironic.ErrAuth) || leaks(err.Error()) || !strings.Contains(err.Error(), "log in to Keystone: Keystone answered 401") {
		t.Errorf("got %v", err)
	}
}

func TestKeystone_configuration(t *testing.T) {
	cloudsFile(t)
	t.Setenv("OS_CLOUD", "")
	t.Setenv("OS_AUTH_URL", "")

	var wrong *ironic.ConfigError

	for _, cloud := range []string{"other", ""} {
		if _, err := ironic.New(ironic.Config{Auth: ironic.Keystone, Cloud: cloud}); !errors.As(err, &wrong) || wrong.Option != "cloud" {
			t.Errorf("%q: %v", cloud, err)
		}
	}

	for key, value := range map[string]string{
		"OS_AUTH_URL": "http://keystone.test:5000/v3", "OS_USERNAME": "u", "OS_PASSWORD": secret, "OS_PROJECT_ID": "p", "OS_DOMAIN_NAME": "Default",
	} {
		t.Setenv(key, value)
	}

	k := &keystone{fake: newFake()}
	ids := k.fleet(1)

	c, err := ironic.New(ironic.Config{Auth: ironic.Keystone, Transport: k, Endpoint: "http://ironic.test:6385/v1"})
	if err != nil {
		t.Fatal(err)
	}

	if _, err := c.Node(t.Context(), ids[0]); err != nil {
		t.Error(err)
	}

	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("clouds:\n  mine: '"+secret+"'\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	t.Setenv("OS_CLIENT_CONFIG_FILE", bad)

	if _, err := ironic.New(ironic.Config{Auth: ironic.Keystone, Cloud: "mine"}); err == nil || leaks(err.Error()) {
		t.Errorf("got %v", err)
	}
}
