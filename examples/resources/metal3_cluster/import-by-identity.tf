import {
  to = metal3_cluster.edge
  identity = {
    id = "metal3/edge"
  }
}
