# A token of the fabric manager, for a provider that makes a request which this one does not know.
ephemeral "metal3_fabric_token" "this" {}

provider "restapi" {
  uri = ephemeral.metal3_fabric_token.this.endpoint

  headers = {
    Authorization = "${ephemeral.metal3_fabric_token.this.token_type} ${ephemeral.metal3_fabric_token.this.access_token}"
  }
}
