import {
  to = metal3_baremetal_host.web
  id = "metal3/rack1-u07"
}
