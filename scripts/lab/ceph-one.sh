#!/usr/bin/env bash
# A real Ceph on this machine, all of it below one folder: a monitor, a manager, OSDs on sparse files.
#
#   ceph-one.sh up DIR            creates what is missing, starts what does not run
#   ceph-one.sh hold DIR          the same, prints "ready", and takes all down when its input ends
#   ceph-one.sh start DIR NAME…   mon.a, mgr.x, osd.0 …
#   ceph-one.sh stop DIR NAME…
#   ceph-one.sh down DIR          ends what runs and removes DIR
#
# Environment: PORT 22300 (the monitor's; it and the 89 ports above are used), OSDS 1, SIZE 4G (of an OSD),
#   ADDR 127.0.0.1
# DIR must be short: the path of a socket has at most 107 bytes. DIR/ceph.conf, DIR/admin.keyring and DIR/fsid are
# for clients. The daemons run in the foreground in sessions of their own, so that DIR/pid holds exactly what runs.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -ge 2 ] || { sed -n '2,14p' "$0"; exit 2; }
verb=$1
dir=$(realpath -m "$2")
shift 2
[ ${#dir} -le 80 ] || die "the folder's name is too long for sockets: $dir"
port=${PORT:-22300} osds=${OSDS:-1} size=${SIZE:-4G} addr=${ADDR:-127.0.0.1}
conf=$dir/ceph.conf

# the client, as an administrator with little patience
client() { ceph --conf "$conf" --connect-timeout 10 "$@"; }

# until_ok SECONDS WORDS COMMAND…
until_ok() {
	local last=$((SECONDS + $1)) words=$2
	shift 2
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $last ] || die "not in time: $words; see $dir/log"
		sleep 0.2
	done
}

write_conf() {
	# all modules that may be off are: a small manager is up in seconds
	local off=alerts,cephadm,dashboard,influx,insights,iostat,localpool,mirroring,nfs,osd_perf_query,osd_support
	off+=,prometheus,restful,selftest,snap_schedule,stats,telegraf,test_orchestrator,zabbix
	local copies=$((osds < 3 ? osds : 3)) one=
	# Ceph's own pool could not be made. Elsewhere nothing is said: the file counts more than "config set".
	((copies > 1)) || one='mon allow pool size one = true'
	cat >"$conf.new" <<-CONF
		[global]
		fsid = $(cat "$dir/fsid")
		mon host = [v2:$addr:$port,v1:$addr:$((port + 1))]
		public addr = $addr
		ms bind port min = $((port + 2))
		ms bind port max = $((port + 89))
		auth cluster required = cephx
		auth service required = cephx
		auth client required = cephx
		auth allow insecure global id reclaim = false
		run dir = $dir/run
		admin socket = $dir/run/\$name.asok
		pid file =
		log file = $dir/log/\$name.log
		mon cluster log file = $dir/log/cluster.log
		crash dir = $dir/crash
		# read while the first maps are made: one host holds all copies
		osd crush chooseleaf type = 0
		osd pool default size = $copies
		osd pool default min size = 1
		osd pool default pg num = 8
		$one
		mon warn on pool no redundancy = false
		mon data avail warn = 2
		mon data avail crit = 1
		mgr initial modules = iostat
		[mon]
		mon data = $dir/data/\$name
		keyring = $dir/data/\$name/keyring
		[mgr]
		mgr data = $dir/data/\$name
		keyring = $dir/data/\$name/keyring
		mgr disabled modules = $off
		[osd]
		osd data = $dir/data/\$name
		keyring = $dir/data/\$name/keyring
		osd objectstore = bluestore
		bluestore block size = 0
		[client]
		keyring = $dir/admin.keyring
		log file =
		admin socket =
	CONF
	mv "$conf.new" "$conf"
}

identity() {
	mkdir -p "$dir"/{run,log,crash,data,pid}
	[ -s "$dir/fsid" ] || cat /proc/sys/kernel/random/uuid >"$dir/fsid"
	[ -s "$conf" ] || write_conf
	[ ! -s "$dir/mon.keyring" ] || return 0
	(
		umask 077
		ceph-authtool --create-keyring "$dir/admin.keyring" --gen-key --name client.admin \
			--cap mon 'allow *' --cap mgr 'allow *' --cap osd 'allow *' --cap mds 'allow *'
		ceph-authtool --create-keyring "$dir/mon.keyring.new" --gen-key --name mon. --cap mon 'allow *'
		ceph-authtool "$dir/mon.keyring.new" --import-keyring "$dir/admin.keyring"
		mv "$dir/mon.keyring.new" "$dir/mon.keyring"
	) >>"$dir/log/setup.log" 2>&1
}

# launch NAME: starts the daemon unless it runs
launch() {
	local name=$1 pid=$dir/pid/$1
	alive "$pid" && return 0
	rm -f "$dir/run/$name.asok"
	setsid "ceph-${name%%.*}" --conf "$conf" --id "${name#*.}" -f </dev/null >"$dir/log/$name.out" 2>&1 3>&- &
	echo $! >"$pid"
}

monitor() {
	local data=$dir/data/mon.a
	if [ ! -e "$data/made" ]; then
		rm -rf "$data"
		mkdir -p "$data"
		monmaptool --create --clobber --fsid "$(cat "$dir/fsid")" --enable-all-features --set-min-mon-release pacific \
			--addv a "[v2:$addr:$port,v1:$addr:$((port + 1))]" "$dir/monmap" >>"$dir/log/setup.log"
		ceph-mon --conf "$conf" --id a --mkfs --monmap "$dir/monmap" --keyring "$dir/mon.keyring" >>"$dir/log/setup.log" 2>&1
		touch "$data/made"
	fi
	launch mon.a
	until_ok 60 'the monitor answers' client mon stat
}

manager() {
	local data=$dir/data/mgr.x
	if [ ! -s "$data/keyring" ]; then
		mkdir -p "$data"
		client auth get-or-create mgr.x mon 'allow profile mgr' osd 'allow *' mds 'allow *' -o "$data/keyring"
	fi
	launch mgr.x
}

# new_osd NUMBER: tells an empty cluster of it, where the first gets the id 0, the next 1 …
new_osd() {
	local id
	[ ! -e "$dir/data/osd.$1/made" ] || return 0
	[ -s "$dir/osd$1.uuid" ] || cat /proc/sys/kernel/random/uuid >"$dir/osd$1.uuid"
	[ -s "$dir/osd$1.key" ] || (umask 077 && ceph-authtool --gen-print-key >"$dir/osd$1.key")
	id=$(printf '{"cephx_secret":"%s"}' "$(cat "$dir/osd$1.key")" | client osd new "$(cat "$dir/osd$1.uuid")" -i -)
	[ "$id" = "$1" ] || die "OSD $1 was given the id $id"
}

# osd NUMBER: makes its store and starts it
osd() {
	local data=$dir/data/osd.$1
	if [ ! -e "$data/made" ]; then
		rm -rf "$data"
		mkdir -p "$data"
		truncate --size "$size" "$data/block"
		(umask 077 && printf '[osd.%s]\n\tkey = %s\n' "$1" "$(cat "$dir/osd$1.key")" >"$data/keyring")
		ceph-osd --conf "$conf" --id "$1" --mkfs --osd-uuid "$(cat "$dir/osd$1.uuid")" >>"$dir/log/setup.log" 2>&1
		touch "$data/made"
	fi
	launch "osd.$1"
}

available() { client mgr stat | grep -q '"available": *true'; }
all_up() { client osd stat --format json | grep -q "\"num_up_osds\":$osds,"; }
clean() { client pg stat | grep -qE '^([0-9]+) pgs: \1 active\+clean;'; }

up() {
	for tool in ceph ceph-mon ceph-mgr ceph-osd; do have $tool || die "there is no $tool here"; done
	identity
	monitor
	manager
	local n making=()
	# the ids are given in order; the rest is done side by side
	for ((n = 0; n < osds; n++)); do
		new_osd "$n"
		osd "$n" &
		making+=($!)
	done
	for n in "${making[@]}"; do wait "$n" || die "an OSD was not made; see $dir/log"; done
	until_ok 90 'the manager is available' available
	until_ok 90 'the OSDs are up' all_up
	[ "$osds" = 0 ] || until_ok 90 'the placement groups are clean' clean
}

# finish NAME…: side by side
finish() {
	local name pids=()
	for name in "$@"; do
		stop "$dir/pid/$name" &
		pids+=($!)
	done
	# not for all children: where this shell launched the other daemons, they are among them
	[ ${#pids[@]} = 0 ] || wait "${pids[@]}"
}

down() {
	[ -d "$dir/pid" ] || return 0
	# the monitor last: an OSD that ends tells it so
	local names
	names=$(cd "$dir/pid" && find . -name 'osd.*' -printf '%f ')
	# shellcheck disable=SC2086 # one word each
	finish $names
	finish mgr.x
	finish mon.a
	rm -rf --one-file-system "$dir"
}

case $verb in
up) up ;;
hold)
	trap down EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	up
	echo ready
	while read -r _; do :; done
	;;
start) for name in "$@"; do launch "$name"; done ;;
stop) finish "$@" ;;
down) down ;;
*) die "what is $verb?" ;;
esac
