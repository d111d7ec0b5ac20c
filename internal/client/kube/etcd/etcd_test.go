// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// member plays a member that answers each path with a status and a body. What a real one says is
// held against the client in internal/acctest/kube.
func member(tb testing.TB, answer func(path, body string) (int, string)) *httptest.Server {
	tb.Helper()

	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		status, text := answer(r.URL.Path, string(body))

		if status == 0 {
			panic(http.ErrAbortHandler)
		}

		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	tb.Cleanup(s.Close)

	return s
}

func clientOf(tb testing.TB, servers ...*httptest.Server) *etcd.Client {
	tb.Helper()

	cfg := etcd.Config{Timeout: time.Second}

	for _, s := range servers {
		cfg.Endpoints = append(cfg.Endpoints, s.URL)
		cfg.CA = append(cfg.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})...)
		cfg.Certificate = s.TLS.Certificates[0]
	}

	c, err := etcd.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}

	tb.Cleanup(c.Close)

	return c
}

func TestNew_saysWhatIsWrong(t *testing.T) {
	t.Parallel()

	s := member(t, nil)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})

	for name, tt := range map[string]struct {
		cfg  etcd.Config
		want string
	}{
		"nobody":              {etcd.Config{}, "no endpoint"},
		"no TLS":              {etcd.Config{Endpoints: []string{"http://192.0.2.1:2379"}}, "https://host:2379"},
		"no authority":        {etcd.Config{Endpoints: []string{"https://192.0.2.1:2379"}}, "certificate authority"},
		"no certificate":      {etcd.Config{Endpoints: []string{"https://192.0.2.1:2379"}, CA: ca}, "client certificate"},
		"a path":              {etcd.Config{Endpoints: []string{"https://192.0.2.1:2379/v3"}, CA: ca, Certificate: tls.Certificate{}}, "https://host:2379"},
		"one of two is wrong": {etcd.Config{Endpoints: []string{"https://192.0.2.1:2379", "192.0.2.2"}}, "https://host:2379"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := etcd.New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()

	for name, tt := range map[string]struct {
		status    int
		body      string
		want      string
		transient bool
	}{
		"no leader":            {503, `{"error":"etcdserver: no leader","code":14,"message":"etcdserver: no leader"}`, "no leader", true},
		"an overload":          {429, `{"message":"etcdserver: too many requests"}`, "too many", true},
		"words of older ones":  {400, `{"error":"etcdserver: re-configuration failed","code":9}`, "re-configuration failed", false},
		"no words":             {400, ``, "bad request", false},
		"somebody else":        {200, `<html>`, "not etcd's JSON", false},
		"a member without id":  {200, `{"members":[{"name":"a"}]}`, "without an id", false},
		"the connection broke": {0, ``, "EOF", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := clientOf(t, member(t, func(string, string) (int, string) { return tt.status, tt.body })).Members(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || wait.IsTransient(err) != tt.transient {
				t.Errorf("transient %t: %v", wait.IsTransient(err), err)
			}
		})
	}
}

func TestTheNextIsAsked(t *testing.T) {
	t.Parallel()

	broken := member(t, func(string, string) (int, string) { return 0, "" })
	works := member(t, func(string, string) (int, string) {
		return 200, `{"members":[{"ID":"18446744073709551615","name":"a","isLearner":true}]}`
	})

	members, err := clientOf(t, broken, works).Members(t.Context())
	if err != nil || len(members) != 1 || members[0].ID != "18446744073709551615" || !members[0].Learner {
		t.Errorf("got %+v, %v", members, err)
	}

	asked := 0
	refuses := member(t, func(string, string) (int, string) { return 400, `{"message":"no"}` })
	counts := member(t, func(string, string) (int, string) { asked++; return 200, `{}` })

	if _, err := clientOf(t, refuses, counts).AddMember(t.Context(), []string{"https://x:2380"}, false); err == nil || asked != 0 {
		t.Errorf("a refusal is an answer: %d more asked, %v", asked, err)
	}
}

func TestRemoveMember_thatIsNotThere(t *testing.T) {
	t.Parallel()

	c := clientOf(t, member(t, func(_, body string) (int, string) {
		if !strings.Contains(body, `"ID":"7"`) {
			return 500, body
		}

		return 404, `{"code":5,"message":"etcdserver: member not found"}`
	}))

	if err := c.RemoveMember(t.Context(), "7"); err != nil {
		t.Error(err)
	}
}

func TestMoveLeader(t *testing.T) {
	t.Parallel()

	var leader *httptest.Server

	moved := ""
	leader = member(t, func(_, body string) (int, string) {
		moved = body

		return 200, `{}`
	})
	follower := member(t, func(path, _ string) (int, string) {
		if strings.HasSuffix(path, "status") {
			return 200, `{"header":{"member_id":"2"},"leader":"1"}`
		}

		return 200, `{"members":[{"ID":"1","clientURLs":["` + leader.URL + `"]},{"ID":"2"}]}`
	})

	c := clientOf(t, follower)
	if err := c.MoveLeader(t.Context(), "1"); err != nil || moved != "" {
		t.Errorf("to who leads already: %s %v", moved, err)
	}

	if err := c.MoveLeader(t.Context(), "2"); err != nil || !strings.Contains(moved, `"targetID":"2"`) {
		t.Errorf("only the leader can: %s %v", moved, err)
	}

	none := clientOf(t, member(t, func(string, string) (int, string) { return 200, `{"leader":"0"}` }))
	if err := none.MoveLeader(t.Context(), "2"); !wait.IsTransient(err) {
		t.Errorf("nobody leads: %v", err)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", `{"members":[{}]}`, `{"members":[{"ID":"1"}],"alarms":[{"alarm":"NOSPACE"}],"leader":"1"}`, `{"code":"x"}`} {
		f.Add(200, seed)
		f.Add(500, seed)
	}

	status, text := 200, ""
	c := clientOf(f, member(f, func(string, string) (int, string) { return status, text }))

	f.Fuzz(func(t *testing.T, s int, body string) {
		if s < 200 || s > 599 {
			t.Skip()
		}

		status, text = s, body
		_, err := c.Members(t.Context())
		_, _ = c.Alarms(t.Context())
		_, _ = c.Leader(t.Context())

		var refused *etcd.Error
		if s != 200 && !errors.As(err, &refused) {
			t.Errorf("%d is answered with %v", s, err)
		}
	})
}
