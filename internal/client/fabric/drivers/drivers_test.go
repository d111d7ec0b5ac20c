// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package drivers_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/drivers"
)

// nobody fails the test of whoever calls.
type nobody struct{ t *testing.T }

// RoundTrip implements http.RoundTripper.
func (n nobody) RoundTrip(r *http.Request) (*http.Response, error) {
	n.t.Errorf("called %s", r.URL)

	return nil, errors.New("nobody is there")
}

func TestNew_everyDriverIsMadeWithoutACall(t *testing.T) {
	t.Parallel()

	for _, name := range drivers.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, err := drivers.New(fabric.Config{
				Type: name, Endpoint: "fabric.example", TenantID: " T", ClusterID: "C ", CACertFile: "/nowhere/ca.pem",
				Auth: fabric.Auth{Username: "u", Password: "p"}, Transport: nobody{t},
			})
			if err != nil {
				t.Fatal(err)
			}

			want := map[string]string{"fti_fm": "#tenant=t", "fti_cm": "#tenant=t&cluster=c"}[name]
			if f.Endpoint() != "https://fabric.example"+want || fabric.Address(f.Endpoint()) != "https://fabric.example" || f.LockKey("m") == "" || len(f.Caps().Types) == 0 {
				t.Errorf("got %s, %s, %+v", f.Endpoint(), f.LockKey("m"), f.Caps())
			}
		})
	}
}

func TestNew_unknownType(t *testing.T) {
	t.Parallel()

	for _, name := range []string{"", "liqid", "FTI_FM"} {
		_, err := drivers.New(fabric.Config{Type: name})

		var wrong *fabric.ConfigError
		if !errors.As(err, &wrong) || wrong.Option != "type" || !strings.Contains(err.Error(), "fti_cm, fti_fm") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
