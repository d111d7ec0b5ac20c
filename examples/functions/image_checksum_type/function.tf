output "type" {
  value = provider::metal3::image_checksum_type(sha256("the image")) # "sha256"
}
