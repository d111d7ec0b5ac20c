#!/usr/bin/env bash
# Hosts on one machine, for everything that is done over SSH to several hosts. Each has a network, process table,
# name and mounts of its own, its own address in a private network, and its own SSH server. What a real host keeps
# on disk (PRIVATE, below) is its own too, and outlives "off"; what it keeps in memory (/run, /tmp) does not.
#
#   ceph-hosts.sh up DIR              N hosts: h1, h2, …; those that run are left alone
#   ceph-hosts.sh down DIR            all of it, and DIR: also what a killed "up" left
#   ceph-hosts.sh off DIR HOST        power off, with everything that runs there;  on DIR HOST: power on
#   ceph-hosts.sh cut DIR HOST        pull the network cable;  join DIR HOST: plug it in again
#   ceph-hosts.sh root DIR HOST PATH  the host runs in another root file system from now on, as after an upgrade of
#                                     its packages: new sessions are in it, processes that run stay in the old one
#   ceph-hosts.sh sweep               "down" for all whose owner is gone
#
# Environment of up, remembered in DIR: N=3; ROOT=/ root file system of all hosts; OWNER pid that they end with;
# P prefix of links and namespaces, NET three numbers of an IPv4 network (both are chosen where they are not given).
# DIR has, for ssh -F DIR/ssh_config h1: id, known_hosts, ssh_config; and "hosts": name and address of each.
# Kernel objects: links ${P}br and ${P}v1…, network namespaces ${P}h1….
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
self=$top/scripts/lab/ceph-hosts.sh
PRIVATE="etc/ceph var/lib/ceph var/log/ceph var/tmp root srv mnt run tmp"
usage() { sed -n '2,18p' "$self"; exit 2; }

hosts() { seq -f 'h%.0f' "$N"; }
address() { echo "$NET.$((10 + ${1#h}))"; }
link() { echo "${P}v${1#h}"; }
netns() { echo "$P$1"; }
known() { case " $(hosts | paste -sd' ') " in *" $1 "*) ;; *) die "there is no host $1" ;; esac }
# pids of everything that runs on the host: who is in its network cannot hide
pids() { ip netns pids "$(netns "$1")" 2>/dev/null || true; }
# the host's first process, as this machine numbers it
init_pid() {
	local p
	for p in $(pids "$1"); do
		if [ "$(awk '/^NSpid:/ { print NF - 1, $NF }' "/proc/$p/status" 2>/dev/null)" = "2 1" ]; then
			echo "$p"
			return 0
		fi
	done
	return 1
}
started_at() { cut -d')' -f2 "/proc/$1/stat" 2>/dev/null | awk '{ print $20 }'; }
remember() { printf '%s=%q\n' N "$N" P "$P" NET "$NET" ROOT "$ROOT" OWNER "$OWNER" OWNER_SINCE "$([ -z "$OWNER" ] || started_at "$OWNER")" >"$D/rig"; }

# choose: a prefix and a network that nobody here uses
choose() {
	local h
	h=$(cksum <<<"$D$$" | cut -d' ' -f1)
	for _ in $(seq 1 500); do
		P=${P_GIVEN:-m3$(printf %05x $((h % 1048576)))}
		NET=${NET_GIVEN:-10.$((64 + h / 256 % 64)).$((h % 256))}
		if ! ip -4 -o addr | grep -qF " $NET." && ! ip link show "${P}br" >/dev/null 2>&1; then return 0; fi
		h=$((h + 7919))
	done
	die "no free network"
}

up() {
	is_root || die "hosts need root"
	for p in ip unshare nsenter setsid; do have "$p" || die "$p is missing (Debian: iproute2, util-linux)"; done
	mkdir -p "$D"
	exec 9>"${TMPDIR:-/tmp}/metal3-hosts.lock"
	flock 9 # one network is chosen, and taken, at a time
	if [ ! -s "$D/rig" ]; then
		N=${N:-3} ROOT=${ROOT:-/} OWNER=${OWNER:-} P_GIVEN=${P:-} NET_GIVEN=${NET:-}
		choose
		remember
	else
		. "$D/rig"
	fi
	ip link show "${P}br" >/dev/null 2>&1 || ip link add "${P}br" type bridge
	ip addr replace "$NET.254/24" dev "${P}br"
	ip link set "${P}br" up
	exec 9>&-
	watch
	keys
	for h in $(hosts); do boot "$h"; done
	for h in $(hosts); do answers "$h"; done
}

