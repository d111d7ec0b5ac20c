// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterkubeconfig_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

type block = providertest.Map

func open(t *testing.T, of, what block) (block, string, string) {
	t.Helper()

	s := providertest.NewServer(t)
	if text := providertest.Errors(s.Configure(t, of)); text != "" {
		t.Fatal(text)
	}

	got, diags := s.Open(t, "metal3_cluster_kubeconfig", what)

	var warnings []string
	for _, d := range diags {
		warnings = append(warnings, d.Summary)
	}

	return got, providertest.Errors(diags), strings.Join(warnings, "\n")
}

func pki(t *testing.T, now time.Time) bootstrap.PKI {
	t.Helper()

	p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: now})
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func ca(p bootstrap.PKI) block {
	return block{"certificate": p.CA.Certificate, "private_key": p.CA.Key}
}

// admin is a kubeconfig that was there before.
func admin(t *testing.T, p bootstrap.PKI, now time.Time) string {
	t.Helper()

	a, err := bootstrap.Kubeconfig(p, bootstrap.Endpoint{Host: "127.0.0.1"}, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	return string(a.Kubeconfig)
}

func str(t *testing.T, of block, name string) string {
	t.Helper()

	s, ok := of[name].(string)
	if !ok {
		t.Errorf("%s is %v", name, of[name])
	}

	return s
}

func TestKubeconfig_ofTheCA(t *testing.T) {
	t.Parallel()

	p := pki(t, time.Now())

	for name, c := range map[string]struct {
		what   block
		user   string
		groups []string
		host   string
		ttl    time.Duration
	}{
		"what counts where nothing is said": {
			block{"endpoint": block{"host": "192.0.2.10"}}, "kubernetes-admin", []string{"kubeadm:cluster-admins"}, "https://192.0.2.10:6443", time.Hour,
		},
		"all of it": {
			block{"endpoint": block{"host": "2001:db8::10", "port": 443}, "user": "ci", "organizations": []any{"a", "b"}, "ttl": "10m", "cluster_name": "edge"},
			"ci",
			[]string{"a", "b"},
			"https://[2001:db8::10]:443", 10 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c.what["ca"] = ca(p)

			got, errs, _ := open(t, nil, c.what)
			if errs != "" {
				t.Fatal(errs)
			}

			b, _ := pem.Decode([]byte(str(t, got, "client_certificate")))
			if b == nil {
				t.Fatal("the certificate is no PEM")
			}

			cert, err := x509.ParseCertificate(b.Bytes)
			if err != nil {
				t.Fatal(err)
			}

			if cert.Subject.CommonName != c.user || !slices.Equal(slices.Sorted(slices.Values(cert.Subject.Organization)), c.groups) {
				t.Errorf("it is for %v", cert.Subject)
			}

			if left := time.Until(cert.NotAfter); left > c.ttl || left < c.ttl-time.Minute {
				t.Errorf("it holds %v, want %v", left, c.ttl)
			}

			if str(t, got, "expires_at") != cert.NotAfter.UTC().Format(time.RFC3339) || got["host"] != c.host || got["cluster_ca_certificate"] != p.CA.Certificate || got["token"] != nil {
				t.Errorf("got %v, %v", got["expires_at"], got["host"])
			}

			read, err := bootstrap.ParseKubeconfig([]byte(str(t, got, "kubeconfig")))
			if err != nil || read.Key != got["client_key"] || read.Server != c.host {
				t.Errorf("the kubeconfig: %v, %v", read, err)
			}
		})
	}
}

func TestKubeconfig_thatIsThere(t *testing.T) {
	t.Parallel()

	p := pki(t, time.Now().Add(-2*time.Hour))
	text := admin(t, p, time.Now())

	got, errs, warnings := open(t, nil, block{"kubeconfig": text})
	if errs != "" || warnings != "" || got["kubeconfig"] != text || got["host"] != "https://127.0.0.1:6443" || got["cluster_ca_certificate"] != p.CA.Certificate {
		t.Errorf("got %v: %s %s", got["host"], errs, warnings)
	}

	_, errs, warnings = open(t, nil, block{"kubeconfig": admin(t, p, time.Now().Add(-2*time.Hour))})
	if errs != "" || !strings.Contains(warnings, "has ended") {
		t.Errorf("one that has ended: %s %s", errs, warnings)
	}
}

func TestKubeconfig_ofAMachine(t *testing.T) {
	t.Parallel()

	p := pki(t, time.Now())
	file := filepath.Join(t.TempDir(), "admin.conf")
	text := admin(t, p, time.Now())

	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	got, errs, _ := open(t, nil, block{"ssh": block{"type": "local", "path": file}})
	if errs != "" || got["kubeconfig"] != text {
		t.Errorf("as it is there: %s", errs)
	}

	got, errs, _ = open(t, nil, block{"ssh": block{"type": "local", "path": file}, "endpoint": block{"host": "192.0.2.10"}, "cluster_name": "edge"})
	if errs != "" || got["host"] != "https://192.0.2.10:6443" || !strings.Contains(str(t, got, "kubeconfig"), "server: https://192.0.2.10:6443") {
		t.Errorf("with another server: %v %s", got["host"], errs)
	}
}

