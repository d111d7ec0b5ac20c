// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl

// The commands of this package in argument form, as they appear on the host:
//
//	daxctl offline-memory|online-memory <dax device>
//	daxctl disable-device|enable-device <dax device>
//	cxl disable-region|enable-region|destroy-region <region>
//	cxl create-region -m -t ram|pmem -s <size> -w 1 <memory device>
//	cxl disable-memdev|enable-memdev <memory device>
//
// The scripts follow. Each is POSIX shell, names itself in its first line, and takes its
// parameters as $1, $2, …; the last one, which is never given on a real host, is a
// directory to be taken for the root of the file system. Exit status 0 means done; any
// other failed, with words on standard error.

// scriptList shows the memory devices, each as "<name> <serial> <bytes of RAM> <persistent
// bytes>", "-" for what is not known. No CXL, or no device: no output.
//
//	mem0 0x1234 0x4000000000 0x0
const scriptList = `# metal3: cxl-list
root=${1-}
show() { v=; { read -r v <"$1"; } 2>/dev/null; printf ' %s' "${v:--}"; }
for d in "$root"/sys/bus/cxl/devices/mem*; do
  [ -e "$d" ] || continue
  printf '%s' "${d##*/}"
  show "$d/serial"; show "$d/ram/size"; show "$d/pmem/size"
  echo
done
exit 0
`

// scriptRegions shows the regions which the memory device $1 serves and what the kernel made
// of them. The region's targets are decoders of the endpoint whose upstream port is the
// memory device. The driver is kmem for system memory, device_dax, or - for none.
//
//	region region0 ram 0x4000000000 1       name, type, size, number of memory devices
//	dax dax0.0 region0 kmem                 name, region, driver
const scriptRegions = `# metal3: cxl-regions
root=${2-}
bus=$root/sys/bus/cxl/devices
get() { v=; { read -r v <"$1"; } 2>/dev/null; printf '%s' "${v:--}"; }
for r in "$bus"/region*; do
  [ -e "$r" ] || continue
  ours=
  for t in "$r"/target*; do
    decoder=$(get "$t")
    [ "$decoder" != - ] && [ -e "$bus/$decoder" ] || continue
    port=$(readlink -f "$bus/$decoder")
    memory=$(readlink -f "${port%/*}/uport")
    if [ "${memory##*/}" = "$1" ]; then ours=1; fi
  done
  [ -n "$ours" ] || continue
  name=${r##*/}
  echo "region $name $(get "$r/mode") $(get "$r/size") $(get "$r/interleave_ways")"
  for d in "$r"/dax_region*/dax*.*; do
    [ -d "$d" ] || continue
    driver=$(readlink -f "$d/driver" 2>/dev/null)
    if [ ! -e "$d/driver" ]; then driver=-; fi
    echo "dax ${d##*/} $name ${driver##*/}"
  done
done
exit 0
`

// scriptHolders shows who uses what the kernel made of the region $1, other than as memory of
// the system: those who have opened or mapped its devices, and the file systems, swap areas
// and other block devices on them. The persistent part of a region is the region of the nd bus
// at the same address.
//
//	dax0.0 4711 qemu-system-x86
//	pmem0 mounted at /srv
const scriptHolders = `# metal3: cxl-holders
root=${2-}
if [ "$(id -u)" != 0 ]; then
  echo 'only root sees what other users hold' >&2
  exit 77
fi
get() { v=; { read -r v <"$1"; } 2>/dev/null; printf '%s' "${v:--}"; }
users() {
  {
    find "$root"/proc/[0-9]*/fd -maxdepth 1 -lname "*/$1" 2>/dev/null
    grep -ls "/$1\$" "$root"/proc/[0-9]*/maps
  } | while read -r f; do
    pid=${f#"$root"/proc/}
    pid=${pid%%/*}
    comm='?'
    { read -r comm <"$root/proc/$pid/comm"; } 2>/dev/null || [ -d "$root/proc/$pid" ] || continue
    echo "$1 $pid $comm"
  done | sort -u
}
region=$root/sys/bus/cxl/devices/$1
for d in "$region"/dax_region*/dax*.*; do
  if [ -d "$d" ]; then users "${d##*/}"; fi
done
at=$(get "$region/resource")
for n in "$root"/sys/bus/nd/devices/region*; do
  [ -e "$n" ] && [ "$at" != - ] && [ "$(get "$n/resource")" = "$at" ] || continue
  find "$n/" -maxdepth 3 -type d -name 'dax*.*' | while read -r d; do users "${d##*/}"; done
  for b in "$n"/*/block/*; do
    [ -d "$b" ] || continue
    name=${b##*/}
    users "$name"
    for h in "$b"/holders/* "$b/$name"p*/holders/*; do
      if [ -e "$h" ]; then echo "$name is part of ${h##*/}"; fi
    done
    while read -r dev dir rest; do
      case $dev in "/dev/$name"|"/dev/$name"p[0-9]*) echo "$name mounted at $dir" ;; esac
    done <"$root/proc/mounts"
    while read -r dev rest; do
      case $dev in "/dev/$name"|"/dev/$name"p[0-9]*) echo "$name swapped to" ;; esac
    done <"$root/proc/swaps"
  done
done
exit 0
`
