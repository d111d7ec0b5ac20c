// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// shellDaemon is what the scripts about one daemon begin with: 1 folder, 2 fsid, 3 user, 4
// supervision, 5 type, 6 id. The function pid_of prints the number of its process.
const shellDaemon = `
dir=$1 fsid=$2 user=$3 by=$4 type=$5 id=$6
shift 6
PATH=$PATH:/usr/sbin:/sbin
conf=$dir/ceph.conf
d=$dir/$type/$id
unit=metal3-ceph-$fsid-$type.$id.service
file=/etc/systemd/system/$unit
log=$dir/log/$type.$id.log
case $by in ''|auto) if [ -d /run/systemd/system ]; then by=systemd; else by=daemon; fi ;; esac
` + shellForeign + findProcesses + `
pid_of() { processes | while read -r w t i p x; do [ "$t.$i" = "$type.$id" ] && echo "$p"; done; }
mark=
[ ! -e "$d/done" ] || read -r mark x <"$d/done"
rest() { sleep "$1" 2>/dev/null || sleep 1; }
`

// scriptStart starts a daemon. After the parameters of shellDaemon: 7 the device of an OSD, 8
// that of its block.db and 9 the key of its record, or empty; then arguments for the daemon.
//
// The links to the devices of an OSD are made anew each time, and the devices are given to the
// user: the kernel may call them otherwise today, and udev made them root's again at boot. The
// script "activate" beside the record does that, where there is one; systemd runs it, too.
//
// All that may go wrong early (no key, no store, a busy port) goes wrong before the daemon
// leaves its starter, whose exit status therefore tells; what comes right after is seen from the
// process table. Then the last words of standard error and log are told.
const scriptStart = `# metal3: ceph-start
` + shellDaemon + `
block=$1 db=$2 activate=${3:+$dir/slots/$3/activate}
shift 3
` + shOwn + `
[ -f "$activate" ] || activate=
[ "$mark" = "$fsid" ] || [ ! -e "$d" ] || foreign "$d" "$mark"
[ -n "$mark" ] || { echo "$d: the folder of $type.$id is not there" >&2; exit 1; }
lend() {
  at=$(readlink -f "$d/$1") && [ -e "$at" ] || { echo "$d/$1: there is no ${at:-device}" >&2; exit 93; }
  [ -z "$user" ] || { chown -h "$user:$user" "$d/$1" && chown "$user:$user" "$at"; } || exit 1
}
set -- -c "$conf" -i "$id" "$@"
[ -z "$user" ] || set -- "$@" --setuser "$user" --setgroup "$user"
alive=$(pid_of)
devices() {
  [ "$type" = osd ] || return 0
  if [ -n "$activate" ]; then /bin/sh "$activate" || exit; return; fi
  [ -n "$block" ] || { echo "the device of osd.$id is not there" >&2; exit 93; }
  [ "$(readlink "$d/block" 2>/dev/null)" = "$block" ] || ln -sfn "$block" "$d/block" || exit 1
  lend block
  [ -z "$db" ] || [ -e "$d/block.db" ] || ln -sfn "$db" "$d/block.db" || exit 1
  [ ! -L "$d/block.db" ] || lend block.db
}
[ -n "$alive" ] || devices
listens() {
  ports=$(sed -n 's/^mon_host *= *//p' "$conf" | tr ',[]' '\n\n\n' | sed -n 's/.*:\([0-9][0-9]*\)$/\1/p' | sort -u | tr '\n' ' ')
  running=
` + lookPorts + `
}
died() {
  printf '%s\n' "$1" | tail -n 5 | cut -c 1-300
  case $1 in *'unable to bind'*) [ "$type" != mon ] || listens | while read -r w port p whose name; do
    echo "port $port is taken by ${name:-somebody} (pid $p)"
  done ;; esac
  exit 66
}
told() { tail -n "+$((lines + 1))" "$log" 2>/dev/null | grep ' -1 ' | tail -n 5; }
lines=0
[ ! -f "$log" ] || lines=$(wc -l <"$log")
` + startSystemd + `
if [ -n "$alive" ]; then echo "runs $alive"; exit 0; fi
rm -f "$dir/run/$type.$id.pid" "$dir/run/$type.$id.asok"
e=$(mktemp "$dir/tmp/e.XXXXXX") || exit 1
trap 'rm -f "$e"' EXIT
"ceph-$type" "$@" </dev/null >/dev/null 2>"$e" || died "$type.$id: exit status $?
$(cat "$e"; told)"
rest 0.1
alive=$(pid_of)
[ -n "$alive" ] || died "$type.$id: $(cat "$e"; told)"
echo "started $alive"
`

