# Take a GPU out of use before somebody looks at it: terraform apply -invoke=action.metal3_gpu_drain.suspect
action "metal3_gpu_drain" "suspect" {
  config {
    device_id = "GPU-a83da4d9-d250-ff86-30e7-352b57eb9202"

    node = {
      host             = "gpu-07.example.com"
      user             = "admin"
      private_key_file = "~/.ssh/id_ed25519"
      known_hosts_file = "~/.ssh/known_hosts"
      sudo             = true
    }
  }
}

# And give it back.
action "metal3_gpu_drain" "again" {
  config {
    device_id = "GPU-a83da4d9-d250-ff86-30e7-352b57eb9202"
    undrain   = true

    node = {
      host = "gpu-07.example.com"
      user = "admin"
      sudo = true
    }
  }
}
