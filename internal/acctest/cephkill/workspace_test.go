// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// workspace is a folder in which Terraform runs.
type workspace struct {
	*tfrun.Workspace
}

// object is the cluster in the state as it is on disk.
type object struct {
	Status     string `json:"status"` // "tainted" or empty
	Attributes struct {
		ID           string         `json:"id"`
		FSID         string         `json:"fsid"`
		Phase        string         `json:"phase"`
		Ready        bool           `json:"is_ready"`
		Drift        []string       `json:"drift"`
		Hosts        map[string]any `json:"hosts"`
		MonEndpoints string         `json:"mon_endpoints"`
		OSDs         map[string]any `json:"osds"`
		AdminKeyring string         `json:"admin_keyring"`
		MonSecret    string         `json:"mon_secret"`
	} `json:"attributes"`
}

// state returns the cluster in the state file; nil where there is none.
func (w *workspace) state() *object {
	w.T.Helper()

	for _, o := range tfrun.Instances[object](w.Workspace) {
		return &o
	}

	return nil
}
