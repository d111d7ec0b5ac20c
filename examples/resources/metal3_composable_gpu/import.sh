# All devices of a type and model on a machine, or some devices by their ids in the fabric.
terraform import metal3_composable_gpu.train 5a1e0001-7d3c-4c62-9a6f-0f2f6c2d1f7a/gpu/A100
terraform import metal3_composable_gpu.train 5a1e0001-7d3c-4c62-9a6f-0f2f6c2d1f7a/6f8a2c1e-0001,6f8a2c1e-0002
