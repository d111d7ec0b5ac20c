// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephmaintenance_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// TestMaintenance_onARealCluster takes a host out of service and back: first one that is
// needed, then one that is not.
func TestMaintenance_onARealCluster(t *testing.T) {
	t.Parallel()

	one := acctest.CephOne(t, 3)
	id := one.ID(t)
	server := providertest.NewServer(t)

	if text := providertest.Errors(server.Configure(t, nil)); text != "" {
		t.Fatal(text)
	}

	// Two OSDs on a host of their own, as far as CRUSH knows.
	one.CLI(t, "osd", "crush", "add-bucket", "spare", "host")
	one.CLI(t, "osd", "crush", "move", "spare", "root=default")

	for _, osd := range []string{"osd.1", "osd.2"} {
		one.CLI(t, "osd", "crush", "set", osd, "0.004", "root=default", "host=spare")
	}

	one.CLI(t, "osd", "pool", "create", "p", "8", "8", "replicated", "--size", "3")
	one.CLI(t, "osd", "pool", "set", "p", "min_size", "2")

	invoke := func(host, mode string) (string, string) {
		said, diags := server.Invoke(t, "metal3_ceph_maintenance", providertest.Map{"cluster_id": id, "host": host, "mode": mode, "timeout": "2m"})

		return strings.Join(said, "\n"), providertest.Errors(diags)
	}

	check := func(text string, wants ...string) {
		t.Helper()

		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in %q", want, text)
			}
		}
	}

	if said, errs := invoke("spare", "exit"); errs != "" {
		t.Fatalf("the cluster does not settle: %s: %s", said, errs)
	}

	// min_size 2 of 3 copies, and two of them are there.
	_, errs := invoke("spare", "enter")
	check(errs, "cannot be spared", "placement groups", "2.", "Nothing was changed")

	if strings.Contains(one.CLI(t, "osd", "dump"), "noout") {
		t.Error("a refusal left the flag")
	}

	_, errs = invoke("nowhere", "enter")
	check(errs, "no such host", "spare")

	one.CLI(t, "osd", "pool", "set", "p", "min_size", "1")

	said, errs := invoke("spare", "enter")
	check(said, "osd.1, osd.2", "is in maintenance")

	if errs != "" || !strings.Contains(one.CLI(t, "osd", "dump"), "crush node spare flags noout") && !strings.Contains(one.CLI(t, "osd", "dump", "-f", "json"), `"crush_node_flags":{"spare":["noout"]}`) {
		t.Errorf("the flag is not set: %s: %s", errs, one.CLI(t, "osd", "dump"))
	}

	one.Stop(t, "osd.1", "osd.2")

	if said, errs = invoke("spare", "enter"); errs == "" {
		check(said, "already")
	}

	one.Start(t, "osd.1", "osd.2")

	said, errs = invoke("spare", "exit")
	check(said, "no longer in maintenance", "Not yet", "are clean")

	if errs != "" || strings.Contains(one.CLI(t, "osd", "dump"), "noout") {
		t.Errorf("the flag is still there: %s", errs)
	}

	// The only monitor is on this host.
	_, hostname, _ := strings.Cut(one.CLI(t, "mon", "metadata", "a"), `"hostname": "`)
	hostname, _, _ = strings.Cut(hostname, `"`)

	_, errs = invoke(hostname, "enter")
	check(errs, "no quorum")
}
