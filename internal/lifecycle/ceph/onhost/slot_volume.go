// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"path"
	"strconv"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// volume is the logical volume of an OSD. Its group is named after the device, so that all OSDs on
// the device are in one.
func volume(l ceph.Layout, s ceph.Slot) string {
	sum := sha256.Sum256([]byte(l.FSID + "\x00" + s.Path))

	return path.Join("/dev", "metal3-ceph-"+hex.EncodeToString(sum[:8]), "osd-"+strconv.Itoa(s.Index))
}

// makeVolume makes the volume of an OSD: the group with its tag first, then its share of what is free.
func (h *Host) makeVolume(ctx context.Context, l ceph.Layout, s ceph.Slot, count int) error {
	group, name := path.Split(s.Volume)

	return h.do(ctx, remote.Command{
		Script: scriptVolume,
		Params: []string{path.Join(l.Slots(), s.Key, "slot.json"), l.FSID, path.Base(group), name, strconv.Itoa(max(count, 1))},
	})
}

// shVolumes is the shell function that lets one at a time make and delete volumes: several OSDs of
// a device, which share its group, are made and wiped side by side. It takes the folder of records.
const shVolumes = `
volumes() { exec 9>"$1/.volumes" && flock 9 || exit 1; }
`

// scriptVolume makes a logical volume: 1 the record, 2 the fsid, 3 group, 4 volume, 5 how many share
// the device. The tags are the proof that group and volume are ours: a group of that name without it
// is not touched.
//
// LVM makes a group on a device that holds a file system, with --yes without a question. So that the
// device holds nothing is found out right before; the record may be older than what is on it now. What
// a making that was cut off left there (LVM marks the device first) is known by the note beside the
// record.
const scriptVolume = `# metal3: ceph-slot-volume
` + shSlot + shSay + shProve + shVolumes + `
load "$1"
tag=metal3.fsid=$2 begun=${1%/*}/grouping
volumes "${1%/*/*}"
if tags=$(vgs --noheadings -o vg_tags "$3" 2>/dev/null); then
  case ,$(echo $tags), in *",$tag,"*) ;; *) die 91 "the volume group $3 is there and is not of this cluster" ;; esac
else
  dev=$path
  [ -z "$link" ] || dev=$link
  [ -b "$dev" ] || die 93 "$path"
  idle "$dev"
  ! head_of "$dev" || die 92 "$dev carries an OSD, with the uuid $hu"
  why=$(sigs_of "$dev" | sort -u)
  if [ "$why" = LVM2_member ] && [ "$(cat "$begun" 2>/dev/null)" = "$dev" ]; then
    g=$(pvs --noheadings -o vg_name "$dev") && [ -z "$(echo $g)" ] && why=
  fi
  [ -z "$why" ] || die 92 "$dev holds data: $(echo $why)"
  echo "$dev" >"$begun" && { sync "$begun" 2>/dev/null || sync; } || exit 1
  vgcreate --yes --addtag "$tag" "$3" "$dev" >&2 || exit 1
fi
rm -f "$begun"
if ! lvs "$3/$4" >/dev/null 2>&1; then
  left=$(($5 - $(lvs --noheadings "$3" 2>/dev/null | grep -c .)))
  [ "$left" -gt 0 ] || left=1
  lvcreate --yes --wipesignatures n --zero n --addtag "$tag" --addtag "metal3.osd=$uuid" -l "$((100 / left))%FREE" -n "$4" "$3" >&2 || exit 1
fi
lvchange -ay "$3/$4" >&2
`

// encrypt makes an encrypted mapping on the device of an OSD. The key is made here and comes through
// standard input; it lies in the folder of the record.
//
// That protects a disk that leaves the host, not one that leaves with the host: the key is on the
// host's own disk.
func (h *Host) encrypt(ctx context.Context, l ceph.Layout, s ceph.Slot) error {
	var key [48]byte

	_, _ = rand.Read(key[:]) // it never fails

	return h.do(ctx, remote.Command{
		Script: scriptEncrypt,
		Params: []string{slotDir(l, s.Key)},
		Stdin:  []byte(base64.StdEncoding.EncodeToString(key[:])),
	})
}

// scriptEncrypt makes and opens the mapping of the record in the folder $1. The key that was written
// first counts for ever: a run that ended between writing it and formatting goes on with it. A
// header that is there is ours if our key opens it, and no other is written over.
const scriptEncrypt = `# metal3: ceph-slot-encrypt
` + shSlot + shSay + shProve + shUnlock + `
umask 077
load "$1/slot.json"
key=$1/luks
if [ ! -s "$key" ]; then
  cat >"$key.new" && [ -s "$key.new" ] && { sync "$key.new" 2>/dev/null || sync; } && mv "$key.new" "$key" || exit 1
fi
[ ! -b "$mapped" ] || exit 0
dev=$(bare)
[ -n "$dev" ] || die 93 "$path"
if cryptsetup isLuks "$dev" 2>/dev/null; then
  cryptsetup open --test-passphrase --key-file "$key" "$dev" >/dev/null 2>&1 || die 91 "$dev is encrypted with a key that is not ours"
else
  idle "$dev"
  ! head_of "$dev" || die 92 "$dev carries an OSD, with the uuid $hu"
  [ -z "$(sigs_of "$dev")" ] || die 92 "$dev holds data: $(sigs_of "$dev" | head -n 1)"
  cryptsetup --batch-mode luksFormat --type luks2 --key-file "$key" "$dev" >&2 || exit 1
fi
unlock "$1"
`

// shUnlock is the shell function that opens the mapping of a record, after a reboot for one.
const shUnlock = `
unlock() {
  if [ -n "$volume" ] && [ ! -b "$volume" ]; then lvchange -ay "${volume#/dev/}" >&2; fi
  if [ "$encrypted" != true ] || [ -b "$mapped" ]; then return 0; fi
  ud=$(bare)
  [ -n "$ud" ] || return 1
  cryptsetup open --key-file "$1/luks" "$ud" "${mapped##*/}" >&2
}
`
