// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
)

func TestToken_expiresRefreshesAndIsRevoked(t *testing.T) {
	t.Parallel()
	bubble(t, lab.Options{}, func(r *rig) {
		list := fmBase + "/machines" + query
		r.do(http.StatusUnauthorized, http.MethodGet, list, "")

		doc := r.post(http.StatusOK, login, passwordForm())
		r.bearer, _ = doc["access_token"].(string)

		payload := strings.Split(r.bearer, ".")
		if len(payload) != 3 || doc["expires_in"] != 60.0 {
			r.t.Fatalf("answer %v", doc)
		}

		if raw, err := base64.RawURLEncoding.DecodeString(payload[1]); err != nil || !strings.Contains(string(raw), `"exp":`) {
			r.t.Errorf("payload %s, %v", raw, err)
		}

		r.do(http.StatusOK, http.MethodGet, list, "")
		time.Sleep(time.Minute)
		r.do(http.StatusUnauthorized, http.MethodGet, list, "")

		next, _ := doc["refresh_token"].(string)
		again := form("grant_type", "refresh_token", "client_id", fabric.ClientID, "client_secret", fabric.ClientSecret, "refresh_token", next)
		r.bearer, _ = r.post(http.StatusOK, login, again)["access_token"].(string)
		r.do(http.StatusOK, http.MethodGet, list, "")
		r.post(http.StatusBadRequest, login, again) // it was used up

		who := form("client_id", fabric.ClientID, "client_secret", fabric.ClientSecret, "token", r.bearer)
		if doc := r.post(http.StatusOK, login+"/introspect", who); doc["active"] != true || doc["pgcdi_privileges"] == nil {
			r.t.Errorf("introspection %v", doc)
		}

		r.ok(r.Revoke(true))
		r.do(http.StatusUnauthorized, http.MethodGet, list, "")

		if doc := r.post(http.StatusOK, login+"/introspect", who); doc["active"] != false {
			r.t.Errorf("introspection of a revoked token %v", doc)
		}

		if n := r.Logins(); n != 3 {
			r.t.Errorf("%d logins", n)
		}
	})
}

func TestToken_refuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		path, form string
		want       int
	}{
		"another realm":              {path: strings.Replace(login, fabric.Realm, "master", 1), want: http.StatusNotFound},
		"a wrong client":             {form: passwordForm("client_secret", "x"), want: http.StatusUnauthorized},
		"a wrong password":           {form: passwordForm("password", "x"), want: http.StatusUnauthorized},
		"a wrong user":               {form: passwordForm("username", "x"), want: http.StatusUnauthorized},
		"no scope":                   {form: passwordForm("scope", ""), want: http.StatusBadRequest},
		"no response type":           {form: passwordForm("response_type", ""), want: http.StatusBadRequest},
		"another grant":              {form: passwordForm("grant_type", "client_credentials"), want: http.StatusBadRequest},
		"the name that others use":   {form: passwordForm("response_type", "", "response", "id_token token"), want: http.StatusOK},
		"a refresh token of nothing": {form: passwordForm("grant_type", "refresh_token", "refresh_token", "x"), want: http.StatusBadRequest},
		"no refresh token":           {form: passwordForm("grant_type", "refresh_token"), want: http.StatusBadRequest},
	}

	bubble(t, lab.Options{}, func(r *rig) {
		for name, c := range cases {
			if c.path == "" {
				c.path = login
			}

			if c.form == "" {
				c.form = passwordForm()
			}

			if code, text, _ := r.try(http.MethodPost, c.path, c.form, "Content-Type", "application/x-www-form-urlencoded"); code != c.want {
				r.t.Errorf("%s: %d %s", name, code, text)
			}
		}

		r.do(http.StatusUnsupportedMediaType, http.MethodPost, login, passwordForm())
	})
}

func TestToken_ofAnyShapeIsAccepted(t *testing.T) {
	t.Parallel()
	shapes := map[string]face.TokenShape{
		"opaque": face.TokenOpaque, "two parts": face.TokenTwoPart, "padded": face.TokenPadded, "exp with an exponent": face.TokenFloatExp,
		"no expiry": face.TokenNoExpiry, "expires_in as text": face.TokenTextual, "opaque without expiry": face.TokenMute,
	}

	bubble(t, lab.Options{}, func(r *rig) {
		for name, shape := range shapes {
			r.Tune(func(t *face.Tuning) { t.TokenShape = shape })

			doc := r.post(http.StatusOK, login, passwordForm())
			r.bearer, _ = doc["access_token"].(string)

			if code, text, _ := r.try(http.MethodGet, fmBase+"/machines"+query, ""); code != http.StatusOK {
				r.t.Errorf("%s: %q: %d %s", name, r.bearer, code, text)
			}

			if _, ok := doc["expires_in"]; ok == (shape == face.TokenNoExpiry || shape == face.TokenMute) {
				r.t.Errorf("%s: %v", name, doc)
			}

			if parts := strings.Count(r.bearer, ".") + 1; shape == face.TokenTwoPart && parts != 2 || shape == face.TokenOpaque && parts != 1 {
				r.t.Errorf("%s: %q", name, r.bearer)
			}

			if shape == face.TokenPadded && !strings.Contains(r.bearer, "=.") {
				r.t.Errorf("%s: %q", name, r.bearer)
			}
		}
	})
}
