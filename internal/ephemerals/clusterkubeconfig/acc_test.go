// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterkubeconfig_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/config"
	"github.com/hashicorp/terraform-plugin-testing/echoprovider"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// TestAccClusterKubeconfig_echo gives a kubeconfig to another provider while Terraform runs. (The
// echo provider stores it, which is for tests alone.)
func TestAccClusterKubeconfig_echo(t *testing.T) {
	t.Parallel()
	acctest.OnlyAcc(t)

	p := pki(t, time.Now())

	l := acctest.NewLab(t, lab.Options{})
	factories := l.Factories()
	factories["echo"] = echoprovider.NewProviderServer()

	data := tfjsonpath.New("data")

	acctest.Acc(t, factories, resource.TestStep{
		ConfigVariables: config.Variables{"certificate": config.StringVariable(p.CA.Certificate), "key": config.StringVariable(p.CA.Key)},
		Config: acctest.ProviderBlock + `
variable "certificate" {}

variable "key" {
  ephemeral = true
  sensitive = true
}

ephemeral "metal3_cluster_kubeconfig" "this" {
  ca       = { certificate = var.certificate, private_key = var.key }
  endpoint = { host = "192.0.2.10" }
}

# One that is there already is taken apart.
ephemeral "metal3_cluster_kubeconfig" "again" {
  kubeconfig = ephemeral.metal3_cluster_kubeconfig.this.kubeconfig
}

provider "echo" {
  data = ephemeral.metal3_cluster_kubeconfig.again
}

resource "echo" "kubeconfig" {}
`,
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.kubeconfig", data.AtMapKey("host"), knownvalue.StringExact("https://192.0.2.10:6443")),
			statecheck.ExpectKnownValue("echo.kubeconfig", data.AtMapKey("client_key"), knownvalue.StringRegexp(regexp.MustCompile("PRIVATE KEY"))),
			statecheck.ExpectKnownValue("echo.kubeconfig", data.AtMapKey("cluster_ca_certificate"), knownvalue.StringExact(p.CA.Certificate)),
		},
	})
}
