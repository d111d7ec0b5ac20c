# A fleet on a real Ironic. The provider block is empty on purpose: IRONIC_ENDPOINT (or
# OS_CLOUD) and the rest come from the environment of the pipeline.

terraform {
  required_version = ">= 1.11"
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

provider "metal3" {
  owner_id = "fleet-berlin" # marks what this configuration owns
}

variable "hosts" {
  description = "Name of each host, and where its BMC is."
  type        = map(object({ bmc = string, rack = string }))
  default = {
    "rack1-u07" = { bmc = "redfish-virtualmedia+https://10.0.7.7/redfish/v1/Systems/1", rack = "r1" }
    "rack1-u08" = { bmc = "redfish-virtualmedia+https://10.0.7.8/redfish/v1/Systems/1", rack = "r1" }
  }
}

variable "bmc_password" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "metal3_baremetal_host" "fleet" {
  for_each = var.hosts
  name     = each.key

  bmc = {
    address             = each.value.bmc
    username            = "admin"
    password_wo         = var.bmc_password
    password_wo_version = 1
  }

  labels            = { rack = each.value.rack }
  failure_domain    = each.value.rack
  on_create_failure = "keep" # one bad machine of hundreds is no reason to begin anew

  image = {
    url      = "https://images.example.com/debian-12.raw"
    checksum = "https://images.example.com/SHA256SUMS"
    format   = "raw"
  }

  timeouts = { create = "3h" }

  lifecycle {
    # With "keep" a failed create is a warning; this makes the run fail, and stops what
    # depends on the host, without tainting it.
    postcondition {
      condition     = self.provisioning_state == "provisioned"
      error_message = "Host ${self.name} is ${self.provisioning_state}: ${coalesce(self.error_message, "see the warning above")}"
    }
  }
}
