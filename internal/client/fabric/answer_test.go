// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// dialects are the forms in which error bodies come, and what of them must be in the message.
var dialects = map[string]struct {
	body, code, text string
	ours             bool
}{
	"FM, message as string":   {`{"status":404,"detail":{"code":"E02XXXX","message":"no such thing","data":{}}}`, "E02XXXX", "no such thing", true},
	"FM, status as string":    {`{"status":"404","detail":{"code":"E0201","message":"no such thing"}}`, "E0201", "no such thing", true},
	"FM, message as object":   {`{"status":"404","detail":{"code":"E0201","message":{"reason":"no such thing"}}}`, "E0201", `{"reason":"no such thing"}`, true},
	"FM, data as list":        {`{"status":404,"detail":{"code":"E0201","message":"no such thing","data":[1]}}`, "E0201", "no such thing", true},
	"FM, code as number":      {`{"status":404,"detail":{"code":201,"message":"no such thing"}}`, "201", "no such thing", true},
	"mock, two words":         {`{"error":"not_found","message":"no such machine"}`, "not_found", "no such machine", true},
	"mock, one word":          {`{"error":"machine not found"}`, "", "machine not found", true},
	"OAuth":                   {`{"error":"invalid_grant","error_description":"Invalid user credentials"}`, "invalid_grant", "Invalid user credentials", true},
	"CDIM":                    {`{"code":"E404001","message":"no such device"}`, "E404001", "no such device", true},
	"Redfish":                 {`{"error":{"code":"Base.1.8.ResourceMissing","message":"see below","@Message.ExtendedInfo":[{"MessageId":"x","Message":"more of it"}]}}`, "Base.1.8.ResourceMissing", "see below more of it", true},
	"Redfish, general":        {`{"error":{"code":"Base.1.8.GeneralError","message":"","@Message.ExtendedInfo":[{"MessageId":"Base.1.8.InUse","Message":"in use"}]}}`, "Base.1.8.InUse", "in use", true},
	"Redfish, info as string": {`{"error":{"code":"Base.1.8.X","message":"words","@Message.ExtendedInfo":"x"}}`, "Base.1.8.X", "words", true},
	"HTML":                    {"<!DOCTYPE html><html><head><title>\n 404 &amp; more </title></head>", "", "404 & more", false},
	"HTML without a title":    {"<html>", "", "HTML", false},
	"empty":                   {"", "", "no words", false},
	"plain text":              {"404 page not found\n", "", "404 page not found", false},
	"cut JSON":                {`{"status":404,"detail":{"co`, "", "detail", false},
	"a list":                  {`["x"]`, "", "x", false},
	"null":                    {`null`, "", "null", false},
	"of a router":             {`{"error":"Not Found"}`, "", "Not Found", false},
	"FastAPI":                 {`{"detail":"Not Found"}`, "", "Not Found", false},
	"Spring":                  {`{"timestamp":"2","status":404,"error":"No message","path":"/x"}`, "", "No message", false},
	"Kubernetes":              {`{"kind":"Status","apiVersion":"v1","message":"the server could not find it","code":404}`, "404", "could not find", false},
	"OpenStack":               {`{"error":{"code":404,"title":"Not Found","message":"could not be found"}}`, "404", "could not be found", false},
	"a gateway":               {`{"message":"no Route matched with those values"}`, "", "no Route matched", false},
}

