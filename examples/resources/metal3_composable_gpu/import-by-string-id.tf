import {
  to = metal3_composable_gpu.train
  id = "5a1e0001-7d3c-4c62-9a6f-0f2f6c2d1f7a/gpu/A100"
}
