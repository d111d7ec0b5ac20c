// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// mkfsLimit bounds the making of a store: it takes seconds, and minutes on a busy host.
const mkfsLimit = 10 * time.Minute

// MakeOSD implements [ceph.Host].
//
// An OSD is started only after its record says that it is made. So one whose record does not say
// so holds nothing, and is made anew; one whose record does is never: its folder is rebuilt from the
// label.
func (h *Host) MakeOSD(ctx context.Context, l ceph.Layout, slot ceph.Slot, id int) error {
	if err := checkDir(l); err != nil {
		return err
	}

	switch {
	case id < 0:
		return fmt.Errorf("%w: %d is no id of an OSD", ErrCommand, id)
	case slot.Made && slot.ID != id:
		return fmt.Errorf("%w: %s: %s is the device of osd.%d, not of osd.%d", ceph.ErrInUse, h.Name(), slot.Path, slot.ID, id)
	case !ceph.ValidKey(slot.Secret):
		return fmt.Errorf("%w: the record of %s on %s has no key", ErrCommand, slot.Path, h.Name())
	}

	err := h.do(ctx, remote.Command{
		Script: scriptMakeOSD,
		Params: []string{l.Dir, l.FSID, slot.Key, strconv.Itoa(id), l.User, slot.UUID},
		Stdin:  []byte(slot.Secret),
		Limit:  mkfsLimit,
	})
	if err != nil {
		return fmt.Errorf("osd.%d: %w", id, err)
	}

	if slot.Made {
		return nil
	}

	slot.ID, slot.Made = id, true

	return h.writeSlot(ctx, l, slot)
}

// Forget implements [ceph.Host].
func (h *Host) Forget(ctx context.Context, l ceph.Layout, slot ceph.Slot) error {
	if err := checkSlot(l, slot); err != nil {
		return err
	}

	err := h.do(ctx, remote.Command{Script: scriptForget, Params: []string{l.Dir, slot.Key, slot.UUID}})
	if err != nil {
		return fmt.Errorf("forgetting %s on %s: %w", slot.Path, h.Name(), err)
	}

	return nil
}

// scriptForget deletes the record $2 of the cluster in the folder $1, unless it is not of the uuid $3 by
// now: with it would go the key of an encrypted device. The key goes first, then the record: a folder
// with neither is none.
const scriptForget = `# metal3: ceph-forget
` + shSlot + shSay + `
rec=$1/slots/$2/slot.json
if [ -e "$rec" ] || [ -L "$rec" ]; then
  load "$rec"
  [ -n "$uuid" ] && [ "$uuid" = "$3" ] || die 91 "$rec is the record of another OSD, with the uuid ${uuid:-that cannot be read}"
fi
rm -f "$1/slots/$2/luks" && rm -f "$rec" && rm -rf "${1:?}/slots/${2:?}"
`

// checkSlot refuses a record whose folder would be another one.
func checkSlot(l ceph.Layout, s ceph.Slot) error {
	if err := checkDir(l); err != nil {
		return err
	}

	if s.Key == "" || path.Base(s.Key) != s.Key || s.Key[0] == '.' {
		return fmt.Errorf("%w: %q is no name of a record", ErrLayout, s.Key)
	}

	return nil
}

