# A real Ceph on this machine alone, all of it below one folder: a monitor, a manager, three OSDs
# on sparse files, and a pool. `make demo` applies this, and writes and reads an object.

terraform {
  required_providers {
    metal3 = { source = "terraform-metal3/metal3" }
  }
}

provider "metal3" {}

variable "host" {
  type        = string
  description = "Name of this machine, as uname -n prints it."
}

variable "dir" {
  type        = string
  default     = "/var/tmp/metal3-demo"
  description = "Where it lives. A short path: sockets lie below it."
}

variable "osds" {
  type        = number
  default     = 3
  description = "How many OSDs; more of them are added, fewer are drained and removed."
}

resource "metal3_ceph_cluster" "demo" {
  name = "demo"

  hosts = {
    (var.host) = {
      address    = "127.0.0.1"
      connection = { type = "local" }
      roles      = ["mon", "mgr", "osd"]
    }
  }

  mon     = { count = 1 }
  mgr     = { count = 1 }
  network = { public = ["127.0.0.0/8"], ports = { msgr2 = 43400, msgr1 = 46889 } }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for i in range(var.osds) : { host = var.host, path = "${var.dir}/osd${i}.img" }]
  }

  pool_defaults = { failure_domain = "osd" }
  config        = { mon = { mon_data_avail_warn = "5" } } # a laptop's disk is often rather full
  data_dir      = "${var.dir}/ceph"
  cleanup       = { confirmation = "yes-really-destroy-data", wipe_devices = "quick" }
}

resource "metal3_ceph_pool" "demo" {
  cluster_id  = metal3_ceph_cluster.demo.id
  name        = "demo"
  size        = 2
  application = "rados"

  allow_delete_with_data = true # without it a pool that holds objects is not deleted
}

output "fsid" {
  description = "Made once; nothing but destroy ends it."
  value       = metal3_ceph_cluster.demo.fsid
}

output "health" {
  description = "What Ceph says of itself."
  value       = metal3_ceph_cluster.demo.health
}

output "conf" {
  description = "For ceph --conf, with the keyring beside it."
  value       = "${var.dir}/ceph/ceph.conf"
}

output "pool" {
  description = "Where the demo's object is."
  value       = metal3_ceph_pool.demo.name
}
