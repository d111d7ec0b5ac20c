// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
)

// slow is a fabric whose devices take longer than a token is good.
func slow() lab.Options {
	return lab.Options{Fabric: labfabric.Options{}}
}

// TestGPU_token has logins that end, fail and lie.
func TestGPU_token(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		tune   func(*face.Tuning)
		fault  *labfabric.Fault
		during func(w world) // a while after the order
		add    time.Duration
	}{
		"11.15 it expires in the middle of a wait":          {add: 5 * time.Minute, tune: func(t *face.Tuning) { t.AsyncStatus = 202 }},
		"11.15 it expires while the order is answered":      {add: 2 * time.Minute},
		"11.15 it is good for a second":                     {tune: func(t *face.Tuning) { t.TokenLifetime = time.Second }},
		"11.15 it is revoked, and a look is answered 401":   {add: time.Minute, tune: func(t *face.Tuning) { t.AsyncStatus, t.TokenLifetime = 202, time.Hour }, during: func(w world) { w.revoke(false) }},
		"11.15 all are revoked, those for refreshing too":   {add: time.Minute, tune: func(t *face.Tuning) { t.AsyncStatus, t.TokenLifetime = 202, time.Hour }, during: func(w world) { w.revoke(true) }},
		"11.15 the order is answered 401 once":              {fault: &labfabric.Fault{Match: labfabric.FMAttach, Status: 401, Body: "{}"}},
		"11.15 the token service is down for a moment":      {fault: &labfabric.Fault{Match: labfabric.TokenRequests, Status: 503, Times: 2, Header: map[string]string{"Retry-After": "1"}}},
		"11.15 it is down in the middle of a wait":          {add: 3 * time.Minute, tune: func(t *face.Tuning) { t.AsyncStatus = 202 }, during: func(w world) { w.far.Inject(labfabric.TokenDown(3)) }},
		"11.15 a token of two parts (O-GPU-08)":             {tune: shape(face.TokenTwoPart)},
		"O-GPU-08 an opaque token":                          {tune: shape(face.TokenOpaque)},
		"O-GPU-08 a JWT with padding":                       {tune: shape(face.TokenPadded)},
		"O-GPU-08 exp with an exponent":                     {tune: shape(face.TokenFloatExp)},
		"O-GPU-08 neither exp nor expires_in":               {tune: shape(face.TokenNoExpiry)},
		"O-GPU-08 expires_in is a string":                   {tune: shape(face.TokenTextual)},
		"O-GPU-08 no JWT, and nothing says when it expires": {tune: shape(face.TokenMute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := slow()
			o.Fabric.AddTime = c.add

			inLab(t, setup{tune: c.tune, lab: o}, func(w world) {
				if c.fault != nil {
					w.far.Inject(*c.fault)
				}

				if c.during != nil {
					time.AfterFunc(30*time.Second, func() { c.during(w) })
				}

				w.apply(gpus(1))
				w.count(1)

				if n := w.attached(); n != 1 {
					t.Errorf("%d attached", n)
				}

				w.destroy()
			})
		})
	}
}

func shape(s face.TokenShape) func(*face.Tuning) {
	return func(t *face.Tuning) { t.TokenShape = s }
}

func (w world) revoke(all bool) {
	if err := w.far.Revoke(all); err != nil {
		w.t.Error(err)
	}
}

// TestGPU_noLogin cannot log in at all: nothing is ordered, the state stays, and the account
// is not hammered.
func TestGPU_noLogin(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		fault labfabric.Fault
		says  string
	}{
		"11.15 the token service is down":                       {labfabric.TokenDown(-1), "503"},
		"11.15 the password is refused":                         {labfabric.Fault{Match: labfabric.TokenRequests, Times: -1, Status: 401, Body: `{"error":"invalid_grant","error_description":"Invalid user credentials"}`}, "Invalid user credentials"},
		"11.15 the token service shows a page":                  {labfabric.HTML(labfabric.TokenRequests, 200), ""},
		"11.15 it gives no token":                               {labfabric.Fault{Match: labfabric.TokenRequests, Status: 200, Body: `{"expires_in":60}`}, ""},
		"11.15 the manager refuses every token":                 {labfabric.Fault{Match: "* /fabric_manager/**", Status: 401, Body: `{"error":"invalid_token"}`}, "401"},
		"11.16 the token service redirects":                     {labfabric.Redirect(labfabric.TokenRequests, "http://ironic.lab/"), "302"},
		"11.29 the refusal quotes the password back":            {labfabric.Fault{Match: labfabric.TokenRequests, Status: 400, Body: `{"error":"invalid_request","error_description":"bad password ` + labfabric.Password + ` for ` + labfabric.ClientSecret + `"}`}, "400"},
		"11.29 the manager quotes the token back":               {labfabric.Fault{Match: "* /fabric_manager/**", Status: 400}, "400"},
		"11.29 a proxy's page quotes the header of the request": {labfabric.Fault{Match: "* /fabric_manager/**", Status: 502}, "502"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, setup{}, func(w world) {
				w.apply(gpus(1))

				before := w.Dump()
				c.fault.Times = -1

				if c.fault.Body == "" && strings.Contains(name, "quotes") {
					c.fault.Body = "<html><body>Authorization: " + w.token() + "</body></html>"
					if c.fault.Status == 400 {
						c.fault.Body = `{"status":400,"detail":{"code":"E1","message":"token ` + w.token() + ` is odd"}}`
					}
				}

				w.far.Inject(c.fault)
				w.far.ResetCounts()
				w.far.Inject(c.fault)

				if o := w.Refresh(w.ctx); !strings.Contains(o.Errors, c.says) || o.Errors == "" || w.Dump() != before {
					t.Errorf("refresh: %s; state %v", o.Errors, w.State())
				}

				other := w.another()
				other.fails(gpus(1, on(1)), c.says)

				if n := w.attached(); n != 1 {
					t.Errorf("%d attached", n)
				}

				if n := w.far.Logins(); n > 30 {
					t.Errorf("%d logins", n)
				}
			})
		})
	}
}

// token is the last token that was used.
func (w world) token() string {
	token := ""

	for _, r := range w.far.Requests() {
		if s, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
			token = s
		}
	}

	if token == "" {
		w.t.Fatal("no token was used")
	}

	return token
}
