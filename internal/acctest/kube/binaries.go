// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package kube runs Kubernetes' own servers for tests, without containers and without a kubelet:
// an API server on its etcd ([Start]), a control plane of kubeadm from the user data of its machine
// ([Boot]), and hosts that join it ([Join]). scripts/lab/kube.sh builds the servers, once.
package kube

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// Release is the one that scripts/lab/kube.sh builds: that of test/kube/go.mod.
const Release = "v1.37.2"

// Binaries returns the folder with etcd, kube-apiserver, kube-controller-manager and kubeadm. It
// skips where one of them is missing, and in a short run.
func Binaries(tb testing.TB) string {
	tb.Helper()

	if testing.Short() {
		tb.Skip("this is the short run")
	}

	folder := os.Getenv("METAL3_TEST_KUBE_BIN")

	if folder == "" {
		cache := os.Getenv("XDG_CACHE_HOME")
		if cache == "" {
			cache = filepath.Join(os.Getenv("HOME"), ".cache")
		}

		folder = filepath.Join(cache, "terraform-provider-metal3", "kube-"+Release)
	}

	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubeadm"} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode()&0o100 == 0 {
			if one, ok := tb.(*testing.T); ok {
				acctest.Missing(one, name+" in "+folder+" (scripts/setup.sh kube)")
			}

			tb.Skip("missing part: " + name)
		}
	}

	return folder
}
