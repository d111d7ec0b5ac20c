// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// pool is what believes an authority.
func pool(t *testing.T, text string) *x509.CertPool {
	t.Helper()

	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM([]byte(text)) {
		t.Fatal("no certificate of an authority")
	}

	return p
}

func TestKubeconfig(t *testing.T) {
	t.Parallel()

	p := pki(t)

	a, err := bootstrap.Kubeconfig(p, bootstrap.Endpoint{Host: "2001:db8::10"}, bootstrap.Options{
		Cluster: "edge", User: "ci", Organizations: []string{"kubeadm:cluster-admins", "team"}, TTL: time.Hour, Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}

	cert := certificate(t, a.Certificate)
	if cert.Subject.CommonName != "ci" || !slices.Equal(slices.Sorted(slices.Values(cert.Subject.Organization)), []string{"kubeadm:cluster-admins", "team"}) || cert.IsCA {
		t.Errorf("it is for %v", cert.Subject)
	}

	if !cert.NotAfter.Equal(now.Add(time.Hour)) || !a.Ends.Equal(cert.NotAfter) || !cert.NotBefore.Equal(now.Add(-5*time.Minute)) {
		t.Errorf("it holds from %v until %v", cert.NotBefore, cert.NotAfter)
	}

	if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(t, p.CA.Certificate), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}

	read, err := bootstrap.ParseKubeconfig(a.Kubeconfig)
	if err != nil || read.Server != "https://[2001:db8::10]:6443" || read.CA != p.CA.Certificate || read.Certificate != a.Certificate || read.Key != a.Key || !read.Ends.Equal(a.Ends) {
		t.Errorf("read again: %v, %v until %v", err, read, read.Ends)
	}

	contains(t, string(a.Kubeconfig), "current-context: ci@edge")
}

func TestAccess_at(t *testing.T) {
	t.Parallel()

	a, err := bootstrap.Kubeconfig(pki(t), bootstrap.Endpoint{Host: "127.0.0.1"}, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	a.Token = "tok"

	moved, err := a.At(bootstrap.Endpoint{Host: "192.0.2.10", Port: 443}, bootstrap.Options{Cluster: "edge"})
	if err != nil {
		t.Fatal(err)
	}

	read, err := bootstrap.ParseKubeconfig(moved.Kubeconfig)
	if err != nil || read.Server != "https://192.0.2.10:443" || read.Key != a.Key || read.CA != a.CA || read.Token != "tok" {
		t.Errorf("got %v, %v", read, err)
	}

	if _, err := a.At(bootstrap.Endpoint{}, bootstrap.Options{}); err == nil {
		t.Error("it leads nowhere")
	}
}

func TestKubeconfig_endsWithItsAuthority(t *testing.T) {
	t.Parallel()

	p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Years: 1, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	late := now.AddDate(0, 11, 0)

	a, err := bootstrap.Kubeconfig(p, vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: bootstrap.AdminTTL, Now: late})
	if err != nil || !a.Ends.Equal(now.AddDate(1, 0, 0)) {
		t.Errorf("it holds until %v: %v", a.Ends, err)
	}
}

