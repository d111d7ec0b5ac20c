// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

func TestVersion(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ server, want int }{
		"what the server has":                 {96, 96},
		"what we know, when it has more":      {140, 111},
		"the oldest that is possible is fine": {81, 81},
		"older is refused with both numbers":  {72, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFake()
			f.version = tc.server
			c := f.client(t)

			got, err := c.Version(t.Context())
			if got != tc.want {
				t.Errorf("got %d, %v", got, err)
			}

			var old *ironic.TooOldError
			if tc.want == 0 && (!errors.As(err, &old) || old.Needs != 81 || old.Found != 72) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestVersion_isSentWithEachRequestInTheHeaderThatCounts(t *testing.T) {
	t.Parallel()

	f := newFake()
	ids := f.fleet(1)

	if _, err := f.client(t).Node(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}

	if got := f.headers[1].Get("X-OpenStack-Ironic-API-Version"); got != "1.96" {
		t.Errorf("got %q", got)
	}
}

func TestVersion_isAskedForOnce(t *testing.T) {
	t.Parallel()

	f := newFake()
	c := f.client(t)

	var all sync.WaitGroup
	for range 50 {
		all.Go(func() { _, _ = c.Version(t.Context()) })
	}
	all.Wait()

	if n := f.count("GET /v1/"); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestVersion_failuresAreNotRemembered(t *testing.T) {
	t.Parallel()

	f := newFake()
	f.answer("GET", "/v1/", 1, http.StatusOK, "<html><title>Welcome to nginx!</title></html>")
	f.version = 0
	c := f.client(t)

	_, err := c.Version(t.Context())
	if !errors.Is(err, ironic.ErrNotIronic) || !strings.Contains(err.Error(), "Welcome to nginx") {
		t.Fatalf("got %v", err)
	}

	f.version = 90
	if v, err := c.Version(t.Context()); v != 90 || err != nil {
		t.Errorf("got %d, %v", v, err)
	}
}

func TestVersion_eachCallerHasItsOwnContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.answer("GET", "/v1/", 2, http.StatusServiceUnavailable, "")
		c := f.client(t)

		short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()

		long := make(chan error)

		go func() {
			_, err := c.Version(t.Context())
			long <- err
		}()

		if _, err := c.Version(short); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the short one got %v", err)
		}

		if err := <-long; err != nil {
			t.Errorf("the long one got %v", err)
		}
	})
}

func TestVersion_isAgreedOnAnewAfterAnUpgrade(t *testing.T) {
	t.Parallel()

	f := newFake()
	ids := f.fleet(1)
	c := f.client(t)
	f.answer("GET", "/v1/nodes/", 1, http.StatusNotAcceptable, `{"error_message":"{\"code\":406,\"title\":\"Not Acceptable\",\"description\":\"Version 1.96 …\"}"}`)

	if _, err := c.Node(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}

	if n := f.count("GET /v1/nodes"); n != 2 {
		t.Errorf("%d requests: %s", n, f.log())
	}
}

func TestRequire(t *testing.T) {
	t.Parallel()

	c := newFake().client(t)

	if err := c.Require(t.Context(), 95, "disable_power_off"); err != nil {
		t.Error(err)
	}

	err := c.Require(t.Context(), 109, "health")

	var old *ironic.TooOldError
	if !errors.As(err, &old) || err.Error() != "health needs API 1.109 of Ironic, found 1.96" {
		t.Errorf("got %v", err)
	}
}
