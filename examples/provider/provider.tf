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

variable "fabric_password" {
  type      = string
  sensitive = true
  default   = "nor-that-one"
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

# A composable fabric, and how to log in to the machines that get its devices.
provider "metal3" {
  alias = "gpus"

  fabric = {
    type         = "fti_fm"
    endpoint     = "https://fabric.example.com"
    tenant_id    = "3f1c0f5e-7c0b-4f0e-9d57-0f4f6f2f7b11"
    ca_cert_file = "/etc/ssl/fabric-ca.pem"

    auth = {
      username = "terraform"
      password = var.fabric_password
    }

    # Orders are written down here before they are given. It must outlive a run.
    journal_dir = "/var/lib/terraform-fabric-journal"
  }

  ssh = {
    user             = "admin"
    private_key_file = "/etc/terraform/id_ed25519"
    known_hosts_file = "/etc/terraform/known_hosts"

    bastion = {
      host = "jump.example.com"
    }
  }
}
