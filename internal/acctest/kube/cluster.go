// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Cluster is an API server on its etcd, for one test.
type Cluster struct {
	URL        string // https://host:port
	CA         *Pair
	Kubeconfig []byte // of an administrator (system:masters)
	Dir        string // keys, logs and the store are below
	Bin        string

	http *http.Client
}

type options struct {
	controllers bool
	flags       []string
}

// Option changes what [Start] starts.
type Option func(*options)

// WithControllers starts a kube-controller-manager, too: budgets are looked at, certificates and
// tokens signed, and a Node that says nothing is not ready after 50 s.
func WithControllers() Option { return func(o *options) { o.controllers = true } }

// WithFlags adds flags of kube-apiserver.
func WithFlags(flags ...string) Option {
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// Start starts etcd and kube-apiserver on free ports, and ends them with the test. It takes some
// four seconds.
func Start(tb testing.TB, opts ...Option) *Cluster {
	tb.Helper()

	var o options
	for _, opt := range opts {
		opt(&o)
	}

	c := &Cluster{Bin: Binaries(tb), Dir: tb.TempDir(), CA: NewCA(tb, "kubernetes")}
	free := ports(tb, "127.0.0.1", 4)
	c.URL = "https://127.0.0.1:" + free[2]
	admin := c.CA.Client(tb, "kubernetes-admin", "system:masters")
	c.Kubeconfig = kubeconfig(c.URL, c.CA.PEM, admin)
	c.http = clientFor(c.CA.PEM, admin.TLS(tb))

	c.CA.write(tb, c.Dir, "ca")
	c.CA.Server(tb, "127.0.0.1", "10.96.0.1", "localhost").write(tb, c.Dir, "apiserver")
	c.accountKeys(tb)
	c.file(tb, "admin.conf", c.Kubeconfig)

	store, peer := "http://127.0.0.1:"+free[0], "http://127.0.0.1:"+free[1]
	etcd := run(tb, c.Dir, "etcd", filepath.Join(c.Bin, "etcd"), "--data-dir="+c.path("store"), "--unsafe-no-fsync",
		"--listen-client-urls="+store, "--advertise-client-urls="+store, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer)
	etcd.await(tb, time.Minute, func() error { return answers(tb.Context(), http.DefaultClient, store+"/health") })

	api := run(tb, c.Dir, "kube-apiserver", append([]string{
		filepath.Join(c.Bin, "kube-apiserver"), "--etcd-servers=" + store, "--bind-address=127.0.0.1", "--secure-port=" + free[2],
		"--tls-cert-file=" + c.path("apiserver.crt"), "--tls-private-key-file=" + c.path("apiserver.key"), "--client-ca-file=" + c.path("ca.crt"),
		"--service-account-key-file=" + c.path("sa.pub"), "--service-account-signing-key-file=" + c.path("sa.key"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local", "--service-cluster-ip-range=10.96.0.0/12",
		"--authorization-mode=Node,RBAC", "--enable-bootstrap-token-auth=true", "--enable-admission-plugins=NodeRestriction", "--cert-dir=" + c.path("run"),
	}, o.flags...)...)
	api.await(tb, 2*time.Minute, func() error { return answers(tb.Context(), c.http, c.URL+"/readyz") })

	if o.controllers {
		c.controllers(tb, free[3])
	}

	// its controller may not be running, and without it no Pod can be made
	api.await(tb, time.Minute, func() error {
		status, _ := c.Do(tb, http.MethodPost, "/api/v1/namespaces/default/serviceaccounts", map[string]any{"metadata": map[string]any{"name": "default"}})
		if status != http.StatusCreated && status != http.StatusConflict {
			return notYet("making a service account was answered %d", status)
		}

		return nil
	})

	return c
}

func (c *Cluster) controllers(tb testing.TB, port string) {
	tb.Helper()

	conf := c.path("admin.conf")
	manager := run(tb, c.Dir, "kube-controller-manager", filepath.Join(c.Bin, "kube-controller-manager"), "--bind-address=127.0.0.1", "--secure-port="+port,
		"--kubeconfig="+conf, "--authentication-kubeconfig="+conf, "--authorization-kubeconfig="+conf, "--client-ca-file="+c.path("ca.crt"),
		"--cluster-signing-cert-file="+c.path("ca.crt"), "--cluster-signing-key-file="+c.path("ca.key"), "--root-ca-file="+c.path("ca.crt"),
		"--service-account-private-key-file="+c.path("sa.key"), "--controllers=*,bootstrapsigner,tokencleaner",
		"--use-service-account-credentials=true", "--leader-elect=false", "--cert-dir="+c.path("run-controllers"))
	manager.await(tb, time.Minute, func() error {
		status, _ := c.Do(tb, http.MethodGet, "/api/v1/namespaces/default/serviceaccounts/default", nil)
		if status != http.StatusOK {
			return notYet("no service account of the namespace default")
		}

		return nil
	})
}

func (c *Cluster) path(name string) string { return filepath.Join(c.Dir, name) }

func (c *Cluster) file(tb testing.TB, name string, content []byte) {
	tb.Helper()

	if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func (c *Cluster) accountKeys(tb testing.TB) {
	tb.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}

	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		tb.Fatal(err)
	}

	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		tb.Fatal(err)
	}

	c.file(tb, "sa.key", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}))
	c.file(tb, "sa.pub", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
}

// Do sends a request as administrator, for what a test prepares. Patches are strategic.
func (c *Cluster) Do(tb testing.TB, method, path string, body any) (int, map[string]any) {
	tb.Helper()

	return request(tb, c.http, method, c.URL+path, body)
}

func request(tb testing.TB, client *http.Client, method, url string, body any) (int, map[string]any) {
	tb.Helper()

	var raw []byte

	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			tb.Fatal(err)
		}

		raw = encoded
	}

	r, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(raw))
	if err != nil {
		tb.Fatal(err)
	}

	r.Header.Set("Content-Type", map[bool]string{true: "application/strategic-merge-patch+json", false: "application/json"}[method == http.MethodPatch])

	answer, err := client.Do(r)
	if err != nil {
		return 0, map[string]any{"message": err.Error()}
	}

	defer func() { _ = answer.Body.Close() }()

	said, _ := io.ReadAll(answer.Body)

	var o map[string]any
	_ = json.Unmarshal(said, &o)

	return answer.StatusCode, o
}

// clientFor is a client that trusts one authority.
func clientFor(ca []byte, pairs ...tls.Certificate) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)

	return &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: pairs}, MaxIdleConnsPerHost: 2, IdleConnTimeout: 10 * time.Second},
	}
}

// answers says whether a URL is answered with success.
func answers(ctx context.Context, client *http.Client, url string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}

	answer, err := client.Do(r)
	if err != nil {
		return err
	}

	defer func() { _ = answer.Body.Close() }()

	if answer.StatusCode != http.StatusOK {
		return notYet("%s is answered %d", url, answer.StatusCode)
	}

	return nil
}
