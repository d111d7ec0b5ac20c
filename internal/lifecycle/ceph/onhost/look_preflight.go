// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

// lookPrograms: what of Ceph and its helpers is there.
//
//	program ceph-mon /usr/bin/ceph-mon
//	version ceph-mon ceph version 16.2.15 (…) pacific (stable)
//	librados
//
// Whether Python has librados is seen from its files where that can be: starting it takes longer
// than all the rest. The interpreter is that of the ceph command, not the first one in the path.
//
// Each daemon's program is asked for its version: packages are upgraded one by one. They are asked
// side by side, and the ceph command, which takes the longest, only where there is no monitor's.
const lookPrograms = `
for p in ceph ceph-mon ceph-mgr ceph-osd ceph-mds monmaptool ceph-bluestore-tool lvcreate cryptsetup; do
  w=$(command -v "$p" 2>/dev/null) && echo "program $p $w"
done
for p in ceph-mon ceph-mgr ceph-osd ceph-mds ceph; do
  command -v "$p" >/dev/null 2>&1 || continue
  [ "$p" != ceph ] || ! command -v ceph-mon >/dev/null 2>&1 || continue
  { v=$("$p" --version 2>/dev/null </dev/null | head -n 1); [ -z "$v" ] || echo "version $p $v"; } &
done
wait
py=
ceph=$(command -v ceph 2>/dev/null) && py=$(sed -n '1s/^#! *//p' "$ceph" 2>/dev/null)
py=${py#/usr/bin/env }
py=${py%% *}
for f in /usr/lib/python3/dist-packages/rados.*.so /usr/lib64/python3*/site-packages/rados.*.so /usr/lib/python3*/site-packages/rados.*.so; do
  case $py in /usr/bin/*|/usr/libexec/*) [ ! -e "$f" ] || { echo librados; py=; break; } ;; esac
done
if [ -n "$ceph" ] && [ -n "$py" ] && "$py" -c 'import rados' >/dev/null 2>&1; then echo librados; fi
`

// lookPlace: where the folder is, or will be.
//
//	df <the last line of df -Pk>
//	closed <the first folder that the daemons' user cannot enter>
//
// Before anything is known of the host, that user is the one that it will be.
const lookPlace = `
at=$dir
while [ ! -d "$at" ] && [ "$at" != / ]; do at=${at%/*}; at=${at:-/}; done
echo "df $(df -Pk "$at" 2>/dev/null | tail -n 1)"
enters() {
  set -- "$1" $(stat -L -c '%a %U %G' "$1" 2>/dev/null)
  [ $# = 4 ] || return 0
  o=${2#"${2%?}"} g=${2%?} u=
  g=${g#"${g%?}"} u=${2%??}
  u=${u#"${u%?}"}
  x=$o
  case " $groups " in *" $4 "*) x=$g ;; esac
  [ "$3" != "$user" ] || x=$u
  case $x in 1|3|5|7) return 0 ;; esac
  return 1
}
if [ -z "$user" ] && [ "$(id -u)" = 0 ] && id ceph >/dev/null 2>&1; then user=ceph; fi
if [ -n "$user" ] && [ "$user" != root ] && groups=$(id -Gn "$user" 2>/dev/null); then
  IFS=/
  set -f; parts=$dir; a=; bad=
  for p in $parts; do
    [ -n "$p" ] || continue
    IFS=' '
    a=$a/$p
    [ -n "$bad" ] || [ ! -d "$a" ] || enters "$a" || bad=$a
    IFS=/
  done
  set +f; unset IFS
  [ -z "$bad" ] || echo "closed $bad"
fi
`

// lookPorts: who listens on the ports that are asked for.
//
//	port 3300 <pid or 0> ours|other <name of the program>
const lookPorts = `
listeners() { cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | while read -r n local remote state q t r u o inode x; do
  [ "$state" = 0A ] && echo "${local##*:} $inode"
done | sort -u; }
if [ -n "$ports" ]; then
  all=$(listeners)
  for port in $ports; do
    hex=$(printf %04X "$port")
    inode=$(echo "$all" | sed -n "s/^$hex //p" | head -n 1)
    [ -n "$inode" ] || continue
    pid=$(find /proc/[0-9]*/fd -maxdepth 1 -lname "socket:\[$inode\]" 2>/dev/null | head -n 1)
    pid=${pid#/proc/}; pid=${pid%%/*}
    whose=other name=
    if [ -n "$pid" ]; then
      read -r name <"/proc/$pid/comm"
      case "$running " in *" $pid "*) whose=ours ;; esac
    fi 2>/dev/null
    echo "port $port ${pid:-0} $whose $name"
  done
fi
`

// lookLeftovers: what daemons' folders without a marker of ours may hold.
//
//	store mon a <SHA-256 of the key of mon., or "-">
//	cephfsid mon a <the fsid of who began to make it and was cut off: nothing is in it yet>
//	cephfsid osd 0 <what its file ceph_fsid holds>
//	holds mgr a
const lookLeftovers = shMonKey + `
for type in mon mgr osd mds; do
  for d in "$dir/$type"/*; do
    [ -d "$d" ] || continue
    id=${d##*/}
    case $id in [!A-Za-z0-9_]*|*[!A-Za-z0-9._-]*) continue ;; esac
    case $type in
      mon) f=; [ ! -e "$dir/mon/.making-$id" ] || read -r f x <"$dir/mon/.making-$id"
        if [ -n "$f" ]; then echo "cephfsid mon $id $f"; continue; fi
        [ -e "$d/store.db" ] || [ -e "$d/keyring" ] || continue
        k=$(mon_key "$d/keyring" | sha256sum)
        echo "store mon $id ${k%% *}" ;;
      osd) f=; [ ! -e "$d/ceph_fsid" ] || read -r f x <"$d/ceph_fsid"
        [ -z "$f" ] || echo "cephfsid osd $id $f" ;;
      *) [ ! -e "$d/keyring" ] || echo "holds $type $id" ;;
    esac
  done
done
`
