import {
  to = metal3_composable_gpu.train
  identity = {
    machine_id = "5a1e0001-7d3c-4c62-9a6f-0f2f6c2d1f7a"
    type       = "gpu"
    model      = "A100"
  }
}
