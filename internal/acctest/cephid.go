// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider"
)

// ID is the id of the cluster, for resources on it.
func (o *One) ID(t *testing.T) string {
	t.Helper()

	key, err := os.ReadFile(o.Keyring)
	if err != nil {
		t.Fatal(err)
	}

	layout := ceph.Layout{FSID: o.FSID, Dir: filepath.Dir(o.Conf)}
	if err := os.WriteFile(layout.AdminKeyring(), key, 0o600); err != nil {
		t.Fatal(err)
	}

	return ceph.ClusterID(o.FSID, []string{ceph.LocalHost}, layout.Dir)
}

// Plain are factories of the provider as it is, without any far side of a test.
func Plain() map[string]func() (tfprotov6.ProviderServer, error) {
	return map[string]func() (tfprotov6.ProviderServer, error){
		"metal3": func() (tfprotov6.ProviderServer, error) { return provider.NewServer("test")(), nil },
	}
}

// CLI runs the ceph command as client.admin, and returns what it printed.
func (o *One) CLI(t *testing.T, args ...string) string {
	t.Helper()

	cmd := exec.Command("ceph", append([]string{"--conf", o.Conf, "--keyring", o.Keyring, "--connect-timeout", "30"}, args...)...) //nolint:noctx // it has a limit

	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError

		_ = errors.As(err, &exit)
		t.Fatalf("ceph %v: %v: %s", args, err, exit.Stderr)
	}

	return string(out)
}