func TestKubeconfig_refusals(t *testing.T) {
	t.Parallel()

	p, at := pki(t), vars().Cluster.Endpoint

	for name, c := range map[string]struct {
		pki  bootstrap.PKI
		at   bootstrap.Endpoint
		o    bootstrap.Options
		says string
	}{
		"no endpoint":  {p, bootstrap.Endpoint{}, bootstrap.Options{Organizations: []string{"g"}, TTL: 1, Now: now}, "needs the endpoint"},
		"no group":     {p, at, bootstrap.Options{TTL: 1, Now: now}, "needs a group"},
		"no life":      {p, at, bootstrap.Options{Organizations: []string{"g"}, Now: now}, "more than nothing"},
		"a long life":  {p, at, bootstrap.Options{Organizations: []string{"g"}, TTL: 1 << 62, Now: now}, "at most"},
		"no authority": {bootstrap.PKI{}, at, bootstrap.Options{Organizations: []string{"g"}, TTL: 1, Now: now}, "cluster CA: certificate: missing"},
		"an authority that ended": {
			p, at, bootstrap.Options{Organizations: []string{"g"}, TTL: 1, Now: now.AddDate(20, 0, 0)}, "cluster CA: the certificate ended",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, err := bootstrap.Kubeconfig(c.pki, c.at, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

func TestNeedsRenewal(t *testing.T) {
	t.Parallel()

	a, err := bootstrap.Kubeconfig(pki(t), vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: bootstrap.AdminTTL, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	for after, want := range map[time.Duration]bool{0: false, 182 * 24 * time.Hour: false, 183 * 24 * time.Hour: true, 400 * 24 * time.Hour: true} {
		if got := bootstrap.NeedsRenewal(a.Kubeconfig, now.Add(after)); got != want {
			t.Errorf("after %v: %v, want %v", after, got, want)
		}
	}

	if !bootstrap.NeedsRenewal([]byte("{}"), now) {
		t.Error("what is no kubeconfig is kept")
	}
}

func TestEtcdClient(t *testing.T) {
	t.Parallel()

	p := pki(t)

	cert, roots, err := bootstrap.EtcdClient(p, time.Minute, now)
	if err != nil {
		t.Fatal(err)
	}

	if _, err := cert.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}

	if _, _, err := bootstrap.EtcdClient(bootstrap.PKI{CA: p.CA}, time.Minute, now); err == nil || !strings.Contains(err.Error(), "etcd CA") {
		t.Errorf("without its authority: %v", err)
	}
}

func TestParseKubeconfig_refusals(t *testing.T) {
	t.Parallel()

	a, err := bootstrap.Kubeconfig(pki(t), vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		t.Fatal(err)
	}

	good, tokenOnly := string(a.Kubeconfig), `{"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}], `+
		`"clusters": [{"name": "k", "cluster": {"server": "https://h:1"}}], "users": [{"name": "u", "user": {"token": "s3cr3t"}}]}`

	if read, err := bootstrap.ParseKubeconfig([]byte(tokenOnly)); err != nil || read.Token != "s3cr3t" || !read.Ends.IsZero() {
		t.Errorf("one with a token: %v", err)
	}

	for name, c := range map[string]struct{ text, says string }{
		"nothing":               {"", "no current context"},
		"no YAML":               {"a: [s3cr3t", "this is no kubeconfig"},
		"another shape":         {"clusters: s3cr3t", "this is no kubeconfig"},
		"no such context":       {strings.Replace(good, "current-context: kubernetes-admin", "current-context: s3cr3t", 1), "no current context"},
		"no such user":          {strings.ReplaceAll(good, "user: kubernetes-admin", "user: s3cr3t"), "a cluster or a user that is not in it"},
		"no https":              {strings.Replace(good, "https://", "http://", 1), "no https URL"},
		"a user in the URL":     {strings.Replace(good, "https://", "https://u:s3cr3t@", 1), "no https URL"},
		"no key":                {strings.Replace(good, "client-key-data", "client-key", 1), "do not belong together"},
		"neither key nor token": {strings.Replace(tokenOnly, "token", "exec-token", 1), "neither a certificate"},
		"no base64":             {strings.Replace(good, "client-key-data: ", "client-key-data: s3cr3t!", 1), "this is no kubeconfig"},
		"a CA that is none":     {strings.Replace(tokenOnly, `"server"`, `"certificate-authority-data": "czNjcjN0", "server"`, 1), "the CA of the kubeconfig: certificate"},
		"a long text":           {strings.Repeat("s3cr3t: 1\n", 1<<17), "is not read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := bootstrap.ParseKubeconfig([]byte(c.text))
			contains(t, fmt.Sprint(err), c.says)

			if strings.Contains(fmt.Sprint(err), "s3cr3t") {
				t.Errorf("the error repeats what was read: %v", err)
			}
		})
	}
}

func FuzzParseKubeconfig(f *testing.F) {
	p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Now: now})
	if err != nil {
		f.Fatal(err)
	}

	a, err := bootstrap.Kubeconfig(p, vars().Cluster.Endpoint, bootstrap.Options{Organizations: []string{"g"}, TTL: time.Hour, Now: now})
	if err != nil {
		f.Fatal(err)
	}

	f.Add(a.Kubeconfig)
	f.Add([]byte("current-context: c\ncontexts: [{name: c}]\nclusters: [{}]\nusers: [{}]\n"))
	f.Add([]byte("&a [*a]"))

	f.Fuzz(func(t *testing.T, text []byte) {
		if a, err := bootstrap.ParseKubeconfig(text); err == nil && !strings.HasPrefix(strings.ToLower(a.Server), "https:") {
			t.Errorf("a server at %q", a.Server)
		}

		bootstrap.NeedsRenewal(text, now)
	})
}
