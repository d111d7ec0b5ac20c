#!/usr/bin/env bash
# Starts IPMI 2.0 BMC simulators (OpenIPMI's ipmi_sim) on loopback UDP ports.
#
#   ipmi-up.sh DIR
#
# Environment: IPMI_COUNT 1, IPMI_PORT 6230 (the first; the next ones follow), IPMI_USERNAME admin, IPMI_PASSWORD password,
#   IPMI_SIM     base URL of running simulated machines: power commands press the button of one of them
#                (a network boot reads Ironic's pxelinux.cfg files); else power is a file in DIR
#   IPMI_FIRST 1: the machine behind the first simulator
# Prints one "machine host port" line per simulator. Cipher suite 3 only:
#   IPMI_PASSWORD=password ipmitool -I lanplus -C 3 -H 127.0.0.1 -p 6230 -U admin -E chassis power status
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { sed -n '2,11p' "$0"; exit 2; }
mkdir -p "$1"
lab=$(cd "$1" && pwd)
count=${IPMI_COUNT:-1} port=${IPMI_PORT:-6230} first=${IPMI_FIRST:-1} sim=${IPMI_SIM:--}
username=${IPMI_USERNAME:-admin}
export IPMI_PASSWORD=${IPMI_PASSWORD:-password}
install_packages openipmi ipmitool curl jq
cp "$here/chassis.sh" "$lab/chassis.sh"

for n in $(seq 0 $((count - 1))); do
	i=$((first + n)) p=$((port + n))
	if alive "$lab/$i.pid"; then
		echo "$i 127.0.0.1 $p"
		continue
	fi
	mkdir -p "$lab/state$i"
	(
		umask 077
		cat >"$lab/$i.conf" <<-CONF
			name "bmc$i"
			set_working_mc 0x20
			  startlan 1
			    addr 127.0.0.1 $p
			    priv_limit admin
			    allowed_auths_callback none md2 md5 straight
			    allowed_auths_user none md2 md5 straight
			    allowed_auths_operator none md2 md5 straight
			    allowed_auths_admin none md2 md5 straight
			    guid a123456789abcdefa12345678900$(printf %04x "$i")
			  endlan
			  chassis_control "$lab/chassis.sh $lab $i $sim 0x20"
			  user 1 true "" "anonymous" user 10 none md2 md5 straight
			  user 2 true "$username" "$IPMI_PASSWORD" admin 10 none md2 md5 straight
		CONF
		cat >"$lab/$i.emu" <<-EMU
			mc_setbmc 0x20
			mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
			sel_enable 0x20 1000 0x0a
			mc_enable 0x20
		EMU
	)
	(
		echo "$BASHPID" >"$lab/$i.pid"
		cd "$lab"
		exec setsid ipmi_sim -c "$lab/$i.conf" -f "$lab/$i.emu" -s "$lab/state$i" -n </dev/null >"$lab/$i.log" 2>&1
	) &
	disown
	ok=0
	for _ in $(seq 1 50); do
		# without -C ipmitool asks for the cipher suites first, which ipmi_sim does not answer: 10 s a call
		if ipmitool -I lanplus -C 3 -H 127.0.0.1 -p "$p" -U "$username" -E chassis power status >/dev/null 2>&1; then
			ok=1
			break
		fi
		sleep 0.2
	done
	[ $ok = 1 ] || {
		tail -5 "$lab/$i.log" >&2
		die "IPMI simulator $i does not answer"
	}
	echo "$i 127.0.0.1 $p"
done
