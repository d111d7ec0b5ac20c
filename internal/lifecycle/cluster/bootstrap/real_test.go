// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"crypto/x509"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/cloudinit"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// TestReal_cloudInitTakesUserData holds all user data against cloud-init's own schema.
func TestReal_cloudInitTakesUserData(t *testing.T) {
	t.Parallel()

	keepalived := profile("1.37.2")
	keepalived.KubeVIP, keepalived.Keepalived = nil, &bootstrap.Keepalived{Interface: "eth0", RouterID: 1}

	for name, k := range map[string]bootstrap.Kubeadm{
		"everything": profile("1.37.2"), "the least": {Version: "1.31.0"}, "keepalived": keepalived,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, text := range all(t, k, pki(t)) {
				cloudinit.Schema(t, text)
			}
		})
	}
}

// kubeadm is the real one.
func kubeadm(t *testing.T) string {
	t.Helper()

	if testing.Short() {
		t.Skip("this is the short run")
	}

	folders := []string{os.Getenv("METAL3_TEST_KUBE_BIN")}
	if folders[0] == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(os.Getenv("HOME"), ".cache")
		}

		var err error
		if folders, err = filepath.Glob(filepath.Join(cache, "terraform-provider-metal3", "kube-*")); err != nil {
			t.Fatal(err)
		}
	}

	for _, folder := range folders {
		if program := filepath.Join(folder, "kubeadm"); executable(program) {
			return program
		}
	}

	acctest.Missing(t, "kubeadm (METAL3_TEST_KUBE_BIN)")

	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)

	return err == nil && info.Mode().IsRegular() && info.Mode()&0o100 != 0
}

// TestReal_kubeadmTakesConfiguration holds configurations against kubeadm, which refuses what it
// does not know.
func TestReal_kubeadmTakesConfiguration(t *testing.T) {
	t.Parallel()

	program := kubeadm(t)

	rsa := profile("1.37.2")
	rsa.EncryptionAlgorithm = bootstrap.RSA3072

	p384 := profile("1.37.2")
	p384.EncryptionAlgorithm = bootstrap.ECDSAP384

	for name, k := range map[string]bootstrap.Kubeadm{
		"everything": profile("1.37.2"), "the least": {Version: "1.37.0"}, "keys of RSA": rsa, "keys of P-384": p384,
		"both families": {Version: "1.37.0", PodSubnet: "10.244.0.0/16,2001:db8:1::/56", ServiceSubnet: "10.96.0.0/12,2001:db8:2::/112"},
		"a mirror":      {Version: "1.36.1", ImageRepository: "registry.example.com/k8s", BindPort: 7443, NodeName: "<< .Host.Name >>.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v, p := vars(), pki(t)
			for kind, of := range map[string]struct {
				v            bootstrap.Vars
				controlPlane bool
			}{"init": {v, true}, "join": {later(v), true}, "worker": {worker(v), false}} {
				given, err := k.For(of.v, of.controlPlane, p, token(), time.Hour)
				if err != nil {
					t.Fatal(err)
				}

				path := filepath.Join(t.TempDir(), "kubeadm.yaml")
				if err := os.WriteFile(path, []byte(given.Config), 0o600); err != nil {
					t.Fatal(err)
				}

				if out, err := exec.CommandContext(t.Context(), program, "config", "validate", "--config", path).CombinedOutput(); err != nil {
					t.Errorf("%s: %v: %s\n%s", kind, err, out, given.Config)
				}
			}
		})
	}
}

func later(v bootstrap.Vars) bootstrap.Vars {
	v.Machine.Name, v.Machine.First = "edge-cp-1", false

	return v
}

// TestReal_kubeadmRefuses shows that the test above could fail.
func TestReal_kubeadmRefuses(t *testing.T) {
	t.Parallel()

	program := kubeadm(t)

	for name, k := range map[string]bootstrap.Kubeadm{
		"an unknown field": {Version: "1.37.2", Extra: bootstrap.Fragments{ClusterConfiguration: "noSuchField: 1"}},
		"an old form":      {Version: "1.30.1"},
	} {
		given, err := k.For(vars(), true, pki(t), token(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}

		path := filepath.Join(t.TempDir(), "kubeadm.yaml")
		if err := os.WriteFile(path, []byte(given.Config), 0o600); err != nil {
			t.Fatal(err)
		}

		if err := exec.CommandContext(t.Context(), program, "config", "validate", "--config", path).Run(); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestReal_kubeadmSignsWithOurKeys has kubeadm make the certificates of a control plane out of the
// key pairs of the user data.
func TestReal_kubeadmSignsWithOurKeys(t *testing.T) {
	t.Parallel()

	program := kubeadm(t)

	for _, algorithm := range []bootstrap.Algorithm{bootstrap.ECDSAP256, bootstrap.RSA2048} {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()

			p, err := bootstrap.Generate(bootstrap.PKI{}, bootstrap.PKIOptions{Algorithm: algorithm, Now: time.Now()})
			if err != nil {
				t.Fatal(err)
			}

			folder := t.TempDir()
			k := bootstrap.Kubeadm{
				Version: "1.37.2", AddressPool: "prov", CertSANs: []string{"edge.example.com"}, EncryptionAlgorithm: algorithm,
				Extra: bootstrap.Fragments{ClusterConfiguration: "certificatesDir: " + folder},
			}

			given, err := k.For(vars(), true, p, token(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}

			for _, f := range append(given.Files, bootstrap.File{Path: "/etc/kubernetes/pki/kubeadm.yaml", Content: given.Config}) {
				path := filepath.Join(folder, strings.TrimPrefix(f.Path, "/etc/kubernetes/pki/"))
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(f.Content), 0o600)); err != nil {
					t.Fatal(err)
				}
			}

			out, err := exec.CommandContext(t.Context(), program, "init", "phase", "certs", "all", "--config", filepath.Join(folder, "kubeadm.yaml")).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}

			for name, by := range map[string]string{
				"apiserver": p.CA.Certificate, "apiserver-etcd-client": p.EtcdCA.Certificate, "etcd/server": p.EtcdCA.Certificate, "front-proxy-client": p.FrontProxyCA.Certificate,
			} {
				text, err := os.ReadFile(filepath.Join(folder, name+".crt"))
				if err != nil {
					t.Fatal(err)
				}

				cert := certificate(t, string(text))
				if _, err := cert.Verify(x509.VerifyOptions{Roots: pool(t, by), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
					t.Errorf("%s: %v", name, err)
				}

				for _, host := range []string{"192.0.2.10", "192.0.2.11", "edge-cp-0", "edge.example.com"} {
					if err := cert.VerifyHostname(host); name == "apiserver" && err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}
