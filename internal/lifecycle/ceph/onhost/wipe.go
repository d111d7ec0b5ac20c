// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// How a device is wiped.
const (
	wipeQuick = "quick"
	wipeFull  = "full"
)

// The limits of a wipe. To write over all of a large disk takes a day, and several times for
// several passes; the context says how long somebody wants to wait.
const (
	quickLimit = 10 * time.Minute
	fullLimit  = 14 * 24 * time.Hour
)

// Wipe implements [ceph.Host].
func (h *Host) Wipe(ctx context.Context, l ceph.Layout, slot ceph.Slot, method string, passes int) error {
	if err := checkSlot(l, slot); err != nil {
		return err
	}

	limit := quickLimit

	switch method {
	case wipeQuick:
	case wipeFull:
		limit = fullLimit
	default:
		return fmt.Errorf("%w: %q is no way to wipe a device", ErrCommand, method)
	}

	err := h.do(ctx, remote.Command{
		Script: scriptWipe,
		Params: []string{l.Dir, l.FSID, slot.Key, slot.UUID, method, strconv.Itoa(max(passes, 1))},
		Limit:  limit,
	})
	if err != nil {
		return fmt.Errorf("wiping %s on %s: %w", slot.Path, h.Name(), err)
	}

	return nil
}

// WipeForeign implements [ceph.Host].
func (h *Host) WipeForeign(ctx context.Context, device, fsid string) error {
	if err := checkPaths(device); err != nil {
		return err
	}

	if fsid == "" {
		return fmt.Errorf("%w: %s: nothing says whose the label of %s is", ceph.ErrForeign, h.Name(), device)
	}

	if err := h.do(ctx, remote.Command{Script: scriptWipeForeign, Params: []string{device, fsid}, Limit: quickLimit}); err != nil {
		return fmt.Errorf("wiping %s on %s: %w", device, h.Name(), err)
	}

	return nil
}

// shWipe are the shell functions that write over a device.
//
//	zero DEV AT COUNT     zeroes COUNT blocks of 64 KiB from block AT on, as far as the device goes
//	wipe DEV METHOD N     quick: all that tells of an OSD, a file system or partitions; full: all of it
//	clean DEV             proves that nothing tells of an OSD any more
//
// Newer releases keep copies of the label at 1, 10, 100 and 1000 GiB and find an OSD by those. A
// partition table has a copy at the end. The start goes last: as long as the label is there, a
// wipe that was cut off is one that has not begun.
const shWipe = `
bytes_of() { if [ -f "$1" ]; then stat -L -c %s "$1"; else blockdev --getsize64 "$1"; fi; }
zero() {
  n=$3
  [ $(($2 + n)) -le "$blocks" ] || n=$((blocks - $2))
  [ "$n" -gt 0 ] || return 0
  dd if=/dev/zero of="$1" bs=65536 seek="$2" count="$n" conv=notrunc,fsync 2>/dev/null
}
wipe() {
  size=$(bytes_of "$1") && [ "$size" -gt 0 ] || return 1
  blocks=$((size / 65536)) rest=$((size % 65536 / 512))
  if [ "$2" = full ]; then
    n=$3
    while [ "$n" -gt 1 ]; do
      shred -n 1 "$1" || return 1
      n=$((n - 1))
    done
    shred -n 0 -z "$1" || return 1
  else
    for g in 1 10 100 1000; do zero "$1" $((g * 16384)) 16 || return 1; done
    end=$((blocks - 160))
    [ "$end" -ge 0 ] || end=0
    zero "$1" "$end" 160 || return 1
    if [ "$rest" -gt 0 ]; then dd if=/dev/zero of="$1" bs=512 seek=$((blocks * 128)) count="$rest" conv=notrunc,fsync 2>/dev/null || return 1; fi
    zero "$1" 16 1584 && zero "$1" 0 16 || return 1
  fi
  [ ! -b "$1" ] || wipefs -a "$1" >/dev/null
}
clean() {
  [ ! -b "$1" ] || blockdev --flushbufs "$1" 2>/dev/null
  if head_of "$1" || [ -n "$(label_of "$1")" ]; then die 1 "$1: the label is still there"; fi
  why=$(sigs_of "$1" | head -n 1)
  [ -z "$why" ] || die 1 "$1: it still holds $why"
  [ "$(head -c 65536 "$1" | tr -d '\000' | head -c 1 | wc -c)" -eq 0 ] || die 1 "$1: its start is not empty"
}
`

// scriptWipeForeign wipes the device $1, which carries an OSD of the cluster $2.
const scriptWipeForeign = `# metal3: ceph-wipe-foreign
` + shLabel + shSay + shProve + shWipe + `
[ -e "$1" ] || die 93 "$1"
head_of "$1" || die 92 "$1 carries no OSD"
of=$(label_get "$1" ceph_fsid)
[ "$of" = "$2" ] || die 91 "$1 carries an OSD of the cluster ${of:-that it does not name}, not of $2"
idle "$1"
wipe "$1" quick 1 || die 1 "$1 cannot be written over"
clean "$1"
`

