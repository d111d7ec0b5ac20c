terraform {
  required_providers {
    metal3 = {
      source = "terraform-metal3/metal3"
    }
  }
}

variable "ironic_password" {
  type      = string
  sensitive = true
  default   = "not-this-one"
}

variable "bmc_password" {
  type      = string
  sensitive = true
  default   = "nor-this-one"
}

# On a laptop: an Ironic and eight machines inside the provider, with a memory in a directory.
provider "metal3" {
  lab = {
    dir = "${path.root}/.metal3-lab"
  }
}

# An Ironic of your own, as Metal3 deploys it: TLS and one user.
provider "metal3" {
  alias = "rack"

  ironic = {
    endpoint           = "https://ironic.example.com:6385"
    auth               = "http_basic"
    username           = "terraform"
    password           = var.ironic_password
    ca_cert_file       = "/etc/ssl/ironic-ca.pem"
    provisioning_limit = 20
  }

  # For hosts that give no credentials of their own. They are never in the state.
  bmc = {
    username = "admin"
    password = var.bmc_password

    hosts = {
      "bmc-07.example.com" = { username = "root", password = var.bmc_password }
    }
  }

  namespace = "rack1"
  owner_id  = "team-a"
}

# The Ironic of an OpenStack, as clouds.yaml describes it.
provider "metal3" {
  alias = "openstack"

  ironic = {
    cloud = "metal"
  }
}
