// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

// scriptLook prints all that a look asks, in sections. Its parameters: 1 the cluster's folder,
// 2 to 4 whether a preflight, all devices and last words are asked (1 or 0; "programs": of a preflight
// these alone), 5 the daemons' user, 6 the ports, then the paths of devices.
//
// What belongs to whom is decided by who reads this, not here: the script knows no fsid.
const scriptLook = `# metal3: ceph-look
dir=$1 preflight=$2 devices=$3 logs=$4 user=$5 ports=$6
shift 6
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin:/usr/local/bin
now() { echo "$1 $(date +%s.%N)"; }
echo '== clock'
[ "$preflight" != 1 ] || now began
` + lookHost + lookDaemons + `
echo '== preflight'
if [ "$preflight" = 1 ] || [ "$preflight" = programs ]; then
` + lookPrograms + `
fi
if [ "$preflight" = 1 ]; then
` + lookPlace + lookPorts + lookLeftovers + `
fi
echo '== slots'
(
:
` + scriptSlots + `
)
echo '== disks'
if [ "$devices" = 1 ] || [ $# -gt 0 ]; then (
:
` + scriptDisks + `
); fi
echo '== end'
[ "$preflight" != 1 ] || now ended
exit 0
`

// lookHost: who the host is, and the files of the cluster.
//
//	hostname h1
//	hidden <the first folder that who runs this cannot look into>
//	os Debian GNU/Linux 12 (bookworm)
//	root|cephuser|systemd
//	conf|admin <hex SHA-256>
//	fsid <what ceph.conf says>
//
// and, where there is such a file or link, a section "identity" with the file as it is.
//
// A test for a file says "no" of one that is there behind a closed door. So the doors come first:
// those above the folder must let us through, it and those below must show what they hold.
const lookHost = `
echo '== host'
echo "hostname $(uname -n)"
hidden() {
  [ -z "$door" ] || return 0
  if [ -L "$1" ] && [ ! -e "$1" ] && [ "$(id -u)" != 0 ]; then door=$1
  elif [ -d "$1" ]; then [ -x "$1" ] && { [ -z "$2" ] || [ -r "$1" ]; } || door=$1
  fi
  [ -z "$door" ] || echo "hidden $door"
}
door= a=${dir#/} up=
while [ -n "$a" ]; do
  up=$up/${a%%/*}
  case $a in */*) a=${a#*/}; hidden "$up" ;; *) a=; hidden "$up" reads ;; esac
done
for a in "$dir/mon" "$dir/mgr" "$dir/osd" "$dir/mds" "$dir/slots"; do
  hidden "$a" reads
  for up in "$a"/*; do hidden "$up" reads; done
done
sed -n 's/^PRETTY_NAME=/os /p' /etc/os-release 2>/dev/null | tr -d "\"'"
[ "$(id -u)" != 0 ] || echo root
! id ceph >/dev/null 2>&1 || echo cephuser
systemd=
if [ -d /run/systemd/system ]; then systemd=1; echo systemd; fi
sum() { [ ! -f "$2" ] || { s=$(sha256sum <"$2") && echo "$1 ${s%% *}"; }; }
sum conf "$dir/ceph.conf"
sum admin "$dir/ceph.client.admin.keyring"
[ ! -f "$dir/ceph.conf" ] || sed -n 's/^[[:space:]]*fsid[[:space:]]*=/fsid /p' "$dir/ceph.conf"
if [ -e "$dir/identity.json" ] || [ -L "$dir/identity.json" ]; then
  echo '== identity'
  cat "$dir/identity.json" 2>/dev/null || echo unreadable
  echo
fi
`

// lookDaemons: folders and processes of daemons.
//
//	folder mon a <what its marker holds: an fsid, "-" for no marker, "?" for an empty one>
//	run mon a 4711 new|old
//	unit mon a on|off
//	say mon a <a line of its last words>
//
// Folders of other names than daemons have are nobody's, and are not printed.
//
// A process counts by its command line, never by a file with its number: those lie. One in
// another process namespace is not of this host's cluster, nor one that sees another folder
// under our name: below another root.
const lookDaemons = `
echo '== daemons'
` + findProcesses + `
running=$(processes)
[ -z "$running" ] || echo "$running"
for type in mon mgr osd mds; do
  for d in "$dir/$type"/*; do
    [ -d "$d" ] || continue
    id=${d##*/}
    case $id in [!A-Za-z0-9_]*|*[!A-Za-z0-9._-]*) continue ;; esac
    mark=-
    if [ -e "$d/done" ]; then mark=; read -r mark x <"$d/done"; mark=${mark:-?}; fi
    echo "folder $type $id $mark"
    if [ "$logs" = 1 ]; then
      case "$running
" in *"run $type $id "*) ;; *)
        tail -n 400 "$dir/log/$type.$id.log" 2>/dev/null | grep ' -1 ' | tail -n 3 | cut -c 1-300 | sed "s/^/say $type $id /" ;;
      esac
    fi
  done
done
if [ -n "$systemd" ]; then
  for u in /etc/systemd/system/metal3-ceph-*.service; do
    [ -f "$u" ] && grep -qF -- "-c $dir/ceph.conf " "$u" || continue
    n=${u##*/}; n=${n%.service}; id=${n##*.}; type=${n%.*}; type=${type##*-}
    if [ -e "/etc/systemd/system/multi-user.target.wants/${u##*/}" ]; then echo "unit $type $id on"; else echo "unit $type $id off"; fi
  done
fi
`

// findProcesses is the shell function processes, which prints the daemons of the cluster in
// $dir that run, one a line: "run mon a 4711 new". Also used alone.
const findProcesses = `
processes() {
  here=$(readlink /proc/self/ns/pid 2>/dev/null)
  for p in $(grep -lsF -- "$dir/ceph.conf" /proc/[0-9]*/cmdline); do
    p=${p%/cmdline}
    line=$(tr '\n\0' ' \n' <"$p/cmdline") 2>/dev/null || continue
    prog= conf= id= next=
    while IFS= read -r w; do
      if [ -z "$prog" ]; then prog=${w##*/}; continue; fi
      case $next in conf) conf=$w ;; id) id=$w ;; esac
      case $next in conf|id) next=; continue ;; esac
      case $w in
        -c|--conf) next=conf ;; --conf=*) conf=${w#*=} ;;
        -i|--id) next=id ;; --id=*) id=${w#*=} ;;
      esac
    done <<EOF
$line
EOF
    [ "$conf" = "$dir/ceph.conf" ] && [ -n "$id" ] || continue
    case $prog in ceph-mon|ceph-mgr|ceph-osd|ceph-mds) ;; *) continue ;; esac
    ns=$(readlink "$p/ns/pid" 2>/dev/null)
    [ -z "$ns" ] || [ "$ns" = "$here" ] || continue
    [ ! -e "$p/root/." ] || [ "$p/root/." -ef /proc/self/root/. ] || [ "$p/root$dir/." -ef "$dir/." ] || continue
    case $id in *[!A-Za-z0-9._-]*) id=? ;; esac
    read -r stat <"$p/stat" || continue
    case ${stat##*) } in Z*|X*) continue ;; esac
    age=new
    case $(readlink "$p/exe" 2>/dev/null) in *' (deleted)') age=old ;; esac
    echo "run ${prog#ceph-} $id ${p#/proc/} $age"
  done 2>/dev/null
}
`
