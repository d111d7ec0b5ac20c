# Three hosts, each with a monitor and OSDs on two devices.
resource "metal3_ceph_cluster" "prod" {
  name = "prod"

  hosts = {
    h1 = { address = "10.0.0.11", crush_location = { rack = "r1" } }
    h2 = { address = "10.0.0.12", crush_location = { rack = "r2" } }
    h3 = {
      address        = "10.0.0.13"
      crush_location = { rack = "r3" }
      connection     = { host = "h3.example.com", user = "admin", sudo = true }
    }
  }

  mon     = { count = 3 }
  mgr     = { count = 2, modules = { prometheus = true, balancer = { mode = "upmap" } } }
  network = { public = ["10.0.0.0/24"] }

  storage = {
    devices = flatten([for host in ["h1", "h2", "h3"] : [
      { host = host, path = "/dev/disk/by-id/nvme-disk0-${host}" },
      { host = host, path = "/dev/disk/by-id/nvme-disk1-${host}" },
    ]])
    # An OSD whose line goes is drained, then removed.
    removal = { allow = true, timeout = "12h" }
  }

  config              = { osd = { osd_memory_target = "8589934592" } }
  deletion_protection = true

  lifecycle {
    postcondition {
      condition     = self.is_ready
      error_message = "The cluster is not ready: ${join("; ", self.drift)}"
    }
  }
}

# A small cluster on this machine alone, on files, to try things out. A destroy leaves nothing.
resource "metal3_ceph_cluster" "laptop" {
  name = "laptop"

  hosts = {
    laptop = { address = "127.0.0.1", connection = { type = "local" } } # the name is what uname -n says
  }

  mon     = { count = 1 }
  mgr     = { count = 1 }
  network = { ports = { msgr2 = 43300, msgr1 = 46789 } }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for i in range(3) : { host = "laptop", path = "/srv/osd${i}.img" }]
  }

  pool_defaults = { failure_domain = "osd" }
  data_dir      = "/srv/ceph-laptop"
  cleanup       = { confirmation = "yes-really-destroy-data", wipe_devices = "quick" }
}

# Devices that are chosen by what they are.
resource "metal3_ceph_cluster" "archive" {
  name = "archive"

  hosts = merge(
    { for i in range(3) : "mon${i}" => { address = "10.0.1.${i + 1}", roles = ["mon", "mgr"] } },
    { for i in range(8) : "store${i}" => { address = "10.0.1.${i + 11}", roles = ["osd"] } },
  )

  storage = {
    selectors = [
      { path_regex = "/dev/disk/by-id/nvme-.*", min_size = "1T", device_class = "fast" },
      { rotational = true, min_size = "4T", limit = 12, device_class = "slow" },
    ]
  }

  packages = "install"
}

# A cluster that somebody else runs, reached through a host with Ceph's client programs.
resource "metal3_ceph_cluster" "theirs" {
  name     = "theirs"
  hosts    = { gateway = { address = "10.0.2.5" } }
  data_dir = "/var/lib/ceph-theirs"

  external = {
    fsid           = "0b2a6a4e-7f0c-4e0b-9a57-2f9f6a3a1d11"
    mon_endpoints  = "[v2:10.9.0.1:3300,v1:10.9.0.1:6789]"
    user           = "client.terraform"
    key_wo         = var.ceph_key
    key_wo_version = 1
  }
}

variable "ceph_key" {
  type      = string
  sensitive = true
  ephemeral = true
}
