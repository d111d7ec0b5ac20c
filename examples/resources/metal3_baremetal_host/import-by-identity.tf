import {
  to = metal3_baremetal_host.web
  identity = {
    uuid = "8f6f0c52-3c55-4a4b-9d0f-2f6c2d1f7a10"
  }
}
