// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/kubetest"
)

const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://192.0.2.10:6443"}}, {name: plain, cluster: {server: "http://192.0.2.10"}}]
users: [{name: u, user: {token: topsecret}}]
contexts: [{name: a, context: {cluster: c, user: u}}, {name: nocluster, context: {cluster: gone, user: u}}, {name: nouser, context: {cluster: c, user: gone}},
  {name: plain, context: {cluster: plain, user: u}}]
current-context: a
`

func TestNew_saysWhatIsWrong(t *testing.T) {
	t.Parallel()

	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, tt := range map[string]struct {
		cfg  kube.Config
		want string
	}{
		"nothing":                          {kube.Config{}, "neither a kubeconfig nor a server"},
		"both":                             {kube.Config{Kubeconfig: []byte(kubeconfig), Server: "https://h:1"}, "not both"},
		"content and path":                 {kube.Config{Kubeconfig: []byte(kubeconfig), Path: "x"}, "not both"},
		"a file that is not there":         {kube.Config{Path: "/nowhere/admin.conf"}, "/nowhere/admin.conf"},
		"an empty file":                    {kube.Config{Path: empty}, "is empty"},
		"no YAML":                          {kube.Config{Kubeconfig: []byte("topsecret: {")}, "not YAML (line"},
		"no kubeconfig":                    {kube.Config{Kubeconfig: []byte("apiVersion: v1\nkind: Secret\ndata: {topsecret: topsecret}\n")}, "kind Config"},
		"a wrong type":                     {kube.Config{Kubeconfig: []byte("apiVersion: v1\nkind: Config\nusers: topsecret\n")}, "wrong type"},
		"data that are no base64":          {kube.Config{Kubeconfig: []byte("apiVersion: v1\nkind: Config\nusers: [{name: u, user: {client-key-data: top-secret}}]\n")}, "not base64"},
		"an unknown context":               {kube.Config{Kubeconfig: []byte(kubeconfig), Context: "b"}, `no context "b"`},
		"a context without cluster":        {kube.Config{Kubeconfig: []byte(kubeconfig), Context: "nocluster"}, `cluster "gone", which is not there`},
		"a context without user":           {kube.Config{Kubeconfig: []byte(kubeconfig), Context: "nouser"}, `user "gone", who is not there`},
		"a server without TLS":             {kube.Config{Kubeconfig: []byte(kubeconfig), Context: "plain"}, "must begin with https://"},
		"no current context":               {kube.Config{Kubeconfig: []byte("apiVersion: v1\nkind: Config\n")}, "no current-context"},
		"a password in the URL":            {kube.Config{Server: "https://u:topsecret@h:1"}, "credentials do not belong in the URL"},
		"an authority that is no PEM":      {kube.Config{Server: "https://h:1", CAData: []byte("topsecret")}, "no certificate in PEM form"},
		"a certificate without key":        {kube.Config{Server: "https://h:1", CertData: []byte("topsecret")}, "come together"},
		"certificate and key that are bad": {kube.Config{Server: "https://h:1", CertData: []byte("topsecret"), KeyData: []byte("topsecret")}, "do not fit together"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := kube.New(tt.cfg)

			var wrong *kube.ConfigError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}

			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, tt.cfg, tt.cfg), "topsecret") {
				t.Errorf("it repeats a secret: %v", err)
			}
		})
	}
}

func TestNew_takesEachForm(t *testing.T) {
	t.Parallel()

	s := kubetest.New(t)
	s.AddNode(kubetest.Node{Name: "a"})

	path := filepath.Join(t.TempDir(), "admin.conf")
	if err := os.WriteFile(path, s.Kubeconfig(), 0o600); err != nil {
		t.Fatal(err)
	}

	for name, cfg := range map[string]kube.Config{
		"content":      {Kubeconfig: s.Kubeconfig()},
		"path":         {Path: path},
		"a context":    {Path: path, Context: "admin@test"},
		"a token":      {Server: s.URL(), CAData: s.CA(), Token: kubetest.AdminToken},
		"without care": {Server: s.URL(), Token: kubetest.AdminToken, InsecureSkipVerify: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c, err := kube.New(cfg)
			if err != nil {
				t.Fatal(err)
			}

			if nodes, err := c.Nodes(t.Context()); err != nil || len(nodes) != 1 || c.Server() != s.URL() {
				t.Errorf("got %v, %v", nodes, err)
			}
		})
	}
}

func FuzzKubeconfig(f *testing.F) {
	for _, seed := range []string{"", kubeconfig, "a: [", "apiVersion: v1\nkind: Config\ncontexts: [{}]\ncurrent-context: ''\n", "null", "\x00"} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := kube.New(kube.Config{Kubeconfig: raw}); (c == nil) == (err == nil) {
			t.Errorf("client %v, error %v", c, err)
		}
	})
}