// TestOGPU07_errorBodies holds every dialect against every status, for reads and for orders.
func TestOGPU07_errorBodies(t *testing.T) {
	t.Parallel()

	kinds := map[int]struct{ ours, read, order error }{
		400: {fabric.ErrRefused, fabric.ErrNotFabric, fabric.ErrUnknown},
		403: {fabric.ErrAuth, fabric.ErrAuth, fabric.ErrAuth},
		404: {fabric.ErrNotFound, fabric.ErrNotFabric, fabric.ErrNotFabric},
		408: {fabric.ErrUnknown, fabric.ErrUnknown, fabric.ErrUnknown},
		409: {fabric.ErrBusy, fabric.ErrBusy, fabric.ErrBusy},
		422: {fabric.ErrRefused, fabric.ErrNotFabric, fabric.ErrUnknown},
		423: {fabric.ErrBusy, fabric.ErrBusy, fabric.ErrBusy},
		425: {fabric.ErrUnknown, fabric.ErrUnknown, fabric.ErrUnknown},
		429: {fabric.ErrBusy, fabric.ErrBusy, fabric.ErrBusy},
		500: {fabric.ErrUnknown, fabric.ErrUnknown, fabric.ErrUnknown},
	}

	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// Words of a manager that do not say that a machine is missing.
			other := name == "OAuth" || name == "Redfish, general" || name == "Redfish, info as string"

			c := caller(t, nil, func(w http.ResponseWriter, r *http.Request) {
				status, _ := strconv.Atoi(r.URL.Query().Get("status"))
				w.WriteHeader(status)
				_, _ = io.WriteString(w, d.body)
			})

			for status, want := range kinds {
				for _, r := range []fabric.Request{read, order} {
					r.Query = map[string][]string{"status": {strconv.Itoa(status)}}
					_, err := c.Do(t.Context(), r)

					kind := want.ours
					if !d.ours || other && status == http.StatusNotFound {
						kind = map[bool]error{true: want.order, false: want.read}[r.Mutates]
					}

					var e *fabric.Error
					if !errors.As(err, &e) || !errors.Is(err, kind) || e.Code != d.code || e.Status != status {
						t.Errorf("%d to %s: %v (%v), want %v", status, r.Op, err, e, kind)
					}

					for _, part := range []string{r.Op, e.Method, "/machines/m", strconv.Itoa(status), d.text} {
						if !strings.Contains(err.Error(), part) {
							t.Errorf("%d to %s: %v does not say %q", status, r.Op, err, part)
						}
					}
				}
			}
		})
	}
}

// TestOGPU07_retries counts the requests of each status.
func TestOGPU07_retries(t *testing.T) {
	t.Parallel()

	for status, want := range map[int]struct {
		calls           int32
		passes          bool // of a read
		orderMayBeAgain bool
	}{
		400: {1, false, false}, 404: {1, false, false}, 409: {1, true, true}, 429: {1, true, true}, 408: {1, true, false},
		500: {1, false, false}, 502: {4, true, false}, 503: {4, true, true}, 504: {4, true, false},
	} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32

				far := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					calls.Add(1)
					w.Header().Set("Retry-After", "7")
					w.WriteHeader(status)
					_, _ = io.WriteString(w, "<html><title>Bad</title>")
				})
				c := callerOf(t, fabric.Config{Transport: inProcess{far}}, "h", nil)

				_, err := c.Do(t.Context(), order)
				if calls.Load() != 1 || wait.IsTransient(err) != want.orderMayBeAgain {
					t.Errorf("an order: %d calls, %v (transient: %v)", calls.Load(), err, wait.IsTransient(err))
				}

				calls.Store(0)

				_, err = c.Do(t.Context(), read)
				if calls.Load() != want.calls || wait.IsTransient(err) != want.passes {
					t.Errorf("a read: %d calls, %v (transient: %v)", calls.Load(), err, wait.IsTransient(err))
				}

				if want.passes && wait.RetryAfter(err) != 7*time.Second {
					t.Errorf("come back after %s", wait.RetryAfter(err))
				}
			})
		})
	}
}