// scriptWipe wipes what an OSD has and forgets its record: 1 the cluster's folder, 2 the fsid, 3 the
// record, 4 the uuid, 5 the method, 6 the passes.
//
// The proof that a device is ours is its label, and on an encrypted device that our key opens it.
// It is gone once a wipe has begun, so that a note in the record's folder takes its place: the
// device by a name that lasts, or by the kernel's name and the boot it is of.
const scriptWipe = `# metal3: ceph-wipe
dir=$1 fsid=$2 key=$3 method=$5 passes=$6
` + shSlot + shSay + shProve + shUnlock + shWipe + shVolumes + `
slot=$dir/slots/$key rec=$dir/slots/$key/slot.json
[ -f "$rec" ] || { rm -rf "${slot:?}"; exit; }
load "$rec"
[ "$uuid" = "$4" ] || die 91 "$rec is the record of another OSD"
ownfile=$(field own_file "$rec") owndb=$(field own_db "$rec")
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
note() { printf '%s\n%s\n' "$1" "$boot" >"$slot/$2.new" && sync -f "$slot" 2>/dev/null; mv -f "$slot/$2.new" "$slot/$2" || exit 1; }
noted() {
  [ -f "$slot/$1" ] || return 1
  { read -r nd && read -r nb; } <"$slot/$1" || return 1
  case $nd in /dev/disk/*|/dev/mapper/*|/dev/metal3-*) ;; /dev/*) [ "$nb" = "$boot" ] || die 93 "$nd was being wiped when the host went down: nothing says which device that is today" ;; esac
  [ -e "$nd" ] || die 93 "$nd"
}
over() {
  idle "$1"
  to=$1
  [ "$2" != main ] || [ -z "$link" ] || [ "$(readlink -f "$link")" != "$(readlink -f "$1")" ] || to=$link
  [ "$2" != main ] || [ -z "$volume" ] || to=$volume
  note "$to" "wiping-$2"
  if [ "$3" = true ] && [ "$method" = quick ]; then rm -f "$1" || exit 1
  else
    wipe "$1" "$method" "$passes" || die 1 "$1 cannot be written over"
    clean "$1"
    if [ "$3" = true ]; then rm -f "$1"; else chown root:disk "$1" 2>/dev/null; fi
  fi
  note done "wiped-$2"
}
part() {
  [ ! -f "$slot/wiped-$1" ] || return 0
  if [ "$4" = true ] && [ ! -e "$3" ]; then return 0; fi
  if noted "wiping-$1"; then over "$nd" "$1" "$4"; return; fi
  if [ -z "$2" ]; then
    [ "$made" = true ] || return 0
    die 93 "$3"
  fi
  if head_of "$2"; then ours "$2"; over "$2" "$1" "$4"; return; fi
  if [ "$4" = true ]; then over "$2" "$1" true; return; fi
  why=$(sigs_of "$2" | head -n 1)
  [ -z "$why" ] || die 92 "$2 holds data that is not of this OSD: $why"
  [ "$made" != true ] || [ "$method" = quick ] || die 92 "$2: its label is gone, so that nothing proves that it is ours: write over it by hand"
}
` + wipeHidden + `
[ -z "$volume" ] || [ -b "$volume" ] || lvchange -ay "${volume#/dev/}" >&2
if [ "$encrypted" = true ]; then sealed; else part main "$(find_main)" "$path" "$ownfile"; fi
[ -z "$db" ] || part db "$(find_db)" "$db" "$owndb"
[ -z "$volume" ] || ungroup
rm -f "$slot/luks" && rm -f "$rec" && rm -rf "${slot:?}"
`

// wipeHidden is what a wipe does where volumes or encryption lie between the OSD and the device.
const wipeHidden = `
sealed() {
  [ ! -f "$slot/wiped-main" ] || return 0
  if noted wiping-main; then over "$nd" main false; return; fi
  base=$(bare)
  [ -n "$base" ] || die 93 "$path"
  if [ ! -s "$slot/luks" ] || ! cryptsetup isLuks "$base" 2>/dev/null; then
    [ "$made" != true ] || die 91 "$base is not encrypted with a key of ours"
    return 0
  fi
  cryptsetup open --test-passphrase --key-file "$slot/luks" "$base" >/dev/null 2>&1 || die 91 "$base is encrypted with a key that is not ours"
  if [ -b "$mapped" ]; then
    idle "$mapped"
    cryptsetup close "${mapped##*/}" >&2 || die 92 "$mapped is in use"
  fi
  over "$base" main false
}
ungroup() {
  v=${volume#/dev/} g=${volume#/dev/} g=${g%%/*}
  volumes "$dir/slots"
  tags=$(vgs --noheadings -o vg_tags "$g" 2>/dev/null) || return 0
  case ,$(echo $tags), in *",metal3.fsid=$fsid,"*) ;; *) die 91 "the volume group $g is not of this cluster" ;; esac
  if lvs "$v" >/dev/null 2>&1; then
    case ,$(echo $(lvs --noheadings -o lv_tags "$v")), in *",metal3.osd=$uuid,"*) ;; *) die 91 "the volume $v is not of this OSD" ;; esac
    lvremove --yes "$v" >&2 || exit 1
  fi
  if [ -z "$(lvs --noheadings "$g" 2>/dev/null)" ]; then
    pv=$(vgs --noheadings -o pv_name "$g" | tr -d ' ')
    vgremove --yes "$g" >&2 && pvremove --yes $pv >&2 || exit 1
  fi
}
`