// scriptMakeOSD makes the store of an OSD: 1 the cluster's folder, 2 the fsid, 3 the record, 4 the
// id, 5 the daemons' user, 6 the uuid; the key is the standard input. It must not end in a line
// break: mkfs copies it into the label as it is.
//
//   - a folder with our mark is complete
//   - a record that says "made" and no such folder: the folder is rebuilt from the label
//   - else what is on the device is nothing, or the half of an earlier try with this uuid; the rest
//     of such a try is written over, because a half-made store refuses to be made
//
// mkfs makes the link block.db itself and fails where it finds one.
const scriptMakeOSD = `# metal3: ceph-make-osd
dir=$1 fsid=$2 key=$3 id=$4 user=$5
data=$dir/osd/$id
` + shActivate + shWriteActivate + shOwn + shProve + `
IFS= read -r secret || [ -n "$secret" ] || die 1 'no key came'
umask 077
rec=$dir/slots/$key/slot.json
[ -f "$rec" ] || die 1 "there is no $rec"
load "$rec"
[ "$uuid" = "$6" ] || die 1 "$rec is the record of another OSD"
blank() {
  if [ -f "$1" ]; then
    size=$(stat -L -c %s "$1") && truncate -s 0 "$1" && truncate -s "$size" "$1" || exit 1
  else
    dd if=/dev/zero of="$1" bs=1048576 count=10 conv=notrunc,fsync 2>/dev/null || die 1 "$1 cannot be written"
  fi
}
mine() {
  if head_of "$1"; then
    ours "$1"
    [ "$hr" = "$2" ] || die 92 "$1 is the $hr of this OSD, not its $2"
    return 0
  fi
  [ "$made" != true ] || die 93 "$1: the label of osd.$id is no longer on it"
  why=$(sigs_of "$1" | head -n 1)
  [ -z "$why" ] || die 92 "$1 holds data: $why"
  return 1
}
finish() {
  printf '[osd.%s]\n\tkey = %s\n' "$id" "$secret" >"$data/keyring" || exit 1
  [ "$(cat "$data/fsid")" = "$uuid" ] || die 1 "$data is not of the OSD $uuid"
  for f in "$data" "$data"/*; do
    [ -z "$user" ] || chown -h "$user:$user" "$f" || exit 1
  done
  write_activate
  sync -f "$data" 2>/dev/null || sync
  printf '%s\n' "$fsid" >"$data/done.new" && own "$data/done.new" && mv -f "$data/done.new" "$data/done"
}
if [ -f "$data/done" ]; then
  read -r mark x <"$data/done"
  [ "$mark" = "$fsid" ] || die 91 "$data is the folder of an OSD of the cluster ${mark:-that it does not name}"
  [ "$(cat "$data/fsid" 2>/dev/null)" = "$uuid" ] || die 91 "$data is the folder of another OSD"
  write_activate
  activate
  exit 0
fi
of=$(cat "$data/ceph_fsid" 2>/dev/null)
[ -z "$of" ] || [ "$of" = "$fsid" ] || die 91 "$data is the folder of an OSD of the cluster $of"
unlock "$dir/slots/$key" || die 93 "$path cannot be opened"
dev=$(find_main)
[ -n "$dev" ] || die 93 "$path"
mine "$dev" main && old=1 || old=
dbdev= olddb=
if [ -n "$db" ]; then
  dbdev=$(find_db)
  [ -n "$dbdev" ] || die 93 "$db"
  mine "$dbdev" 'bluefs db' && olddb=1
fi
why=$(printf '%s\n%s\n' "$dev" "$dbdev" | grep . | busy_all | cut -f 2,3 | tr '\t' ' ' | head -n 1)
[ -z "$why" ] || die 92 "$why"
rm -rf "${data:?}" && mkdir -m 750 "$data" && own "$data" "$dev" || exit 1
[ -z "$dbdev" ] || own "$dbdev" || exit 1
lead "$dev" "$data" block
if [ "$made" = true ]; then
  [ -z "$dbdev" ] || lead "$dbdev" "$data" block.db
  ceph-bluestore-tool prime-osd-dir --path "$data" --dev "$dev" >&2 || exit 1
  finish
  exit
fi
[ -z "$old" ] || blank "$dev"
[ -z "$olddb" ] || blank "$dbdev"
set -- -c "$dir/ceph.conf" -i "$id" --mkfs --osd-uuid "$uuid" --osd-data "$data" --keyfile -
[ -z "$dbdev" ] || set -- "$@" --bluestore-block-db-path "$dbdev"
[ -z "$user" ] || set -- "$@" --setuser "$user" --setgroup "$user"
printf %s "$secret" | ceph-osd "$@" >&2 || exit 1
finish
`
