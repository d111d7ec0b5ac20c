// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// RescueState does what a person does whose Terraform was killed in the middle of writing its
// state: it empties the file and fills it again, so that a kill in between leaves none, and the
// next run would plan to make everything anew. The copy from before that run is beside it.
func RescueState(t *testing.T, dir string) {
	t.Helper()

	state := filepath.Join(dir, "terraform.tfstate")

	have, err := os.ReadFile(state)
	if err != nil || json.Valid(have) {
		return
	}

	before, err := os.ReadFile(state + ".backup")
	if err != nil || !json.Valid(before) {
		return
	}

	t.Logf("Terraform left %d bytes of a state: the one from before is put back", len(have))

	if err := os.WriteFile(state, before, 0o600); err != nil {
		t.Fatal(err)
	}
}
