// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

func clientOf(t *testing.T, s *kubetest.Server, cfg kube.Config) *kube.Client {
	t.Helper()

	cfg.Kubeconfig = s.Kubeconfig()

	c, err := kube.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func TestFaults(t *testing.T) {
	t.Parallel()

	const node = "/api/v1/nodes/a"

	for name, tt := range map[string]struct {
		fault     kubetest.Fault
		transient bool
		kind      error
		text      string
	}{
		"busy":                     {kubetest.Fault{Path: node, Status: 429, RetryAfter: 7}, true, nil, "429"},
		"broken for a while":       {kubetest.Fault{Path: node, Status: 500, Message: "etcdserver: leader changed"}, true, nil, "leader changed"},
		"not there for a while":    {kubetest.Fault{Path: node, Status: 503}, true, nil, "503"},
		"a conflict":               {kubetest.Fault{Path: node, Status: 409}, true, kube.ErrConflict, "409"},
		"forbidden":                {kubetest.Fault{Path: node, Status: 403}, false, kube.ErrAuth, "lack this right"},
		"credentials refused":      {kubetest.Fault{Path: node, Status: 401}, false, kube.ErrAuth, "may have expired"},
		"invalid":                  {kubetest.Fault{Path: node, Status: 422}, false, kube.ErrInvalid, "422"},
		"a closed connection":      {kubetest.Fault{Path: node, Close: true}, true, kube.ErrUnreachable, "ended before the answer"},
		"another service":          {kubetest.Fault{Path: node, Status: 404, Body: "<html>nothing here</html>"}, false, kube.ErrForeign, "HTML"},
		"another service's answer": {kubetest.Fault{Path: node, Body: "[]"}, false, kube.ErrForeign, "not JSON of an API server"},
		"another object":           {kubetest.Fault{Path: node, Body: `{"metadata":{"name":"b"}}`}, false, kube.ErrForeign, "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := kubetest.New(t, kubetest.InMemory())
				s.AddNode(kubetest.Node{Name: "a"})
				s.OnRequest(tt.fault)

				_, err := clientOf(t, s, kube.Config{Dial: s.Dial}).Node(t.Context(), "a")
				if err == nil || wait.IsTransient(err) != tt.transient || !strings.Contains(err.Error(), tt.text) || (tt.kind != nil && !errors.Is(err, tt.kind)) {
					t.Errorf("transient %t: %v", wait.IsTransient(err), err)
				}

				if want := time.Duration(tt.fault.RetryAfter) * time.Second; wait.RetryAfter(err) != want {
					t.Errorf("come back after %s, want %s", wait.RetryAfter(err), want)
				}
			})
		})
	}
}

func TestReadsAreRepeated_writesAreNot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := kubetest.New(t, kubetest.InMemory())
		s.AddNode(kubetest.Node{Name: "a"})
		c := clientOf(t, s, kube.Config{Dial: s.Dial})

		s.OnRequest(kubetest.Fault{Method: http.MethodGet, Close: true, Times: 2})

		if _, err := c.Node(t.Context(), "a"); err != nil {
			t.Errorf("a read whose answer was lost twice: %v", err)
		}

		s.OnRequest(kubetest.Fault{Method: http.MethodPatch, Close: true, After: true, Times: 1})

		if err := c.Cordon(t.Context(), "a", true); !wait.IsTransient(err) || !s.Cordoned("a") {
			t.Errorf("a write whose answer was lost: %v", err)
		}

		if writes := s.Writes(); len(writes) != 1 {
			t.Errorf("it was sent %d times", len(writes))
		}
	})
}

func TestNothingWaitsByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := kubetest.New(t, kubetest.InMemory())
		s.AddNode(kubetest.Node{Name: "a"})
		s.AddPod(kubetest.Pod{Name: "p", Node: "a"})
		s.Block("default", "p", -1, 10)

		c := clientOf(t, s, kube.Config{Dial: s.Dial, Timeout: 5 * time.Second})
		began := time.Now()

		var blocked *kube.BlockedError
		if err := c.Evict(t.Context(), "default", "p"); !errors.As(err, &blocked) || blocked.RetryAfter != 10*time.Second || !strings.Contains(err.Error(), "guard-p") {
			t.Errorf("got %v", err)
		}

		if took := time.Since(began); took != 0 {
			t.Errorf("it waited %s", took)
		}

		s.OnRequest(kubetest.Fault{Hang: true})

		if err := c.Cordon(t.Context(), "a", true); !wait.IsTransient(err) || !strings.Contains(err.Error(), "no answer within 5s") {
			t.Errorf("hanging: %v", err)
		}

		asked := errors.New("asked to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(asked)

		if err := c.Cordon(ctx, "a", true); !errors.Is(err, asked) || wait.IsTransient(err) {
			t.Errorf("ended by its caller: %v", err)
		}
	})
}

func TestEvict_overloadIsNoBudget(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	s.AddPod(kubetest.Pod{Name: "p", Node: "a"})
	s.OnRequest(kubetest.Fault{Path: "eviction", Status: 429, Body: "Too many requests, please try again later.", Times: 1})
	s.OnRequest(kubetest.Fault{Path: "eviction", Status: 500, Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."})

	c := clientOf(t, s, kube.Config{})

	var blocked *kube.BlockedError
	if err := c.Evict(t.Context(), "default", "p"); errors.As(err, &blocked) || !wait.IsTransient(err) {
		t.Errorf("an overload: %v", err)
	}

	if err := c.Evict(t.Context(), "default", "p"); !errors.As(err, &blocked) {
		t.Errorf("two budgets: %v", err)
	}
}

func TestReady(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)

	c, err := kube.New(kube.Config{Server: s.URL(), CAData: s.CA()})
	if err != nil {
		t.Fatal(err)
	}

	s.SetReadyz("etcd")

	if err := c.Ready(t.Context()); !wait.IsTransient(err) || !strings.Contains(err.Error(), "not ready yet: etcd") {
		t.Errorf("not ready: %v", err)
	}

	s.SetReadyz("")

	if err := c.Ready(t.Context()); err != nil {
		t.Error(err)
	}

	end := time.Now().Add(72 * time.Hour).Truncate(time.Second)
	s.ShowCertificateUntil(end)

	if got, err := c.ServingCertificate(t.Context()); err != nil || !got.Equal(end) {
		t.Errorf("its certificate ends %s, %v", got, err)
	}

	past := time.Now().Add(-time.Minute).Truncate(time.Second)
	s.ShowCertificateUntil(past)

	if got, err := c.ServingCertificate(t.Context()); err != nil || !got.Equal(past) {
		t.Errorf("its certificate ended %s, %v", got, err)
	}

	if err := c.Ready(t.Context()); err == nil || wait.IsTransient(err) || !strings.Contains(err.Error(), "expired") {
		t.Errorf("expired: %v", err)
	}

	s.ShowForeignCertificate()

	var foreign *kube.ForeignCAError
	if err := c.Ready(t.Context()); !errors.As(err, &foreign) || wait.IsTransient(err) || !strings.Contains(err.Error(), "another cluster") {
		t.Errorf("another cluster: %v", err)
	}

	s.Close()

	if err := c.Ready(t.Context()); !wait.IsTransient(err) || !errors.Is(err, kube.ErrUnreachable) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestSecretsAreNotRepeated(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	s.OnRequest(kubetest.Fault{Path: "secrets", Status: 422, Message: "bad: 0123456789abcdef MDEyMzQ1Njc4OWFiY2RlZg== " + kubetest.AdminToken})

	c, err := kube.New(kube.Config{Server: s.URL(), CAData: s.CA(), Token: kubetest.AdminToken})
	if err != nil {
		t.Fatal(err)
	}

	token := kube.Token{ID: "abcdef", Secret: "0123456789abcdef"}

	text := fmt.Sprintf("%v %v %#v", c.EnsureToken(t.Context(), token, time.Now()), token, token)
	for _, secret := range []string{"0123456789abcdef", "MDEyMzQ1Njc4OWFiY2RlZg", kubetest.AdminToken} {
		if strings.Contains(text, secret) {
			t.Errorf("it repeats %q: %s", secret, text)
		}
	}
}

func TestToken_isProlonged(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	c := clientOf(t, s, kube.Config{})
	token := kube.Token{ID: "abcdef", Secret: "0123456789abcdef", Description: "machine a"}

	for _, end := range []time.Time{time.Unix(2000000000, 0), time.Unix(2000003600, 0)} {
		if err := c.EnsureToken(t.Context(), token, end); err != nil {
			t.Fatal(err)
		}

		got := s.Token("abcdef")
		if got["expiration"] != end.UTC().Format(time.RFC3339) || got["auth-extra-groups"] != "system:bootstrappers:kubeadm:default-node-token" || got["description"] != "machine a" {
			t.Errorf("got %v", got)
		}
	}
}

func TestNodes_inPages(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	for n := range 1201 {
		s.AddNode(kubetest.Node{Name: fmt.Sprintf("n-%d", n), Ready: "True"})
	}

	c := clientOf(t, s, kube.Config{})
	if nodes, err := c.Nodes(t.Context()); err != nil || len(nodes) != 1201 || nodes[0].Ready != "True" {
		t.Errorf("got %d, %v", len(nodes), err)
	}

	if requests := s.Requests(); len(requests) != 3 {
		t.Errorf("in %d pages", len(requests))
	}

	// a list that has changed too much for its pages
	s.OnRequest(kubetest.Fault{Path: "nodes", Times: 1, Status: 410})

	if nodes, err := c.Nodes(t.Context()); err != nil || len(nodes) != 1201 {
		t.Errorf("got %d, %v", len(nodes), err)
	}
}

func TestResourceSlices_whereTheGroupIsNotServed(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	s.ServeDevices(nil)

	c := clientOf(t, s, kube.Config{})
	if slices, err := c.ResourceSlices(t.Context(), "a"); err != nil || slices != nil {
		t.Errorf("got %v, %v", slices, err)
	}

	if err := c.DeleteDeviceTaintRule(t.Context(), "a"); !errors.Is(err, kube.ErrUnsupported) {
		t.Errorf("got %v", err)
	}

	s.ServeDevices(map[string]string{"resourceslices": "v1beta1"})
	s.Add("resourceslices", "", "s", map[string]any{"spec": map[string]any{"driver": "d", "devices": []any{
		map[string]any{"name": "mine", "basic": map[string]any{"nodeName": "a", "attributes": map[string]any{"uuid": map[string]any{"string": "u"}}}},
		map[string]any{"name": "other", "basic": map[string]any{"nodeName": "b"}},
	}}})

	got, err := c.ResourceSlices(t.Context(), "a")
	if err != nil || len(got) != 1 || len(got[0].Devices) != 1 || got[0].Devices[0].Name != "mine" || got[0].Devices[0].Attributes["uuid"] != "u" {
		t.Errorf("got %+v, %v", got, err)
	}

	if err := c.CreateDeviceTaintRule(t.Context(), "a", kube.DeviceSelector{}, kube.Taint{}); !errors.Is(err, kube.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
}

func TestNoTLS(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}

	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(l) }()

	t.Cleanup(func() { _ = server.Close() })

	c, err := kube.New(kube.Config{Server: "https://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}

	if err := c.Ready(t.Context()); err == nil || wait.IsTransient(err) || !strings.Contains(err.Error(), "does not speak TLS") {
		t.Errorf("got %v", err)
	}
}
