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

// scriptRescan makes the kernel look for new devices. It prints nothing.
const scriptRescan = `# metal3: pci-rescan
root=${1-}
echo 1 >"$root/sys/bus/pci/rescan"
`
