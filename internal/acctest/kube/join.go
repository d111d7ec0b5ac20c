// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// ErrNotPinned says that a host found a cluster whose authority its user data do not name.
var ErrNotPinned = errors.New("the authority of the cluster is not pinned")

// Join has a host boot from the user data of a worker: it finds the cluster, holds its authority
// against the pins, gets a certificate for the token, registers its Node as its kubelet does, and
// calls it Ready. It returns the name of the Node.
func Join(tb testing.TB, raw []byte) (string, error) {
	tb.Helper()

	data := read(tb, raw)
	if !data.runs("kubeadm join --config " + joinConfig) {
		tb.Fatal("nothing in the user data runs kubeadm join")
	}

	for _, file := range data.WriteFiles {
		if strings.HasSuffix(file.Path, ".key") {
			tb.Errorf("the machine gets the key %s", file.Path)
		}
	}

	var c registration
	if err := yaml.Unmarshal([]byte(data.content(tb, joinConfig)), &c); err != nil {
		tb.Fatal(err)
	}

	url := "https://" + c.Discovery.BootstrapToken.APIServerEndpoint

	ca, err := c.discover(tb, url)
	if err != nil {
		return "", err
	}

	pair, err := c.certificate(tb, url, ca)
	if err != nil {
		return "", err
	}

	name, kubelet := c.NodeRegistration.Name, clientFor(ca, pair)

	if status, said := request(tb, kubelet, http.MethodPost, url+"/api/v1/nodes", c.node()); status != http.StatusCreated {
		return "", fmt.Errorf("registering the Node %s: %d %v", name, status, said["message"])
	}

	now := time.Now().UTC().Format(time.RFC3339)
	ready := map[string]any{"status": map[string]any{"conditions": []any{map[string]any{
		"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now, "lastTransitionTime": now,
	}}}}

	if status, said := request(tb, kubelet, http.MethodPatch, url+"/api/v1/nodes/"+name+"/status", ready); status != http.StatusOK {
		return "", fmt.Errorf("calling the Node %s ready: %d %v", name, status, said["message"])
	}

	return name, nil
}

// discover reads cluster-info without trust and holds its authority against the pins.
func (r registration) discover(tb testing.TB, url string) ([]byte, error) {
	tb.Helper()

	anybody := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, IdleConnTimeout: time.Second}}
	id, _, _ := strings.Cut(r.Discovery.BootstrapToken.Token, ".")

	var data map[string]any

	// the bootstrap signer needs up to six seconds for a new token
	for end := time.Now().Add(30 * time.Second); ; {
		status, said := request(tb, anybody, http.MethodGet, url+"/api/v1/namespaces/kube-public/configmaps/cluster-info", nil)
		data, _ = said["data"].(map[string]any)

		if status == http.StatusOK && data["jws-kubeconfig-"+id] != nil {
			break
		}

		if time.Now().After(end) {
			return nil, fmt.Errorf("cluster-info is not signed for this token: %d %v", status, said["message"])
		}

		if err := wait.Sleep(tb.Context(), 100*time.Millisecond); err != nil {
			return nil, err
		}
	}

	var info struct {
		Clusters []struct {
			Cluster struct {
				CA []byte `json:"certificate-authority-data"`
			}
		}
	}

	text, _ := data["kubeconfig"].(string)
	if err := yaml.Unmarshal([]byte(text), &info); err != nil || len(info.Clusters) != 1 {
		return nil, fmt.Errorf("cluster-info: %d clusters, %w", len(info.Clusters), err)
	}

	block, _ := pem.Decode(info.Clusters[0].Cluster.CA)
	if block == nil {
		return nil, errors.New("cluster-info: no authority")
	}

	ca, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, err
	}

	sum := sha256.Sum256(ca.RawSubjectPublicKeyInfo)
	if !slices.Contains(r.Discovery.BootstrapToken.CACertHashes, "sha256:"+hex.EncodeToString(sum[:])) {
		return nil, ErrNotPinned
	}

	return info.Clusters[0].Cluster.CA, nil
}

// certificate asks for the kubelet's certificate with the token.
func (r registration) certificate(tb testing.TB, url string, ca []byte) (tls.Certificate, error) {
	tb.Helper()

	var none tls.Certificate

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return none, err
	}

	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return none, err
	}

	wanted := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + r.NodeRegistration.Name, Organization: []string{"system:nodes"}}}

	der, err := x509.CreateCertificateRequest(rand.Reader, wanted, key)
	if err != nil {
		return none, err
	}

	client := clientFor(ca)
	client.Transport = bearer{client.Transport, r.Discovery.BootstrapToken.Token}

	const path = "/apis/certificates.k8s.io/v1/certificatesigningrequests"

	status, said := request(tb, client, http.MethodPost, url+path, map[string]any{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": map[string]any{"generateName": "node-csr-"},
		"spec": map[string]any{
			"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": []string{"digital signature", "client auth"},
			"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
		},
	})
	if status != http.StatusCreated {
		return none, fmt.Errorf("asking for a certificate: %d %v", status, said["message"])
	}

	meta, _ := said["metadata"].(map[string]any)
	name, _ := meta["name"].(string)

	for range 200 {
		_, said = request(tb, client, http.MethodGet, url+path+"/"+name, nil)

		signed, _ := said["status"].(map[string]any)
		if code, _ := signed["certificate"].(string); code != "" {
			cert, err := base64.StdEncoding.DecodeString(code)
			if err != nil {
				return none, err
			}

			return tls.X509KeyPair(cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
		}

		if err := wait.Sleep(tb.Context(), 50*time.Millisecond); err != nil {
			return none, err
		}
	}

	return none, fmt.Errorf("the request for a certificate %s is not signed", name)
}

// bearer adds a token to requests.
type bearer struct {
	next  http.RoundTripper
	token string
}

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)

	return b.next.RoundTrip(r)
}