// unreachable is a port that nobody listens on.
func unreachable(t *testing.T) int {
	t.Helper()

	l, err := new(net.ListenConfig).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	addr, ok := l.Addr().(*net.TCPAddr)
	if err := errors.Join(l.Close()); err != nil || !ok {
		t.Fatal(err)
	}

	return addr.Port
}

func TestKubeconfig_refusals(t *testing.T) {
	t.Parallel()

	const secret = "s3cr3t"

	p, other := pki(t, time.Now()), pki(t, time.Now())
	text := admin(t, p, time.Now())
	at := block{"host": "192.0.2.10"}
	here := t.TempDir()

	if err := os.WriteFile(filepath.Join(here, "bad"), []byte("a: ["+secret), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, c := range map[string]struct {
		provider, block block
		says            []string
	}{
		"no way":                 {nil, block{"endpoint": at}, []string{"ca", "kubeconfig", "ssh"}},
		"two ways":               {nil, block{"ca": ca(p), "endpoint": at, "kubeconfig": text}, []string{"ca", "kubeconfig"}},
		"a CA without a place":   {nil, block{"ca": ca(p)}, []string{"endpoint"}},
		"a key of another":       {nil, block{"ca": block{"certificate": p.CA.Certificate, "private_key": other.CA.Key}, "endpoint": at}, []string{"the private key does not belong"}},
		"no key":                 {nil, block{"ca": block{"certificate": p.CA.Certificate, "private_key": secret}, "endpoint": at}, []string{"private key: no PEM"}},
		"a life that is none":    {nil, block{"ca": ca(p), "endpoint": at, "ttl": "soon"}, []string{"ttl", "duration"}},
		"too long a life":        {nil, block{"ca": ca(p), "endpoint": at, "ttl": "999999h"}, []string{"at most"}},
		"no groups":              {nil, block{"ca": ca(p), "endpoint": at, "organizations": []any{}}, []string{"organizations"}},
		"a host with a scheme":   {nil, block{"ca": ca(p), "endpoint": block{"host": "https://192.0.2.10"}}, []string{"without scheme"}},
		"a host with brackets":   {nil, block{"ca": ca(p), "endpoint": block{"host": "[2001:db8::10]"}}, []string{"no host name and no address"}},
		"an empty host":          {nil, block{"ca": ca(p), "endpoint": block{"host": ""}}, []string{"host"}},
		"a port that is none":    {nil, block{"ca": ca(p), "endpoint": block{"host": "h", "port": 65536}}, []string{"port"}},
		"a user of a kubeconfig": {nil, block{"kubeconfig": text, "user": "ci"}, []string{"ca"}},
		"another place of it":    {nil, block{"kubeconfig": text, "endpoint": at}, []string{"endpoint"}},
		"no kubeconfig":          {nil, block{"kubeconfig": "a: [" + secret}, []string{"his is no kubeconfig"}},
		"no such file":           {nil, block{"ssh": block{"type": "local", "path": filepath.Join(here, "no")}}, []string{"has no " + here, "control plane"}},
		"a file of another kind": {nil, block{"ssh": block{"type": "local", "path": filepath.Join(here, "bad")}}, []string{here, "this machine", "his is no kubeconfig"}},
		"a relative path":        {nil, block{"ssh": block{"type": "local", "path": "admin.conf"}}, []string{"absolute"}},
		"no host":                {nil, block{"ssh": block{"user": "root"}}, []string{"needs a host"}},
		"a host that is not there": {
			nil, block{"ssh": block{"host": "127.0.0.1", "port": unreachable(t), "password": secret, "insecure_host_key": true}}, []string{"/etc/kubernetes/admin.conf", "not reached", "wait_for"},
		},
		"ssh is not known yet": {block{"ssh": block{"user": providertest.Unknown{}}}, block{"ssh": block{"host": "h"}}, []string{"ssh.user", "Let wait_for come from"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, errs, _ := open(t, c.provider, c.block)
			if errs == "" {
				t.Errorf("got %v", got["host"])
			}

			for _, want := range c.says {
				if !strings.Contains(errs, want) {
					t.Errorf("no %q in %q", want, errs)
				}
			}

			if strings.Contains(errs, secret) || strings.Contains(errs, "PRIVATE KEY-----") {
				t.Errorf("it tells a secret: %s", errs)
			}
		})
	}
}
