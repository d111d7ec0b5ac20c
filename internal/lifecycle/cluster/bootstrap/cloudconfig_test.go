// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

// cloud is a cloud-config as cloud-init reads it.
type cloud struct {
	WriteFiles []struct {
		Path, Owner, Permissions, Content string
		Defer                             bool
	} `json:"write_files"`
	RunCmd []string `json:"runcmd"`
}

func parse(t *testing.T, text []byte) (cloud, map[string]string) {
	t.Helper()

	body, ok := strings.CutPrefix(string(text), "#cloud-config\n")
	if !ok {
		t.Fatalf("it does not begin with #cloud-config")
	}

	var c cloud
	if err := yaml.Unmarshal([]byte(body), &c); err != nil {
		t.Fatal(err)
	}

	files := map[string]string{}
	for _, f := range c.WriteFiles {
		files[f.Path] = f.Content
	}

	return c, files
}

func TestKubeadm_golden(t *testing.T) {
	t.Parallel()

	for _, version := range []string{"1.30.14", "1.31.4", "1.37.2"} {
		t.Run("v"+version, func(t *testing.T) {
			t.Parallel()

			minor := version[:strings.LastIndex(version, ".")]
			for kind, text := range all(t, profile(version), pki(t)) {
				golden(t, minor+"/"+kind+".yaml", text)

				_, files := parse(t, text)
				for _, path := range []string{"/run/kubeadm/kubeadm.yaml", "/run/kubeadm/kubeadm-join-config.yaml"} {
					if files[path] != "" {
						golden(t, minor+"/"+kind+"-kubeadm.yaml", []byte(files[path]))
					}
				}
			}
		})
	}
}

func TestKubeadm_files(t *testing.T) {
	t.Parallel()

	p := pki(t)

	for kind, text := range all(t, profile("1.37.2"), p) {
		c, files := parse(t, text)

		for _, f := range c.WriteFiles {
			want := map[bool]string{true: "0600", false: "0640"}[strings.HasSuffix(f.Path, ".key")]
			if strings.HasPrefix(f.Path, "/etc/kubernetes/pki/") && (f.Permissions != want || f.Owner != "root:root" || f.Defer) {
				t.Errorf("%s: %s is %s of %s, want %s", kind, f.Path, f.Permissions, f.Owner, want)
			}

			if f.Path == "/home/ops/.profile" && !f.Defer {
				t.Errorf("%s: %s is written before its owner is made", kind, f.Path)
			}
		}

		if kind == "worker" {
			continue
		}

		for path, want := range map[string]string{
			"ca.crt": p.CA.Certificate, "ca.key": p.CA.Key, "etcd/ca.crt": p.EtcdCA.Certificate, "etcd/ca.key": p.EtcdCA.Key,
			"front-proxy-ca.crt": p.FrontProxyCA.Certificate, "front-proxy-ca.key": p.FrontProxyCA.Key,
			"sa.pub": p.ServiceAccount.Certificate, "sa.key": p.ServiceAccount.Key,
		} {
			if files["/etc/kubernetes/pki/"+path] != want {
				t.Errorf("%s: %s is not what was made", kind, path)
			}
		}

		if !strings.Contains(files["/etc/kubernetes/audit.yaml"], "Policy") {
			t.Errorf("%s lacks the file for control planes", kind)
		}
	}
}

// TestKubeadm_workerHasNoKey holds the user data of a worker against every secret that there is.
func TestKubeadm_workerHasNoKey(t *testing.T) {
	t.Parallel()

	p := pki(t)

	k := profile("1.37.2")
	text := string(all(t, k, p)["worker"])

	given, err := k.For(worker(vars()), false, p, token(), 0)
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range given.Files {
		text += f.Content
	}

	for _, secret := range []string{"PRIVATE KEY", "/etc/kubernetes/pki", "kube-vip", "audit.yaml", p.CA.Key, p.ServiceAccount.Key} {
		if strings.Contains(text, secret) {
			t.Errorf("a worker gets %q", secret)
		}
	}
}

// TestKubeadm_kubeVIPOfTheFirst is the trap of kube-vip/kube-vip#684.
func TestKubeadm_kubeVIPOfTheFirst(t *testing.T) {
	t.Parallel()

	for version, borrows := range map[string]bool{"1.28.15": false, "1.29.8": true, "1.37.2": true} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()

			for kind, text := range all(t, profile(version), pki(t)) {
				c, files := parse(t, text)
				manifest, commands := files["/etc/kubernetes/manifests/kube-vip.yaml"], strings.Join(c.RunCmd, "\n")

				if want := borrows && kind == "init"; strings.Contains(manifest, "super-admin.conf") != want || strings.Contains(commands, "super-admin.conf") != want {
					t.Errorf("%s: super-admin.conf is used: %v, want %v\n%s", kind, !want, want, commands)
				}
			}
		})
	}
}

func TestKubeadm_marker(t *testing.T) {
	t.Parallel()

	c, _ := parse(t, all(t, profile("1.37.2"), pki(t))["init"])

	want := []string{
		"mkdir -p /run/cluster-api", "swapoff -a", `echo "{{ not jinja }}"`,
		"kubeadm init --config /run/kubeadm/kubeadm.yaml && sed -i 's#/etc/kubernetes/super-admin.conf#/etc/kubernetes/admin.conf#' " +
			"/etc/kubernetes/manifests/kube-vip.yaml && echo success > /run/cluster-api/bootstrap-success.complete",
		"kubectl version || true",
	}
	if got := strings.Join(c.RunCmd, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("commands:\n%s", got)
	}
}

func TestKubeadm_keepalived(t *testing.T) {
	t.Parallel()

	k := profile("1.31.0")
	k.KubeVIP, k.Keepalived = nil, &bootstrap.Keepalived{Interface: "eth0", RouterID: 51}

	for kind, text := range all(t, k, pki(t)) {
		c, files := parse(t, text)
		if conf := files["/etc/keepalived/keepalived.conf"]; strings.Contains(conf, "192.0.2.10/32") == (kind == "worker") {
			t.Errorf("%s: %s", kind, conf)
		}

		if strings.Contains(strings.Join(c.RunCmd, "\n"), "keepalived") == (kind == "worker") {
			t.Errorf("%s: %v", kind, c.RunCmd)
		}
	}
}
