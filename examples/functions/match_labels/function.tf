locals {
  gpu = {
    match_labels = { gpu = "true" }
    match_expressions = [
      { key = "rack", operator = "NotIn", values = ["r7"] },
      { key = "metal3.io/arch", operator = "Exists" },
    ]
  }

  hosts = {
    node-0 = { gpu = "true", rack = "r1", "metal3.io/arch" = "x86_64" }
    node-1 = { gpu = "true", rack = "r7", "metal3.io/arch" = "x86_64" }
    node-2 = {}
  }
}

output "gpu_hosts" {
  value = [for name, labels in local.hosts : name if provider::metal3::match_labels(local.gpu, labels)] # ["node-0"]
}
