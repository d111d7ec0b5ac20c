// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabrictoken_test

import (
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// TestAccFabricToken_echo gives a token to another provider while Terraform runs. (The echo
// provider stores it, which is for tests alone.)
func TestAccFabricToken_echo(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	l := acctest.NewLab(t, lab.Options{})
	factories := l.Factories()
	factories["echo"] = echoprovider.NewProviderServer()

	data := tfjsonpath.New("data")

	acctest.Acc(t, factories, resource.TestStep{
		Config: acctest.ProviderBlock + `
ephemeral "metal3_fabric_token" "this" {}

provider "echo" {
  data = ephemeral.metal3_fabric_token.this
}

resource "echo" "token" {}
`,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.token", data.AtMapKey("token_type"), knownvalue.StringExact("Bearer")),
			statecheck.ExpectKnownValue("echo.token", data.AtMapKey("endpoint"), knownvalue.StringExact(lab.FabricEndpoint)),
			statecheck.ExpectKnownValue("echo.token", data.AtMapKey("access_token"), knownvalue.StringRegexp(regexp.MustCompile(`\S{10}`))),
		},
	})
}
