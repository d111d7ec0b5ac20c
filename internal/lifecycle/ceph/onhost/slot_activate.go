// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

// shActivate is the shell function activate, which makes an OSD's folder fit the host of today:
// volumes and mappings are opened, the links block and block.db lead to where the label is found,
// whatever the kernel calls it since the last boot, and the devices belong to the daemons' user,
// which udev takes back at each boot. It wants dir, fsid, key, id and user.
const shActivate = shSlot + shSay + shUnlock + `
lead() {
  to=$1
  if [ -n "$link" ] && [ "$3" = block ] && [ "$(readlink -f "$link")" = "$1" ]; then to=$link; fi
  if [ "$(readlink "$2/$3")" != "$to" ]; then ln -sfn "$to" "$2/$3" || exit 1; fi
  [ -z "$user" ] || { chown -h "$user:$user" "$2/$3" && chown "$user:$user" "$1"; } || exit 1
}
activate() {
  load "$dir/slots/$key/slot.json"
  unlock "$dir/slots/$key" || die 93 "$path cannot be opened"
  dev=$(find_main)
  [ -n "$dev" ] || die 93 "$path: the device of osd.$id is not there"
  is_label "$dev" main || die 93 "$dev: the label of osd.$id is not on it"
  lead "$dev" "$dir/osd/$id" block
  if [ -n "$db" ]; then
    dbdev=$(find_db)
    [ -n "$dbdev" ] && is_label "$dbdev" 'bluefs db' || die 93 "$db: the DB of osd.$id is not there"
    lead "$dbdev" "$dir/osd/$id" block.db
  fi
}
`

// shWriteActivate writes the script "activate" into the folder of a record: what starts the daemon
// runs it first, systemd at boot, too. Its text comes in a quoted here-document; the name of the
// cluster's folder is a plain word by [checkDir].
const shWriteActivate = `
write_activate() {
  to=$dir/slots/$key/activate
  { printf '#!/bin/sh\n# metal3: ceph-activate\ndir=%s\nfsid=%s\nkey=%s\nid=%s\nuser=%s\n' "$dir" "$fsid" "$key" "$id" "$user"
    cat <<'METAL3_END'
` + shActivate + `
activate
METAL3_END
  } >"$to.new" && chmod 700 "$to.new" && mv -f "$to.new" "$to" || exit 1
}
`
