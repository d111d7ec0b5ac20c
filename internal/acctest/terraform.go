// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/tfversion"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// NewAcc is a fast lab for a test with Terraform, which is skipped where none is asked for.
func NewAcc(t *testing.T) Lab {
	t.Helper()

	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1")
	}

	return NewLab(t, lab.Options{Pace: 5 * time.Millisecond})
}

// Acc runs steps with Terraform. Write-only values need 1.11.
func (l Lab) Acc(t *testing.T, steps ...resource.TestStep) {
	t.Helper()

	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: l.Factories(),
		TerraformVersionChecks:   []tfversion.TerraformVersionCheck{tfversion.SkipBelow(tfversion.Version1_11_0)},
		Steps:                    steps,
	})
}