func TestDo_configuredCodes(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		status int
		body   string
		kind   error
	}{
		"a busy code":                  {500, `{"detail":{"code":"E1","message":"x"}}`, fabric.ErrBusy},
		"a capacity code":              {500, `{"detail":{"code":"e2 ","message":"x"}}`, fabric.ErrCapacity},
		"any other":                    {500, `{"detail":{"code":"E3","message":"x"}}`, fabric.ErrUnknown},
		"words for none left":          {404, `{"error":"insufficient_resources"}`, fabric.ErrCapacity},
		"the other words":              {404, `{"error":"no_available_resources"}`, fabric.ErrCapacity},
		"words with blanks":            {404, `{"status":404,"detail":{"code":"E9","message":"Insufficient resources"}}`, fabric.ErrCapacity},
		"the words of who knows whom":  {404, `<html><title>insufficient_resources</title>`, fabric.ErrNotFabric},
		"the words after it may begin": {500, `{"error":"insufficient_resources"}`, fabric.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			far := answers(tc.status, tc.body)
			c := callerOf(t, fabric.Config{BusyCodes: []string{"E1"}, CapacityCodes: []string{"E2"}, Transport: inProcess{far}}, "h", nil)

			if _, err := c.Do(t.Context(), order); !errors.Is(err, tc.kind) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestDo_readsThatAreNoManagers(t *testing.T) {
	t.Parallel()

	c := caller(t, nil, answers(200, "\n <html><title>Login</title>"))

	_, err := c.Do(t.Context(), read)
	if !errors.Is(err, fabric.ErrNotFabric) || !strings.Contains(err.Error(), "Login") {
		t.Errorf("got %v", err)
	}

	if a, err := c.Do(t.Context(), order); err != nil || len(a.Body) == 0 {
		t.Errorf("the answer to an order is its driver's to judge: %v", err)
	}
}

func TestDo_longAnswers(t *testing.T) {
	t.Parallel()

	c := caller(t, nil, answers(200, `{"x":"`+strings.Repeat("x", 9<<20)+`"}`))

	for r, kind := range map[*fabric.Request]error{&read: fabric.ErrNotFabric, &order: fabric.ErrUnknown} {
		if _, err := c.Do(t.Context(), *r); !errors.Is(err, kind) || !strings.Contains(err.Error(), "8 MiB") {
			t.Errorf("got %v", err)
		}
	}
}

// TestDo_notFoundIsTheManagersWord: a state loses what is "not found", and 404 is also what
// routers and gateways say, in JSON as well.
func TestDo_notFoundIsTheManagersWord(t *testing.T) {
	t.Parallel()

	nobody := []fabric.Dialect{}

	for body, of := range map[string][]fabric.Dialect{
		`{"status":404,"detail":{"code":"E020404","message":"x"}}`:                                                       {fabric.FTI},
		`{"status":"404","detail":{"code":"E1"}}`:                                                                        {fabric.FTI},
		`{"error":"machine not found"}`:                                                                                  {fabric.FTI},
		`{"error":"machine not found","mach_uuid":"x"}`:                                                                  {fabric.FTI},
		`{"error":"Device d7 was not found."}`:                                                                           {fabric.FTI},
		`{"error":"not_found","message":"no such machine"}`:                                                              {fabric.FTI},
		`{"code":"E404001","message":"no such device"}`:                                                                  {fabric.CDIM},
		`{"error":{"code":"Base.1.8.ResourceMissingAtURI","message":"x"}}`:                                               {fabric.Redfish},
		`{"error":{"code":"iLO.0.10.ExtendedInfo","@Message.ExtendedInfo":[{"MessageId":"Base.1.4.ResourceNotFound"}]}}`: {fabric.Redfish},

		`{"error":"HTTP 404 Not Found"}`: nobody,
		`{"error":"RESTEASY003210: Could not find resource for full path: https://x/y/machine not found"}`: nobody,
		`{"error":"404 page not found"}`:                                  nobody,
		`{"error":"Not Found","message":"Route GET:/machines not found"}`: nobody,
		`{"error":"no route"}`:                                            nobody,
		`{"error":"not_found"}`:                                           nobody,
		`{"error":"resource not found"}`:                                  nobody,
		`{"detail":{"code":"not_found","message":"x"}}`:                   nobody,
		`{"status":404,"detail":{"message":"x"}}`:                         nobody,
		`{"code":"5","message":"Not Found"}`:                              nobody,
		`{"code":"NOT_FOUND","message":"no such route"}`:                  nobody,
		`{"code":"E404001"}`:                                              nobody,
		`{"error":{"code":"NotFound","message":"x"}}`:                     nobody,
		`{"error":{"code":"404","message":"x"}}`:                          nobody,
		`{"error":{"code":"Base.1.8.ActionNotSupported","message":"x"}}`:  nobody,
		`{"apiVersion":"v1","status":404,"detail":{"code":"E1"}}`:         nobody,
	} {
		for _, d := range []fabric.Dialect{fabric.FTI, fabric.CDIM, fabric.Redfish} {
			c, err := fabric.NewCaller(fabric.Config{Transport: inProcess{answers(http.StatusNotFound, body)}}, "h", nil, d)
			if err != nil {
				t.Fatal(err)
			}

			kind := fabric.ErrNotFabric
			if slices.Contains(of, d) {
				kind = fabric.ErrNotFound
			}

			for _, r := range []fabric.Request{read, order} {
				if _, err := c.Do(t.Context(), r); !errors.Is(err, kind) {
					t.Errorf("%s to %s (dialect %d): %v, want %v", body, r.Op, d, err, kind)
				}
			}
		}
	}
}
