// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

var nobodyReads = log.New(io.Discard, "", 0)

func TestDo_secretsStaySecret(t *testing.T) {
	t.Parallel()

	for name, body := range map[string]string{
		"a password in words":     `{"error":"user u with hunter2! is locked"}`,
		"as JSON spells it":       `{"error":"x","message":"\"hunter2!\""}`,
		"as a form spells it":     `no good: password=hunter2%21&client_secret=cl1ent`,
		"a token of somebody":     `{"error":"x","message":"{\"access_token\":\"0paque-tok3n\",\"refresh_token\": \"0paque-tok3n\"}"}`,
		"a token in unknown JSON": `{"id_token":"0paque-tok3n","x":1}`,
		"a token that is cut":     `{"access_token":"0paque-tok3n`,
		"a signed token":          `<html><title>eyJhbGciOiJIUzI1NiJ9.eyJ0b2szbiI6MX0.c2ln-0paque-tok3n</title>`,
		"the proof of ours":       `{"status":400,"detail":{"code":"x","message":"Bearer s3cr3t-token is bad"}}`,
		"the proof in the code":   `{"status":400,"detail":{"code":"s3cr3t-token","message":"bad"}}`,
		"in an object":            `{"status":400,"detail":{"code":"x","message":{"password":"0paque-tok3n"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := caller(t, &token{}, answers(400, body))

			for _, r := range []fabric.Request{read, order} {
				_, err := c.Do(t.Context(), r)

				text := fmt.Sprintf("%v %+v %q", err, err, err)
				for _, secret := range []string{"hunter2", "cl1ent", "tok3n", "s3cr3t"} {
					if strings.Contains(text, secret) {
						t.Errorf("it tells %s: %s", secret, text)
					}
				}
			}
		})
	}
}

func TestDo_messagesAreShort(t *testing.T) {
	t.Parallel()

	c := caller(t, nil, answers(400, `{"error":"`+strings.Repeat("ä\\n", 100_000)+`"}`))

	if _, err := c.Do(t.Context(), read); len(err.Error()) > 1300 || strings.Contains(err.Error(), "\n") {
		t.Errorf("%d bytes: %.80s", len(err.Error()), err)
	}
}

func TestDo_traceHoldsNoSecret(t *testing.T) {
	t.Parallel()

	var seen []string

	c := callerOf(t, fabric.Config{
		Transport: inProcess{answers(204, "")},
		Trace: func(_ context.Context, method, url string, status int, _ time.Duration) {
			seen = append(seen, fmt.Sprint(method, " ", url, " ", status))
		},
	}, "h/base", &token{})

	if _, err := c.Do(t.Context(), fabric.Request{Method: http.MethodPost, Path: "/x", Query: url.Values{"q": {"1"}}, Form: url.Values{"password": {"hunter2!"}}}); err != nil {
		t.Fatal(err)
	}

	if len(seen) != 1 || seen[0] != "POST https://h/base/x?q=1 204" {
		t.Errorf("told %q", seen)
	}
}

func TestUnsent(t *testing.T) {
	t.Parallel()

	plain := errors.New("x")

	for _, kind := range []error{fabric.ErrUnknown, fabric.ErrNotFabric, fabric.ErrUnhealthy} {
		if err := fabric.Unsent(&fabric.Error{Op: "o", Kind: kind}); !errors.Is(err, fabric.ErrUnsent) || errors.Is(err, kind) {
			t.Errorf("%v is %v", kind, err)
		}
	}

	for _, kind := range []error{fabric.ErrNotFound, fabric.ErrAuth, fabric.ErrBusy} {
		if err := fabric.Unsent(&fabric.Error{Op: "o", Kind: kind}); !errors.Is(err, kind) {
			t.Errorf("%v is %v", kind, err)
		}
	}

	if fabric.Unsent(nil) != nil || !errors.Is(fabric.Unsent(plain), plain) {
		t.Error("what is no error of a manager stays what it is")
	}
}

func TestLenient(t *testing.T) {
	t.Parallel()

	type item struct {
		T fabric.Text   `json:"t"`
		N fabric.Number `json:"n"`
	}

	var got struct {
		List  fabric.List[item]  `json:"list"`
		Odd   fabric.List[item]  `json:"odd"`
		Null  fabric.List[item]  `json:"null"`
		None  fabric.List[item]  `json:"none"`
		There fabric.Maybe[item] `json:"there"`
		Not   fabric.Maybe[item] `json:"not"`
	}

	raw := `{"list":[{"t":"a","n":13},{"t":1.50,"n":"13"},{"t":null,"n":1.3e1},null,"x",[],{"t":{"a":[1]},"n":true},{"n":"thirteen"},{"n":1e300},{"n":{}}],
		"odd":{"t":"a"},"null":null,"there":{"t":"x","n":null},"not":[1]}`
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}

	var texts, numbers []string
	for _, i := range got.List.Items {
		texts = append(texts, string(i.T))
		numbers = append(numbers, fmt.Sprint(i.N.Int, i.N.Known))
	}

	if s := strings.Join(texts, ","); s != `a,1.50,,{"a":[1]},,,` {
		t.Errorf("texts %s", s)
	}

	if s := strings.Join(numbers, ","); s != "13 true,13 true,13 true,0 false,0 false,0 false,0 false" {
		t.Errorf("numbers %s", s)
	}

	if l := got.List; !l.Present || l.Odd != 2 || l.Null {
		t.Errorf("list %+v", l)
	}

	if l := got.Odd; l.Present || l.Odd != 1 || l.Null {
		t.Errorf("odd %+v", l)
	}

	if l := got.Null; l.Present || l.Odd != 0 || !l.Null {
		t.Errorf("null %+v", l)
	}

	if l := got.None; l.Present || l.Odd != 0 || l.Null {
		t.Errorf("none %+v", l)
	}

	if !got.There.Present || got.There.Value.T != "x" || got.Not.Present {
		t.Errorf("maybe %+v %+v", got.There, got.Not)
	}
}

// FuzzDo reads any error body: no panic, a bounded line, no secret, and never "nothing was
// done" of an answer 5xx.
func FuzzDo(f *testing.F) {
	for _, d := range dialects {
		f.Add(404, d.body)
	}

	f.Add(500, `{"error":"hunter2!"}`)
	f.Add(302, `password=hunter2!`)

	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 300 || status > 599 || status == 502 || status == 503 || status == 504 {
			return
		}

		c := callerOf(t, fabric.Config{Transport: inProcess{answers(status, body)}}, "h", nil)

		for _, r := range []fabric.Request{read, order} {
			_, err := c.Do(t.Context(), r)

			var e *fabric.Error
			if !errors.As(err, &e) || e.Kind == nil || e.Message == "" {
				t.Fatalf("got %v", err)
			}

			if len(e.Message) > 1100 || strings.ContainsAny(err.Error(), "\n\r") || strings.Contains(err.Error(), "hunter2!") {
				t.Errorf("got %q", err)
			}

			if status >= 500 && fabric.NothingDone(err) {
				t.Errorf("%d is taken for nothing done: %v", status, err)
			}
		}
	})
}

// FuzzNormalEndpoint: what is taken stays as it is, and has no secret in it.
func FuzzNormalEndpoint(f *testing.F) {
	for _, s := range []string{"h", "h:1", "[::1]:2", "https://u:p@h", "http://h/a/", "https://h//", " h\n", "::", "h:/", "https://[::1%25eth0]/"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		got, err := fabric.NormalEndpoint(s, true)
		if err != nil {
			return
		}

		if again, err := fabric.NormalEndpoint(got, true); again != got || err != nil {
			t.Errorf("%q is %q, then %q, %v", s, got, again, err)
		}

		if strings.HasSuffix(got, "/") || strings.Contains(got, "@") && strings.Contains(strings.SplitN(got, "/", 4)[2], "@") {
			t.Errorf("%q is %q", s, got)
		}
	})
}
