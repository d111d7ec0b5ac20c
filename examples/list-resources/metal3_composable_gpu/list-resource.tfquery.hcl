# What is attached to machines of the fabric, whoever attached it: one result for each
# machine, type and model. `terraform query -generate-config-out=gpus.tf` makes imports of it.
list "metal3_composable_gpu" "all" {
  provider = metal3
}

list "metal3_composable_gpu" "a100" {
  provider         = metal3
  include_resource = true

  config {
    type  = "gpu"
    model = "A100"
  }
}
