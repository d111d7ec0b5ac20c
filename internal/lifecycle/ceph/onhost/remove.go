// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptRemove deletes the folder of a daemon that does not run, and its unit. The proof that it
// is ours is the marker, the file that an OSD keeps its cluster's fsid in, or the note of a store
// that was begun. A folder that is a mount point is emptied and stays.
const scriptRemove = `# metal3: ceph-daemon-remove
` + shellDaemon + shFSID + `
pid=$(pid_of)
if [ -n "$pid" ]; then echo "$type.$id (pid $pid)"; exit 65; fi
if [ -L "$d" ]; then echo "$d is a link" >&2; exit 1; fi
begun=$dir/mon/.making-$id
if [ -d "$d" ]; then
  mark=$(folder_fsid "$d")
  if [ "$mark" != "$fsid" ]; then rmdir "$d" 2>/dev/null || foreign "$d" "$mark"; fi
fi
if [ -d "$d" ]; then
  [ "$type" != mon ] || echo "$fsid" >"$begun" || exit 1
  find "$d" -mindepth 1 -maxdepth 1 ! -name lost+found ! -name done -exec rm -rf {} + || exit 1
  rm -f "$d/done" || exit 1
  if ! rmdir "$d" 2>/dev/null; then
    left=$(ls -A "$d" | grep -vx lost+found)
    [ -z "$left" ] || { echo "$d: cannot delete $left" >&2; exit 1; }
  fi
fi
rm -f "$dir/run/$type.$id.pid" "$dir/run/$type.$id.asok"
[ "$type" != mon ] || rm -f "$begun"
if [ -e "$file" ] || [ -L "$file" ]; then
  rm -f "$file" "/etc/systemd/system/multi-user.target.wants/$unit" || exit 1
  ! command -v systemctl >/dev/null 2>&1 || systemctl daemon-reload
fi
echo removed
`

// Remove implements [ceph.Host].
func (h *Host) Remove(ctx context.Context, l ceph.Layout, d ceph.Daemon) error {
	if err := checkDaemon(l, d); err != nil {
		return err
	}

	return h.do(ctx, remote.Command{Script: scriptRemove, Params: daemonParams(l, d)})
}

// scriptErase deletes what a cluster keeps below its folder, and then the folder if nothing else
// is in it. Before anything goes, all that could be another cluster's is looked at: identity,
// configuration, the folder of each daemon. Identity and configuration go last, so that a second
// try knows what the first one left. Folders of daemons leave their place at once and as a whole:
// one that is half deleted has lost the proof that it is ours. Only names that we make are deleted.
// A folder of a record that has neither that nor a key is what a wipe left that was cut off at its end.
const scriptErase = `# metal3: ceph-erase
dir=$1 fsid=$2
PATH=$PATH:/usr/sbin:/sbin
` + shellForeign + shFSID + findProcesses + `
if [ -L "$dir" ]; then echo "$dir is a link" >&2; exit 1; fi
[ -d "$dir" ] || { echo gone; exit 0; }
proof=
if [ -e "$dir/identity.json" ]; then
  f=$(identity_fsid "$dir/identity.json")
  [ "$f" = "$fsid" ] || foreign "$dir/identity.json" "$f"
  proof=1
fi
if [ -e "$dir/ceph.conf" ]; then
  f=$(conf_fsid "$dir/ceph.conf")
  [ "$f" = "$fsid" ] || foreign "$dir/ceph.conf" "$f"
  proof=1
fi
for type in mon mgr osd mds; do
  for d in "$dir/$type"/*; do
    [ -d "$d" ] || continue
    f=-
    if [ -e "$d/done" ]; then f=; read -r f x <"$d/done"
    elif [ -e "$d/ceph_fsid" ]; then read -r f x <"$d/ceph_fsid"
    elif [ -e "$dir/mon/.making-${d##*/}" ] && [ "$type" = mon ]; then read -r f x <"$dir/mon/.making-${d##*/}"
    elif [ -z "$(ls -A "$d")" ]; then continue
    fi
    [ "$f" = "$fsid" ] || foreign "$d" "$f"
    proof=1
  done
done
running=$(processes)
if [ -n "$running" ]; then echo "$running" | sed 's/^run \([^ ]*\) \([^ ]*\) \([0-9]*\).*/\1.\2 (pid \3)/'; exit 65; fi
for s in "$dir/slots"/*/; do
  [ -e "$s/slot.json" ] || [ -L "$s/slot.json" ] || [ -e "$s/luks" ] || continue
  echo "$s: the record of an OSD, whose device was neither wiped nor given up"
  exit 67
done
while read -r dev at x; do
  case $at in "$dir"/*) echo "$at is mounted"; exit 67 ;; esac
done </proc/mounts
if [ -z "$proof" ]; then
  [ -z "$(find "$dir" ! -type d | head -n 1)" ] || foreign "$dir" -
  echo gone
  exit 0
fi
for f in /etc/systemd/system/metal3-ceph-"$fsid"-*.service; do
  [ -e "$f" ] || continue
  systemctl --quiet disable "${f##*/}" 2>/dev/null
  rm -f "$f" && reload=1
done
[ -z "$reload" ] || systemctl daemon-reload
for e in osd mds mgr mon slots run log crash; do
  [ -e "$dir/$e" ] || [ -L "$dir/$e" ] || continue
  mkdir -p "$dir/tmp" && at=$(mktemp -d "$dir/tmp/gone.XXXXXX") && mv "$dir/$e" "$at/" || rm -rf "${dir:?}/$e" || exit 1
done
rm -rf "${dir:?}/tmp" "$dir/ceph.client.admin.keyring" || exit 1
rm -f "$dir"/.new.?????? "$dir/ceph.conf" && rm -f "$dir/identity.json" || exit 1
rmdir "$dir" 2>/dev/null
echo erased
`

// Erase implements [ceph.Host].
func (h *Host) Erase(ctx context.Context, l ceph.Layout) error {
	if err := checkDaemon(l, ceph.Daemon{Type: ceph.RoleMon, ID: "a"}); err != nil {
		return err
	}

	return h.do(ctx, remote.Command{Script: scriptErase, Params: []string{l.Dir, l.FSID}, Limit: makeLimit})
}
