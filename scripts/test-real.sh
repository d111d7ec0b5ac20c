#!/usr/bin/env bash
# Starts the real parts on free ports, runs a command that can use them, ends
# what it started.
#
#   test-real.sh COMMAND…
#
# Parts (METAL3_PARTS chooses; all of them by default), and what the command sees:
#   main    the current Ironic, no authentication   METAL3_TEST_IRONIC, …_HTTP, …_HTTP_DIR, METAL3_TEST_BMC
#   basic   the same with http_basic and TLS        METAL3_TEST_IRONIC_BASIC, …_CA, …_USERNAME, …_PASSWORD, …_PASSWORD_FILE,
#                                                   …_HTTP, …_HTTP_DIR, METAL3_TEST_BMC_BASIC
#   old     the oldest Ironic that we support       METAL3_TEST_IRONIC_OLD, …_HTTP, …_HTTP_DIR, METAL3_TEST_BMC_OLD
#   fake    the current one, fake hardware whose    METAL3_TEST_IRONIC_FAKE, …_HTTP, …_HTTP_DIR
#           steps take two seconds
#   ipmi    IPMI simulators in front of machines    METAL3_TEST_IPMI: "host:port host:port …"
#           of main
# METAL3_TEST_DIR is the folder of the run. METAL3_TEST_MACHINES is the number of machines behind each Ironic that
# are handed out, from METAL3_TEST_FIRST on: the ones before it belong to the contract suite.
# METAL3_TEST_IMAGE and METAL3_TEST_IMAGE_SHA256 are an image that main can fetch.
# METAL3_KEEP=1 leaves the parts running and says how to end them; METAL3_TEST_LOGS=DIR keeps their logs.
# METAL3_PROOF=1 fails when one of them (fake aside) deployed no machine.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
lab=$top/scripts/lab
[ $# -gt 0 ] || { sed -n '2,20p' "$0"; exit 2; }
parts=" ${METAL3_PARTS:-main basic old fake ipmi} "
wants() { case $parts in *" $1 "*) return 0 ;; *) return 1 ;; esac }

if ! is_root; then
	say "without root no real part can be started: what needs one is skipped"
	exec "$@"
fi

dir=$(mktemp -d "${TMPDIR:-/tmp}/metal3-real.XXXXXX")
reserved=16 machines=48 ipmi=4
export METAL3_TEST_DIR=$dir METAL3_TEST_FIRST=$((reserved + 1)) METAL3_TEST_MACHINES=$machines