// startSystemd is the start where systemd keeps daemons running: by a unit of our own, because
// the packaged ones know the packaged folders alone. A daemon that was started without it is
// left to run.
const startSystemd = `
if [ "$by" = systemd ]; then
  [ "$(id -u)" = 0 ] || { echo "only root writes units of systemd: log in as root, or set supervision to daemon" >&2; exit 1; }
  program=$(command -v "ceph-$type") || { echo "there is no ceph-$type" >&2; exit 1; }
  line=
  for w in "$program" -f "$@"; do
    line="$line $(printf %s "$w" | sed 's/%/%%/g; s/\$/$$/g; /[[:space:]]/s/.*/"&"/')"
  done
  t=$(mktemp /etc/systemd/system/.metal3.XXXXXX) || exit 1
  trap 'rm -f "$t"' EXIT
  before=${activate:+ExecStartPre=/bin/sh $activate}
  cat >"$t" <<EOF
[Unit]
Description=Ceph $type.$id of the cluster $fsid
After=network-online.target local-fs.target time-sync.target
Wants=network-online.target local-fs.target time-sync.target

[Service]
$before
ExecStart=${line# }
ExecReload=/bin/kill -HUP \$MAINPID
LimitNOFILE=1048576
LimitNPROC=1048576
TasksMax=infinity
Restart=on-failure
RestartSec=10
TimeoutStopSec=25

[Install]
WantedBy=multi-user.target
EOF
  chmod 644 "$t"
  if ! cmp -s "$t" "$file"; then
    mv -f "$t" "$file" && systemctl daemon-reload || exit 1
  fi
  systemctl --quiet enable "$unit" 2>/dev/null || { systemctl enable "$unit"; exit 1; }
  if [ -n "$alive" ]; then echo "runs $alive"; exit 0; fi
  rm -f "$dir/run/$type.$id.pid" "$dir/run/$type.$id.asok"
  systemctl reset-failed "$unit" 2>/dev/null
  systemctl start "$unit" || exit 1
  for i in 1 2 3 4 5; do
    rest 0.2
    case $(systemctl is-active "$unit") in active|activating|reloading) ;; *) alive=; break ;; esac
    alive=$(pid_of)
  done
  [ -n "$alive" ] || died "$type.$id: $(journalctl --no-pager -q -o cat -n 5 -u "$unit" 2>/dev/null; told)"
  echo "started $alive"
  exit 0
fi
`

// Start implements [ceph.Host].
func (h *Host) Start(ctx context.Context, l ceph.Layout, d ceph.Daemon, how ceph.StartHow) error {
	if err := checkDaemon(l, d); err != nil {
		return err
	}

	params := append(daemonParams(l, d), how.Slot.Device, how.Slot.DB, how.Slot.Key)
	params = append(params, ownArgs(how)...)

	return h.do(ctx, remote.Command{Script: scriptStart, Params: params, Limit: startLimit, Detach: true})
}

// ownArgs are what a daemon tells of itself when it starts: an OSD its place, and a monitor that
// no monmap has yet its addresses.
func ownArgs(how ceph.StartHow) []string {
	var args []string

	// A monitor that joins is not in its own monmap yet: only this says where it listens.
	if how.Addr != "" {
		args = append(args, "--public-addrv", how.Addr)
	}

	if place := strings.Join(strings.Fields(how.CrushLocation), " "); place != "" {
		args = append(args, "--crush-location", place)
	}

	if how.Weight > 0 {
		args = append(args, "--osd-crush-initial-weight", strconv.FormatFloat(how.Weight, 'f', -1, 64))
	}

	return args
}

func daemonParams(l ceph.Layout, d ceph.Daemon) []string {
	return []string{l.Dir, l.FSID, l.User, l.Supervision, d.Type, d.ID}
}
