import {
  to = metal3_cluster.edge
  id = "metal3/edge"
}