down() {
	local rc=$? part
	trap - EXIT INT TERM
	if [ -n "${METAL3_TEST_LOGS:-}" ]; then
		mkdir -p "$METAL3_TEST_LOGS"
		for part in "$dir"/*/; do
			part=$(basename "$part")
			cp "$dir/$part/log/ironic.log" "$METAL3_TEST_LOGS/$part.log" 2>/dev/null || cp "$dir/$part/sim.log" "$METAL3_TEST_LOGS/$part.log" 2>/dev/null || true
		done
	fi
	if [ "${METAL3_KEEP:-0}" = 1 ]; then
		say "left running: export \$(xargs <$dir/env); end them with METAL3_REAL=$dir scripts/test-real.sh --down"
		exit $rc
	fi
	end_parts "$dir"
	exit $rc
}
end_parts() {
	local p
	"$lab/ipmi-down.sh" "$1/ipmi" || true
	for p in main basic old fake; do
		[ ! -d "$1/$p-machines" ] || "$lab/machines-down.sh" "$1/$p-machines" || true
		"$lab/ironic-down.sh" "$1/$p" || true
	done
	rm -rf --one-file-system "$1"
}
if [ "$1" = --down ]; then
	rmdir "$dir"
	[ -e "${METAL3_REAL:?}/env" ] || die "nothing was started in $METAL3_REAL"
	end_parts "$METAL3_REAL"
	exit 0
fi
trap down EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# one_ironic PART VARIABLE SUITE [NAME=VALUE…]: starts it with its machines and
# writes what the command will see to PART.env
one_ironic() {
	local part=$1 name=$2 suite=$3 bmc=${2/IRONIC/BMC} password
	shift 3
	password=lab-$(head -c 12 /dev/urandom | od -An -tx1 | tr -d ' \n')
	# shellcheck disable=SC2163 # the rest are NAME=VALUE
	export IRONIC_SUITE=$suite IRONIC_PORT=${ports[$part-api]} IRONIC_HTTP_PORT=${ports[$part-http]} IRONIC_PASSWORD=$password "$@"
	endpoint=$("$lab/ironic-up.sh" "$dir/$part" | tail -1)
	printf 'API %s' "$(curl -sk "$endpoint/" | jq -r .default_version.version)" >"$dir/$part/api"
	{
		echo "$name=$endpoint"
		echo "${name}_HTTP=http://127.0.0.1:$IRONIC_HTTP_PORT"
		echo "${name}_HTTP_DIR=$dir/$part/http"
		case $part in
		main) image METAL3_TEST_IMAGE "$dir/$part/http" "http://127.0.0.1:$IRONIC_HTTP_PORT" ;;
		old) image METAL3_TEST_IMAGE_OLD "$dir/$part/http" "http://127.0.0.1:$IRONIC_HTTP_PORT" ;;
		esac
		if [ "${IRONIC_AUTH:-noauth}" = http_basic ]; then
			(umask 077 && printf %s "$password" >"$dir/$part/password")
			printf '%s\n' "${name}_USERNAME=lab" "${name}_PASSWORD=$password" "${name}_PASSWORD_FILE=$dir/$part/password" "${name}_CA=$dir/$part/tls/ca.crt"
		fi
		if [ "$part" != fake ]; then
			export SIM_PORT=${ports[$part-bmc]} SIM_COUNT=$((reserved + machines + ipmi)) SIM_NETBOOT=http://127.0.0.1:$IRONIC_HTTP_PORT
			export SIM_ARGS="-power-delay 200ms -boot-delay 300ms -heartbeat 1s -step-delay 200ms"
			echo "$bmc=$("$lab/machines-up.sh" "$dir/$part-machines")"
		fi
	} >"$dir/$part.env"
}

# image VARIABLE DIR URL: makes a small raw image there and says where it is
image() {
	[ -e "$2/contract.raw" ] || head -c 1048576 /dev/urandom >"$2/contract.raw"
	echo "$1=$3/contract.raw"
	echo "${1}_SHA256=$(sha256sum "$2/contract.raw" | cut -d' ' -f1)"
}

declare -A ports
for p in main basic old fake; do
	for what in api http bmc; do free_port "ports[$p-$what]"; done
done
ipmi_port=0
free_port ipmi_port

t0=$(date +%s)
if [ -z "${METAL3_LAB_BIN:-}" ]; then
	export METAL3_LAB_BIN=$dir/metal3-lab
	(cd "$top" && CGO_ENABLED=0 go build -buildvcs=false -o "$METAL3_LAB_BIN" ./internal/lab/cmd/metal3-lab)
fi
current=${METAL3_MAIN_SUITE:-trixie}
pids=()
! wants main || { (trap - EXIT; one_ironic main METAL3_TEST_IRONIC "$current") & pids+=($!); }
! wants basic || { (trap - EXIT; one_ironic basic METAL3_TEST_IRONIC_BASIC "$current" IRONIC_AUTH=http_basic IRONIC_TLS=1) & pids+=($!); }
! wants old || { (trap - EXIT; one_ironic old METAL3_TEST_IRONIC_OLD "$(old_suite)") & pids+=($!); }
! wants fake || { (trap - EXIT; one_ironic fake METAL3_TEST_IRONIC_FAKE "$current" IRONIC_FAKE_DELAY=2) & pids+=($!); }
for pid in "${pids[@]}"; do wait "$pid" || die "a real part did not start"; done

if wants ipmi && wants main; then
	bmc=$(sed -n 's/^METAL3_TEST_BMC=//p' "$dir/main.env")
	# the last machines are not handed out: they have IPMI
	list=$(IPMI_COUNT=$ipmi IPMI_PORT=$ipmi_port IPMI_FIRST=$((reserved + machines + 1)) IPMI_SIM=$bmc "$lab/ipmi-up.sh" "$dir/ipmi" | awk '{ printf "%s:%s ", $2, $3 }')
	echo "METAL3_TEST_IPMI=${list% }" >"$dir/ipmi.env"
fi
for f in "$dir"/*.env; do
	while IFS='=' read -r name value; do export "$name=$value"; done <"$f"
done
(umask 077 && cat "$dir"/*.env >"$dir/env")
say "real parts are up after $(($(date +%s) - t0)) s:$(for f in "$dir"/*.env; do printf ' %s' "$(basename "$f" .env)"; done)"

rc=0
"$@" || rc=$?

# What the real parts really did: a green run that never deployed a machine on
# a real Ironic proves nothing.
for p in main basic old fake; do
	log=$dir/$p/log/ironic.log
	[ -e "$log" ] || continue
	deployed=$(grep -c 'moved to provision state "active" from state "deploying"' "$log" || true)
	printf '%-32s %6s requests %6s state changes %5s deployments\n' "real Ironic $p ($(cat "$dir/$p/api"))" \
		"$(grep -c 'HTTP/1.1" status' "$log" || true)" "$(grep -c 'moved to provision state' "$log" || true)" "$deployed" >&2
	if [ "$deployed" = 0 ] && [ "${METAL3_PROOF:-0}" = 1 ] && [ "$p" != fake ]; then
		say "no machine was deployed on the real Ironic \"$p\": its tests did not run"
		[ $rc != 0 ] || rc=1
	fi
done
exit $rc
