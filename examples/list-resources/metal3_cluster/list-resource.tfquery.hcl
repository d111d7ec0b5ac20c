# All clusters of a namespace, with `terraform query`.
list "metal3_cluster" "all" {
  provider = metal3

  config {
    namespace = "metal3"
  }
}
