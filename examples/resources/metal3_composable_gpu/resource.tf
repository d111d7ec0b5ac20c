# Four GPUs on one machine, each of them proved by the host's own nvidia-smi.
resource "metal3_composable_gpu" "train" {
  model = "A100"
  size  = 4

  hosts = [{
    machine_id = metal3_baremetal_host.train.fabric_machine_id
    name       = metal3_baremetal_host.train.name

    node = {
      host             = "10.0.7.7"
      user             = "admin"
      sudo             = true
      private_key_file = "~/.ssh/id_ed25519"
      known_hosts_file = "~/.ssh/known_hosts"
    }
  }]

  # A GPU that somebody computes on is not taken away; the apply fails and says who.
  force_detach = false

  timeouts = { attach = "10m", drain = "2m" }

  lifecycle {
    postcondition {
      condition     = self.state == "Running"
      error_message = "Only ${length(self.devices)} of ${self.size} GPUs are usable."
    }
  }
}

# One GPU on each of two of three machines, the preferred ones first, if they are large enough.
resource "metal3_composable_gpu" "inference" {
  model             = "L40S"
  size              = 2
  allocation_policy = "differentnode"

  hosts = [for h in metal3_baremetal_host.serve : {
    machine_id = h.fabric_machine_id
    name       = h.name
    capacity   = { cpu_millis = h.hardware.cpu.count * 1000, memory_bytes = h.hardware.ram_mebibytes * 1048576 }
  }]

  other_spec = { milli_cpu = 16000, memory = 64 * 1024 * 1024 * 1024 }
}

# Two GPUs on a node of a cluster. Its API is asked too: a GPU that a pod uses is not taken away, new pods are kept
# from one that goes, and NVIDIA's plug-ins learn of those that come and go.
locals {
  fabric_ids = { for h in metal3_baremetal_host.edge : h.id => h.fabric_machine_id }
}

resource "metal3_composable_gpu" "edge" {
  model = "A100"
  size  = 2

  hosts = [for m in metal3_cluster.edge.machines : {
    machine_id = local.fabric_ids[m.host_id]
    name       = m.name
    node_name  = m.node_name
    node       = { host = m.addresses["nodes"].address, user = "admin", sudo = true }
  } if m.pool == "gpu"]

  workload = {
    kubeconfig    = metal3_cluster.edge.kubeconfig
    resource_type = "dra"
  }
}

# CXL memory. Without a connection to the host nothing is done on its operating system.
resource "metal3_composable_gpu" "memory" {
  type  = "cxlmemory"
  model = "CXL-128G"
  size  = 1
  hosts = [{ machine_id = "5a1e0001-7d3c-4c62-9a6f-0f2f6c2d1f7a" }]
}
