// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

// The commands of this package in argument form, as they appear on the host. Where the
// driver lives in a container, "chroot /run/nvidia/driver" stands before the nvidia-smi,
// modprobe and nvidia-persistenced ones.
//
//	nvidia-smi --query-gpu=gpu_uuid,pci.bus_id --format=csv,noheader,nounits
//	nvidia-smi --query-compute-apps=gpu_uuid,process_name --format=csv,noheader,nounits
//	nvidia-smi -i <UUID or bus id> --query-gpu=persistence_mode --format=csv,noheader,nounits    (Enabled, Disabled)
//	nvidia-smi -i <UUID or bus id> -pm 0|1
//	nvidia-smi drain -p <bus id> -q     (a line with "Drain State: Draining" or "… Not Draining")
//	nvidia-smi drain -p <bus id> -m 0|1
//	nvidia-smi drain -p <bus id> -r
//	nvidia-smi -L
//	lsmod
//	modprobe <module>
//	rmmod <module>                      (not modprobe -r, which takes unused dependencies along)
//	systemctl is-active nvidia-persistenced      (exit status 0: it runs)
//	systemctl stop|start nvidia-persistenced
//	nvidia-persistenced --persistence-mode       (container only)
//
// The scripts follow. Each is POSIX shell, names itself in its first line, and takes its
// parameters as $1, $2, …; the last one, which is never given on a real host, is a
// directory to be taken for the root of the file system. Exit status 0 means done; any
// other failed, with words on standard error.

// scriptDriver tells what the host has, one fact a line, in any order, absent where it is
// not so:
//
//	smi host            nvidia-smi is on the host
//	smi container       nvidia-smi is in the driver container's root
//	module host         the host has the kernel module, loaded or not
//	module container    the driver container has it
//	loaded              the kernel module is loaded
//	modeset Y           the value of nvidia_drm's parameter
//	hypervisor          the host is a virtual machine
//	persistenced        the service nvidia-persistenced is enabled
const scriptDriver = `# metal3: gpu-driver
root=${1-}
PATH=$PATH:/usr/sbin:/sbin
pod=$root/run/nvidia/driver
if [ -x "$root/usr/bin/nvidia-smi" ]; then echo 'smi host'
elif [ -z "$root" ] && command -v nvidia-smi >/dev/null 2>&1; then echo 'smi host'
fi
if modinfo nvidia >/dev/null 2>&1; then echo 'module host'; fi
if [ -x "$pod/usr/bin/nvidia-smi" ]; then
  echo 'smi container'
  if chroot "$pod" modinfo nvidia >/dev/null 2>&1; then echo 'module container'; fi
fi
if [ -e "$root/proc/driver/nvidia/version" ]; then echo loaded; fi
m=
if [ -r "$root/sys/module/nvidia_drm/parameters/modeset" ]; then
  read -r m <"$root/sys/module/nvidia_drm/parameters/modeset"
  echo "modeset $m"
fi
if grep -qw hypervisor "$root/proc/cpuinfo" 2>/dev/null; then echo hypervisor; fi
if systemctl is-enabled nvidia-persistenced >/dev/null 2>&1; then echo persistenced; fi
exit 0
`

// scriptPresent shows what the kernel driver has: for each GPU a line "gpu <bus id>", then
// its information file as it is, of which the lines "GPU UUID:", "Device Minor:" and "Bus
// Location:" are read. No GPU, or no driver: no output.
const scriptPresent = `# metal3: gpu-present
root=${1-}
for d in "$root"/proc/driver/nvidia/gpus/*; do
  [ -d "$d" ] || continue
  echo "gpu ${d##*/}"
  cat "$d/information"
done
exit 0
`

// scriptPCI shows NVIDIA's devices on the PCI bus, each as "<bus id> <vendor> <class>
// <driver>", "-" for no driver:
//
//	0000:1f:00.0 0x10de 0x030200 vfio-pci
const scriptPCI = `# metal3: gpu-pci
root=${1-}
if [ ! -d "$root/sys/bus/pci/devices" ]; then
  echo 'no PCI bus in sysfs' >&2
  exit 1
fi
for d in "$root"/sys/bus/pci/devices/*; do
  v= c=
  { read -r v <"$d/vendor" && read -r c <"$d/class"; } 2>/dev/null
  if [ "$v" != 0x10de ]; then continue; fi
  driver=-
  if [ -e "$d/driver" ]; then
    driver=$(readlink -f "$d/driver")
    driver=${driver##*/}
  fi
  echo "${d##*/} $v $c $driver"
done
exit 0
`

// scriptHolders shows the processes that hold the device file $1, whose minor is $2, each
// as "<pid> <command>":
//
//	4711 python3
//
// It compares device numbers, not names: a container has a file of its own for the same
// device. Where the host has no such file, the number is the driver's major and the minor.
const scriptHolders = `# metal3: gpu-holders
root=${3-}
if [ "$(id -u)" != 0 ]; then
  echo 'only root sees what other users hold' >&2
  exit 77
fi
if ! find / -maxdepth 0 -lname x || ! stat -L -c %t:%T / >/dev/null; then exit 69; fi
if [ -c "$1" ]; then
  want=$(stat -L -c %t:%T "$1") || exit 1
else
  major=195
  while read -r n name; do
    case $name in nvidia|nvidia-frontend) major=$n ;; esac
  done <"$root/proc/devices"
  want=$(printf '%x:%x' "$major" "$2") || exit 1
fi
find /proc/[0-9]*/fd -maxdepth 1 -lname '*/nvidia*' -exec stat -L -c '%t:%T %n' {} + 2>/dev/null |
while read -r number link; do
  [ "$number" = "$want" ] || continue
  pid=${link#/proc/}
  pid=${pid%%/*}
  comm='?'
  { read -r comm <"/proc/$pid/comm"; } 2>/dev/null || [ -d "/proc/$pid" ] || continue
  echo "$pid $comm"
done | sort -u
exit 0
`

