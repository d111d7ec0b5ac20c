// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"strconv"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// shLabel are shell functions that read what is on a device. They print tab-separated lines.
//
//	lim COMMAND…      bounds a command: a disk that dies answers nothing for minutes
//	head_of DEV       sets hu and hr to uuid and role, where a BlueStore label starts the device
//	label_of DEV      prints "key<tab>value" of the label. The label holds the OSD's key: only what
//	                  is on this list ever leaves the host
//	label_get DEV KEY prints one of these values
//	sigs_of DEV       prints the signatures that are on the device, one a line
//	busy_all          reads devices, a line each, and prints "busy<tab>DEV<tab>reason" of those that
//	                  somebody else has open for himself. A running OSD holds a lock (of the one or
//	                  the other kind, by release), a mount, a volume group and a swap hold the device
//	                  itself. One that cannot be asked is busy
//
// A label starts with a line of text and the OSD's uuid as text. What follows is binary: its length,
// the uuid, size and time, then the role as text. The label of a DB has nothing of a cluster.
const shLabel = `
nl='
'
tab=$(printf '\t')
lim() { if command -v timeout >/dev/null 2>&1; then timeout 20 "$@"; else "$@"; fi; }
head_of() {
  hu= hr=
  h=$(lim head -c 120 "$1" 2>/dev/null | tr -cd '[:print:]\n')
  case $h in 'bluestore block device'*) ;; *) return 1 ;; esac
  hu=${h#*"$nl"} hu=${hu%%"$nl"*}
  case $h in *'bluefs db'*) hr='bluefs db' ;; *'bluefs wal'*) hr='bluefs wal' ;; *) hr=main ;; esac
}
label_of() {
  lim ceph-bluestore-tool show-label --dev "$1" 2>/dev/null | tr ',{}' '\n\n\n' |
    grep -E '^[[:space:]]*"(osd_uuid|description|ceph_fsid|whoami|mkfs_done)"[[:space:]]*:[[:space:]]*"[^"\\]*"[[:space:]]*$' |
    while IFS='"' read -r lx lk lx lv lx; do printf '%s\t%s\n' "$lk" "$lv"; done
}
label_get() { label_of "$1" | sed -n "s/^$2$tab//p" | head -n 1; }
sigs_of() {
  lim wipefs -p "$1" 2>/dev/null | while IFS=, read -r so sx sx st; do case $so in 0x*) echo "$st" ;; esac; done
}
busy_all() {
  for py in /usr/bin/python3 /usr/libexec/platform-python python3; do
    if command -v "$py" >/dev/null 2>&1; then lim "$py" -c '
import fcntl, os, stat, sys, time
def why(p):
    how = os.O_RDONLY | os.O_NONBLOCK
    if stat.S_ISBLK(os.stat(p).st_mode):
        how |= os.O_EXCL
    fd = os.open(p, how)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.lockf(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    finally:
        os.close(fd)
for p in sys.stdin.read().splitlines():
    for last in (False, False, True):
        try:
            why(p)
            break
        except OSError as e:
            if last:
                print("busy\t%s\t%s" % (p, e.strerror))
            else:
                time.sleep(0.1)
' && return; fi
  done
  while IFS= read -r bp; do
    if [ -b "$bp" ] && ! lim wipefs -a -n "$bp" >/dev/null 2>&1; then printf 'busy\t%s\tit cannot be opened exclusively\n' "$bp"
    elif ! lim flock -n -x "$bp" true 2>/dev/null || grep -q ":$(stat -L -c %i "$bp") " /proc/locks; then
      printf 'busy\t%s\tsomebody holds a lock on it\n' "$bp"
    fi
  done
}
busy_of() { printf '%s\n' "$1" | busy_all | cut -f 3; }
`

// labelFacts is what a device shows of a BlueStore label.
type labelFacts struct {
	head   bool // it starts with one
	uuid   string
	role   string
	values map[string]string
}

// label makes one of what was found; nil: there is none, or it cannot be read.
func (l labelFacts) label() *ceph.Label {
	if !l.head && len(l.values) == 0 {
		return nil
	}

	out := &ceph.Label{FSID: l.values["ceph_fsid"], UUID: l.values["osd_uuid"], Role: l.values["description"], ID: -1}

	if out.UUID == "" {
		out.UUID = l.uuid
	}

	if out.Role == "" {
		out.Role = l.role
	}

	if id, err := strconv.Atoi(l.values["whoami"]); err == nil && id >= 0 {
		out.ID = id
	}

	if out.UUID == "" {
		return nil
	}

	return out
}
