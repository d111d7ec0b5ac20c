#!/usr/bin/env bash
# Builds and starts our simulated machines on loopback: Redfish BMCs whose machines run a deploy agent.
#
#   machines-up.sh DIR
#
# Environment: SIM_PORT 8000, SIM_COUNT 8, SIM_NETBOOT (Ironic's http_url, for network boots; http://127.0.0.1:6180),
#   SIM_TLS 1: HTTPS with a throw-away certificate (DIR/bmc.crt); SIM_ARGS: more flags of metal3-lab (-h);
#   METAL3_LAB_BIN: a built metal3-lab, else it is built from this tree
# Prints the BMCs' base address. User admin, password "password"; machine i is
#   /redfish/v1/Systems/6d6f636b-0000-4000-8000-<i in 12 digits>
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -eq 1 ] || { sed -n '2,10p' "$0"; exit 2; }
mkdir -p "$1"
lab=$(cd "$1" && pwd)
port=${SIM_PORT:-8000} scheme=http args=()
if [ "${SIM_TLS:-0}" = 1 ]; then
	scheme=https
	[ -s "$lab/bmc.crt" ] || openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=bmc \
		-addext subjectAltName=IP:127.0.0.1,DNS:localhost -keyout "$lab/bmc.key" -out "$lab/bmc.crt" 2>/dev/null
	args=(-cert "$lab/bmc.crt" -key "$lab/bmc.key")
fi
base=$scheme://127.0.0.1:$port
if alive "$lab/pid.sim"; then
	echo "$base"
	exit 0
fi
! listening "$port" || die "port $port is taken by somebody else"
bin=${METAL3_LAB_BIN:-}
if [ -z "$bin" ]; then
	bin=$lab/metal3-lab
	(cd "$top" && CGO_ENABLED=0 go build -buildvcs=false -o "$bin" ./internal/lab/cmd/metal3-lab)
fi
(
	echo "$BASHPID" >"$lab/pid.sim"
	# shellcheck disable=SC2086 # SIM_ARGS is a list
	exec setsid "$bin" -listen "127.0.0.1:$port" -n "${SIM_COUNT:-8}" -netboot "${SIM_NETBOOT:-http://127.0.0.1:6180}" \
		"${args[@]}" ${SIM_ARGS:-} </dev/null >"$lab/sim.log" 2>&1
) &
disown
for _ in $(seq 1 100); do
	if curl -sk -m 2 "$base/redfish/v1/" >/dev/null; then
		echo "$base"
		exit 0
	fi
	alive "$lab/pid.sim" || break
	sleep 0.1
done
tail -5 "$lab/sim.log" >&2
die "the simulated machines do not answer"