// scriptRemove makes the kernel forget the PCI device $1. The write may block for as long as
// somebody uses the device, and cannot be interrupted then: it goes on in the background,
// once, and the script says after a moment how things stand. It is run again to look again.
//
//	gone       the device is not on the bus
//	running    the write has not ended
const scriptRemove = `# metal3: sysfs-remove
root=${2-}
d=$root/sys/bus/pci/devices/$1
if [ ! -e "$d" ]; then echo gone; exit 0; fi
if [ ! -w "$d/remove" ]; then
  echo "$d/remove cannot be written" >&2
  exit 1
fi
running() { grep -qs "metal3[-]remove-$1" /proc/[0-9]*/cmdline; }
pid=
if ! running "$1"; then
  w='echo 1 >"$1"'
  if command -v setsid >/dev/null 2>&1; then
    setsid sh -c "$w" "metal3-remove-$1" "$d/remove" </dev/null >/dev/null 2>&1 &
  else
    sh -c "$w" "metal3-remove-$1" "$d/remove" </dev/null >/dev/null 2>&1 &
  fi
  pid=$!
fi
for pause in 0.1 0.2 0.4; do
  sleep "$pause" 2>/dev/null || sleep 1
  if [ ! -e "$d" ]; then echo gone; exit 0; fi
done
if running "$1" || { [ -n "$pid" ] && kill -0 "$pid" 2>/dev/null; }; then echo running; exit 0; fi
if [ ! -e "$d" ]; then echo gone; exit 0; fi
echo 'the kernel took the write, but the device is still there' >&2
exit 1
`

// scriptRemoving says whether the removal of the PCI device $1 is under way, and begins none:
//
//	gone       the device is not on the bus
//	running    the write has not ended
//	idle       there is no write
const scriptRemoving = `# metal3: sysfs-removing
root=${2-}
if [ ! -e "$root/sys/bus/pci/devices/$1" ]; then echo gone
elif grep -qs "metal3[-]remove-$1" /proc/[0-9]*/cmdline; then echo running
else echo idle
fi
`

// scriptDeviceFile removes the device file of the minor $1, unless a GPU has that minor:
//
//	removed    there is none (any more)
//	kept       a GPU has that minor
const scriptDeviceFile = `# metal3: device-file-remove
root=${2-}
for i in "$root"/proc/driver/nvidia/gpus/*/information; do
  [ -r "$i" ] || continue
  if grep -q "^Device Minor:[[:space:]]*$1[[:space:]]*\$" "$i"; then echo kept; exit 0; fi
done
rm -f "$root/dev/nvidia$1" "$root/run/nvidia/driver/dev/nvidia$1" && echo removed
`

// scriptRuns says whether the nvidia-persistenced that the driver container (root: $1)
// started runs, if the process of its pid file is that:
//
//	running
//	none
const scriptRuns = `# metal3: persistenced-runs
for f in "$1/run/nvidia-persistenced/nvidia-persistenced.pid" "$1/var/run/nvidia-persistenced/nvidia-persistenced.pid"; do
  pid= comm=
  { read -r pid <"$f" || [ -n "$pid" ]; } 2>/dev/null
  case $pid in ''|*[!0-9]*) continue ;; esac
  { read -r comm <"/proc/$pid/comm"; } 2>/dev/null
  if [ "$comm" = nvidia-persiste ]; then echo running; exit 0; fi
done
echo none
`

// scriptPersistenced ends the nvidia-persistenced that the driver container (root: $1)
// started, if the process of its pid file is that:
//
//	stopped    it ran
//	none       it did not
const scriptPersistenced = `# metal3: persistenced-stop
for f in "$1/run/nvidia-persistenced/nvidia-persistenced.pid" "$1/var/run/nvidia-persistenced/nvidia-persistenced.pid"; do
  pid= comm=
  { read -r pid <"$f" || [ -n "$pid" ]; } 2>/dev/null
  case $pid in ''|*[!0-9]*) continue ;; esac
  { read -r comm <"/proc/$pid/comm"; } 2>/dev/null
  [ "$comm" = nvidia-persiste ] || continue
  kill "$pid" || exit 1
  for pause in 0.1 0.2 0.3 0.4 1 1 1 1; do
    { read -r comm <"/proc/$pid/comm"; } 2>/dev/null || comm=
    if [ "$comm" != nvidia-persiste ]; then break; fi
    sleep "$pause" 2>/dev/null || sleep 1
  done
  if [ "$comm" = nvidia-persiste ]; then
    echo 'nvidia-persistenced does not end' >&2
    exit 1
  fi
  echo stopped
  exit 0
done
echo none
`