# watch: the hosts end with their owner, however that one ends
watch() {
	[ -n "$OWNER" ] && ! watched || return 0
	# shellcheck disable=SC2016 # expanded there
	setsid bash -c 'tail --pid="$1" -f /dev/null; exec "$2" down "$3"' hosts-watch "$OWNER" "$self" "$D" </dev/null >/dev/null 2>&1 &
	echo $! >"$D/watch.pid"
}
watched() { [ -s "$D/watch.pid" ] && grep -qsF "$D" "/proc/$(cat "$D/watch.pid")/cmdline"; }

keys() {
	local h
	[ -s "$D/id" ] || ssh-keygen -q -t ed25519 -N '' -C hosts -f "$D/id"
	for h in $(hosts); do
		mkdir -p "$D/$h"
		[ -s "$D/$h/host_key" ] || ssh-keygen -q -t ed25519 -N '' -C "$h" -f "$D/$h/host_key"
		[ -s "$D/$h/machine-id" ] || tr -d - </proc/sys/kernel/random/uuid >"$D/$h/machine-id"
	done
	for h in $(hosts); do echo "$h $(address "$h")"; done >"$D/hosts"
	for h in $(hosts); do echo "$(address "$h") $(cut -d' ' -f1,2 "$D/$h/host_key.pub")"; done >"$D/known_hosts"
	for h in $(hosts); do
		printf 'Host %s\n  HostName %s\n  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n' "$h" "$(address "$h")" "$D/id"
		printf '  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n  ConnectTimeout 5\n' "$D/known_hosts"
	done >"$D/ssh_config"
}

# boot HOST: its network, unless that is there, and its first process, unless that runs
boot() {
	local h=$1 ns v d p
	ns=$(netns "$h") v=$(link "$h") d=$D/$h
	if [ ! -e "/run/netns/$ns" ] || ! ip link show "$v" >/dev/null 2>&1; then
		ip netns del "$ns" 2>/dev/null || true
		ip netns add "$ns"
		ip link add "$v" type veth peer name eth0 netns "$ns"
		ip link set "$v" master "${P}br"
		ip -n "$ns" link set lo up
		ip -n "$ns" addr add "$(address "$h")/24" dev eth0
		ip -n "$ns" link set eth0 up
		ip -n "$ns" route add default via "$NET.254"
	fi
	ip link set "$v" up
	! init_pid "$h" >/dev/null || return 0
	[ -s "$d/root" ] || echo "$ROOT" >"$d/root"
	rm -rf --one-file-system "$d/disk/run" "$d/disk/tmp"
	for p in $PRIVATE; do mkdir -p "$d/disk/$p" "$d/roots"; done
	chmod 700 "$d/disk/root"
	chmod 1777 "$d/disk/tmp" "$d/disk/var/tmp"
	mkdir -p "$d/disk/run/sshd" "$d/disk/run/lock"
	cp /proc/sys/kernel/random/uuid "$d/boot-id"
	{ echo "127.0.0.1 localhost"; awk '{ print $2, $1 }' "$D/hosts"; } >"$d/etc-hosts"
	mkdir "$d/disk/run/host"
	cp "$d/host_key" "$D/id.pub" "$d/disk/run/host/"
	cat >"$d/disk/run/host/sshd_config" <<-S
		ListenAddress $(address "$h"):22
		HostKey /run/host/host_key
		AuthorizedKeysFile /run/host/id.pub
		PermitRootLogin prohibit-password
		PasswordAuthentication no
		KbdInteractiveAuthentication no
		UsePAM no
		UseDNS no
		StrictModes no
		PidFile /run/host/sshd.pid
		MaxStartups 100
		MaxSessions 100
		Subsystem sftp internal-sftp
	S
	env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 setsid ip netns exec "$ns" \
		unshare --uts --pid --mount --fork --kill-child --mount-proc bash "$self" init "$D" "$h" </dev/null >"$d/console.log" 2>&1 &
}

# init HOST: the host's first process. It adopts what daemons leave, and bash reaps it.
init() {
	mount --make-rprivate /
	hostname "$1"
	ulimit -n 65536 2>/dev/null || true
	enter "$1"
	while :; do
		sleep 3600 &
		wait $! || true
	done
}

