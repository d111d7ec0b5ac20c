// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// ErrPath says that a device has a name that we do not work with.
var ErrPath = errors.New("the path of the device cannot be used")

// shSlot are shell functions about the record of an OSD. Records are written by us, a field a
// line, so that a shell can read them.
//
//	load FILE     sets uuid, path, link, volume, db, encrypted and made
//	find_main     prints where the OSD's device is today; nothing: it is not there
//	find_db       prints where its DB is
//
// A label decides, wherever it is. A device that has none yet is found by its link, and by the
// kernel's name only where the record has no link. Of an OSD that was made, only a file is
// believed without a label, and a device whose label is inside (a volume, an encrypted one).
const shSlot = shLabel + `
field() { sed -n 's/^ *"'"$1"'": "\{0,1\}\([^"]*\)"\{0,1\},\{0,1\}$/\1/p' "$2" | head -n 1 | sed 's/,$//'; }
load() {
  uuid=$(field uuid "$1") path=$(field path "$1") link=$(field link "$1") volume=$(field volume "$1")
  db=$(field db "$1") encrypted=$(field encrypted "$1") made=$(field made "$1")
  mapped=/dev/mapper/metal3-ceph-$uuid
}
is_label() { head_of "$1" && [ "$hu" = "$uuid" ] && [ "$hr" = "$2" ]; }
scan() {
  for b in /sys/class/block/*; do
    d=/dev/$(printf %s "${b##*/}" | tr '!' /)
    if [ -b "$d" ] && is_label "$d" "$1"; then echo "$d"; return 0; fi
  done
  return 1
}
find_main() {
  if [ "$encrypted" = true ]; then if [ -b "$mapped" ]; then echo "$mapped"; else bare; fi; return; fi
  for c in "$volume" "$link" "$path"; do
    if [ -n "$c" ] && [ -e "$c" ] && is_label "$c" main; then readlink -f "$c"; return; fi
  done
  if [ -f "$path" ]; then echo "$path"; return; fi
  scan main || bare
}
bare() {
  if [ -n "$volume" ]; then if [ -b "$volume" ]; then echo "$volume"; fi; return; fi
  if [ -n "$link" ]; then if [ -b "$link" ]; then readlink -f "$link"; fi; return; fi
  if [ "$made" != true ] || [ "$encrypted" = true ]; then if [ -b "$path" ]; then readlink -f "$path"; fi; fi
}
find_db() {
  if [ -e "$db" ] && { [ -f "$db" ] || is_label "$db" 'bluefs db'; }; then readlink -f "$db"; return; fi
  scan 'bluefs db' || { if [ -b "$db" ] && [ "$made" != true ]; then readlink -f "$db"; fi; }
}
`

// shProve are shell functions that end a script where a device is not to be written to. They need those
// of shLabel and shSay.
//
//	idle DEV      nobody has it open
//	ours DEV      its label, which head_of has found, is of the OSD $uuid of the cluster $fsid
const shProve = `
idle() {
  why=$(busy_of "$1")
  [ -z "$why" ] || die 92 "$1: $why"
}
ours() {
  of=$(label_get "$1" ceph_fsid)
  [ -z "$of" ] || [ "$of" = "$fsid" ] || die 91 "$1 carries an OSD of the cluster $of"
  [ "$hu" = "$uuid" ] || die 91 "$1 carries another OSD, with the uuid $hu"
}
`

// scriptSlots is the section of the look that prints the slots of OSDs. It is run in a subshell
// of its own with the variables dir (Layout.Dir) and fsid. For each slot it prints the line "slot
// KEY", the record, the line "slot end", and "device KEY PATH" where its device is there.
//
// A record holds the OSD's key: what this prints is for memory only.
const scriptSlots = shSlot + `
for s in "$dir"/slots/*/slot.json; do
  [ -f "$s" ] || continue
  k=${s%/slot.json} k=${k##*/}
  printf 'slot\t%s\n' "$k"
  cat "$s"
  printf '\nslot end\n'
  load "$s"
  d=$(find_main)
  [ -z "$d" ] || printf 'device\t%s\t%s\n' "$k" "$d"
done
`

// parseSlots reads what scriptSlots printed. A record that cannot be read is no slot: the label of
// its device still says whose it is.
func parseSlots(section []byte) []ceph.Slot {
	var (
		out []ceph.Slot
		doc bytes.Buffer
		key string
		in  bool
	)

	for line := range bytes.Lines(section) {
		f := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")

		switch {
		case !in && f[0] == "slot" && len(f) > 1:
			in, key = true, f[1]
			doc.Reset()
		case in && f[0] == "slot end":
			in = false

			if s, ok := parseSlot(doc.Bytes()); ok && s.Key == key {
				out = append(out, s)
			}
		case in:
			doc.Write(line)
		case f[0] == "device" && len(f) > 2:
			if i := slices.IndexFunc(out, func(s ceph.Slot) bool { return s.Key == f[1] }); i >= 0 {
				out[i].Device = f[2]
			}
		}
	}

	return out
}

func parseSlot(doc []byte) (ceph.Slot, bool) {
	s := ceph.Slot{ID: -1}
	if json.Unmarshal(doc, &s) != nil || s.Key == "" || s.UUID == "" || s.Path == "" || s.ID < -1 {
		return ceph.Slot{}, false
	}

	return s, true
}

// slotKey names the folder of an OSD: words for people, and a sum that keeps two apart.
func slotKey(device string, index int) string {
	sum := sha256.Sum256([]byte(device + "\x00" + strconv.Itoa(index)))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}

		return '_'
	}, strings.TrimPrefix(device, "/dev/"))

	if len(name) > 40 {
		name = name[len(name)-40:]
	}

	return strings.Trim(name, "_") + "-" + strconv.Itoa(index) + "-" + hex.EncodeToString(sum[:4])
}

// checkPaths refuses names that a shell, JSON or a line of ours would read in another way.
func checkPaths(paths ...string) error {
	for _, p := range paths {
		odd := strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' })
		if !path.IsAbs(p) || path.Clean(p) != p || odd {
			return fmt.Errorf("%w: %q is not a plain absolute path", ErrPath, p)
		}
	}

	return nil
}

// slotDir is the folder of an OSD's record.
func slotDir(l ceph.Layout, key string) string { return path.Join(l.Slots(), key) }

// writeSlot puts a record on the host's disk, in one step.
func (h *Host) writeSlot(ctx context.Context, l ceph.Layout, s ceph.Slot) error {
	var doc bytes.Buffer

	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false) // a shell reads it, too
	enc.SetIndent("", " ")

	if err := enc.Encode(s); err != nil { //nolint:gosec // the record of an OSD is where its key belongs
		return fmt.Errorf("slot %s: %w", s.Key, err)
	}

	if err := h.host.WriteFile(ctx, path.Join(slotDir(l, s.Key), "slot.json"), doc.Bytes(), "", 0o600); err != nil {
		return unreached(fmt.Errorf("ceph-slot: %w", err))
	}

	return nil
}
