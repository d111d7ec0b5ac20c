// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Etcd is an etcd as kubeadm sets it up: each member wants certificates of etcd's own authority.
type Etcd struct {
	CA        *Pair
	Client    *Pair
	Endpoints []string // of members m0, m1, …
	Peers     []string

	members []*process
}

// StartEtcd starts an etcd of as many members, and ends it with the test.
func StartEtcd(tb testing.TB, count int) *Etcd {
	tb.Helper()

	bin, dir := Binaries(tb), tb.TempDir()
	e := &Etcd{CA: NewCA(tb, "etcd-ca")}
	e.Client = e.CA.Client(tb, "kube-apiserver-etcd-client")
	// kubeadm's serving certificates are those of clients, too: etcd asks itself for what is asked in JSON
	e.CA.Both(tb, "127.0.0.1", "localhost").write(tb, dir, "server")
	e.CA.Both(tb, "127.0.0.1").write(tb, dir, "peer")

	if err := os.WriteFile(filepath.Join(dir, "ca.crt"), e.CA.PEM, 0o600); err != nil {
		tb.Fatal(err)
	}

	free := ports(tb, "127.0.0.1", 2*count)

	var all []string

	for n := range count {
		e.Endpoints = append(e.Endpoints, "https://127.0.0.1:"+free[2*n])
		e.Peers = append(e.Peers, "https://127.0.0.1:"+free[2*n+1])
		all = append(all, "m"+string(rune('0'+n))+"="+e.Peers[n])
	}

	at := func(name string) string { return filepath.Join(dir, name) }

	for n := range count {
		name := "m" + string(rune('0'+n))
		e.members = append(e.members, run(tb, dir, name, filepath.Join(bin, "etcd"), "--name="+name, "--data-dir="+at("data-"+name), "--unsafe-no-fsync",
			"--listen-client-urls="+e.Endpoints[n], "--advertise-client-urls="+e.Endpoints[n], "--client-cert-auth=true",
			"--cert-file="+at("server.crt"), "--key-file="+at("server.key"), "--trusted-ca-file="+at("ca.crt"),
			"--listen-peer-urls="+e.Peers[n], "--initial-advertise-peer-urls="+e.Peers[n], "--peer-client-cert-auth=true",
			"--peer-cert-file="+at("peer.crt"), "--peer-key-file="+at("peer.key"), "--peer-trusted-ca-file="+at("ca.crt"),
			"--initial-cluster="+strings.Join(all, ","), "--initial-cluster-state=new"))
	}

	client := clientFor(e.CA.PEM, e.Client.TLS(tb))
	client.Transport.(*http.Transport).TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{} //nolint:forcetypeassert // made so

	for n, member := range e.members {
		member.await(tb, time.Minute, func() error { return answers(context.Background(), client, e.Endpoints[n]+"/health") })
	}

	return e
}

// Kill ends a member, as the host does that it runs on.
func (e *Etcd) Kill(n int) { e.members[n].kill() }