# enter HOST: on the host, mounts its root beside the ones that it has, and starts an SSH server in it
enter() {
	local d=$D/$1 n=0 r p
	while mountpoint -q "$d/roots/$n"; do n=$((n + 1)); done
	r=$d/roots/$n
	mkdir -p "$r"
	mount --bind "$(cat "$d/root")" "$r"
	mount -t proc proc "$r/proc"
	mount --rbind /sys "$r/sys"
	mount --rbind /dev "$r/dev"
	for p in $PRIVATE; do
		mkdir -p "$r/$p"
		mount --bind "$d/disk/$p" "$r/$p"
	done
	mount --bind "$d/etc-hosts" "$r/etc/hosts"
	# nobody resolves names for hosts in a private network: ask nobody, rather than wait
	[ ! -f "$r/etc/resolv.conf" ] || mount --bind /dev/null "$r/etc/resolv.conf"
	[ ! -f "$r/etc/machine-id" ] || mount --bind "$d/machine-id" "$r/etc/machine-id"
	mount --bind "$d/boot-id" "$r/proc/sys/kernel/random/boot_id"
	mkdir -p "$r/run/ceph"
	chroot "$r" chown ceph:ceph /var/lib/ceph /var/log/ceph /run/ceph 2>/dev/null || true
	cd /
	chroot "$r" /usr/sbin/sshd -f /run/host/sshd_config -E /run/host/sshd.log
}

answers() {
	local end=$((SECONDS + 30))
	until (exec 3<>"/dev/tcp/$(address "$1")/22") 2>/dev/null; do
		[ $SECONDS -lt $end ] || die "$1 does not answer: $(tail -3 "$D/$1/console.log" "$D/$1/disk/run/host/sshd.log" 2>/dev/null | paste -sd' ')"
		sleep 0.05
	done
}

# off HOST: nobody says goodbye: the cable goes first
off() {
	local p
	ip link set "$(link "$1")" down 2>/dev/null || true
	for _ in $(seq 1 100); do
		p=$(pids "$1")
		[ -n "$p" ] || return 0
		# shellcheck disable=SC2086 # a list
		kill -9 $p 2>/dev/null || true
		sleep 0.05
	done
	die "something on $1 does not end: $p"
}

# change_root HOST PATH: the SSH server goes with its sessions; all else goes on running
change_root() {
	local i p
	[ -x "$2/usr/sbin/sshd" ] || die "there is no SSH server in $2"
	i=$(init_pid "$1") || die "$1 is off"
	realpath "$2" >"$D/$1/root"
	# shellcheck disable=SC2016 # expanded there
	nsenter -t "$i" -m -p -n -u bash -c '
		p=$(cat "$1/disk/run/host/sshd.pid") && [ "$p" -gt 1 ] && pkill -9 -P "$p"; kill -9 "$p"; exit 0' - "$D/$1"
	for p in $(seq 1 100); do (exec 3<>"/dev/tcp/$(address "$1")/22") 2>/dev/null || break; sleep 0.02; done
	nsenter -t "$i" -m -p -n -u bash "$self" enter "$D" "$1" </dev/null >>"$D/$1/console.log" 2>&1
	answers "$1"
}

down() {
	local h f l
	if [ ! -s "$D/rig" ]; then
		rmdir "$D" 2>/dev/null || say "there are no hosts in $D"
		return
	fi
	. "$D/rig"
	if watched && [ "$(cat "$D/watch.pid")" != $$ ]; then kill -- "-$(cat "$D/watch.pid")" 2>/dev/null || true; fi
	for h in $(hosts); do
		off "$h"
		ip netns del "$(netns "$h")" 2>/dev/null || true
		ip link del "$(link "$h")" 2>/dev/null || true
	done
	ip link del "${P}br" 2>/dev/null || true
	if [ -n "$(losetup -nO NAME 2>/dev/null)" ]; then
		find "$D" -xdev -type f -size +64k | while read -r f; do
			for l in $(losetup -nO NAME -j "$f"); do losetup -d "$l"; done
		done
	fi
	rm -rf --one-file-system "$D"
}

sweep() {
	local f
	for f in "${TMPDIR:-/tmp}"/m3h*/rig; do
		[ -s "$f" ] || continue
		# shellcheck disable=SC1090 # written by remember
		(. "$f" && [ -n "$OWNER" ] && [ "$(started_at "$OWNER")" != "$OWNER_SINCE" ] && "$self" down "$(dirname "$f")") || true
	done
}

[ $# -ge 1 ] || usage
command=$1
[ "$command" != sweep ] || { sweep; exit 0; }
[ $# -ge 2 ] || usage
D=$(realpath -m "$2")
shift 2
case $command in
up) up ;;
down) down ;;
init | enter) "$command" "$@" ;;
off | on | cut | join | root)
	[ $# -ge 1 ] && [ -s "$D/rig" ] || usage
	. "$D/rig"
	known "$1"
	case $command in
	off) off "$1" ;;
	on) boot "$1" && answers "$1" ;;
	cut) ip link set "$(link "$1")" down ;;
	join) ip link set "$(link "$1")" up ;;
	root) change_root "$1" "${2:?PATH}" ;;
	esac
	;;
*) usage ;;
esac
