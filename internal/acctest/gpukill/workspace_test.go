// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// workspace is a folder in which Terraform runs against a lab.
type workspace struct {
	*tfrun.Workspace

	far     *far
	journal string // journal_dir
}

// newWorkspace makes a folder whose provider block points at a lab, through one of its faces.
func newWorkspace(t *testing.T, f *far, face string) *workspace {
	t.Helper()

	journal := filepath.Join(t.TempDir(), "journal")

	return &workspace{Workspace: tfrun.NewOf(t, providerDir(t), f.block(face, journal)), far: f, journal: journal}
}

// block is the provider block.
func (f *far) block(face, journal string) string {
	return fmt.Sprintf(`provider "metal3" {
  fabric = {
    type             = %q
    endpoint         = %q
    allow_plain_http = true
    tenant_id        = %q
    cluster_id       = %q
    journal_dir      = %q
    poll_interval    = "500ms"
    auth             = { realm = %q, client_id = %q, client_secret = %q, username = %q, password = %q }
  }
}
`, face, f.endpoint, fabric.Tenant, fabric.Cluster, journal, fabric.Realm, fabric.ClientID, fabric.ClientSecret, fabric.Username, fabric.Password)
}

func (w *workspace) apply() string {
	w.T.Helper()

	return w.Must("apply", "-auto-approve")
}

// object is one resource of the state as it is on disk.
type object struct {
	Status     string `json:"status"` // "tainted" or empty
	Attributes struct {
		Size    int    `json:"size"`
		State   string `json:"state"`
		Devices []struct {
			ID       string `json:"fabric_device_id"`
			DeviceID string `json:"device_id"`
			BusID    string `json:"pci_bus_id"`
			State    string `json:"state"`
		} `json:"devices"`
		Hosts []struct {
			Name string `json:"name"`
		} `json:"hosts"`
	} `json:"attributes"`
}

// state returns the resources in the state file by the name of their first host.
func (w *workspace) state() map[string]object {
	w.T.Helper()

	all := map[string]object{}
	for _, o := range tfrun.Instances[object](w.Workspace) {
		all[o.Attributes.Hosts[0].Name] = o
	}

	return all
}

// ids are the fabric's ids of a resource's devices, sorted; Redfish has them at the end of a path.
func (o object) ids() []string {
	var ids []string
	for _, d := range o.Attributes.Devices {
		ids = append(ids, path.Base(d.ID))
	}

	slices.Sort(ids)

	return ids
}

// online reports whether all devices are usable.
func (o object) online() bool {
	for _, d := range o.Attributes.Devices {
		if d.State != "Online" {
			return false
		}
	}

	return o.Attributes.State == "Running" && o.Status == ""
}

// open are the files of the journal.
func (w *workspace) open() []string {
	w.T.Helper()

	files, err := filepath.Glob(filepath.Join(w.journal, "*.json"))
	if err != nil {
		w.T.Fatal(err)
	}

	return files
}
