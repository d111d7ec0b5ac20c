#!/usr/bin/env bash
# Starts a stand-alone OpenStack Ironic on loopback, without systemd.
#
#   ironic-up.sh DIR      all it writes is under DIR; run again: nothing to do if it answers
#
# Environment (all optional):
#   IRONIC_SUITE    host (default): Ironic of this Debian; or a suite that root.sh builds (trixie, forky, bookworm)
#   IRONIC_PORT 6385, IRONIC_RPC_PORT 8089, IRONIC_HTTP_PORT 6180
#   IRONIC_AUTH     noauth (default) | http_basic, with IRONIC_USERNAME / IRONIC_PASSWORD (lab / lab-secret)
#   IRONIC_TLS      1: API over TLS with a throw-away CA, DIR/tls/ca.crt
#   IRONIC_MODE     single (default: one process, no RPC) | split (ironic-api + ironic-conductor, JSON RPC)
#   IRONIC_FAKE_DELAY / IRONIC_FAKE_{POWER,BOOT,DEPLOY,MANAGEMENT,INSPECT,RAID,BIOS,…}_DELAY   seconds, "a" or "a,b"
#   IRONIC_AUTOMATED_CLEAN false, IRONIC_MAX_LIMIT 1000, IRONIC_DEBUG false, IRONIC_WORKERS, IRONIC_DB,
#   IRONIC_FAST_TRACK, IRONIC_AGENT_REQUIRE_TLS, IRONIC_POWER_SYNC, IRONIC_{DEPLOY,CLEAN,INSPECT}_TIMEOUT
#   IRONIC_EXTRA_CONF   a file with more ironic.conf sections, read last
#   IRONIC_WAIT     seconds to wait for the API and an active conductor (180)
# Prints the endpoint; DIR/env can be sourced.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 1 ] || { sed -n '2,18p' "$0"; exit 2; }
mkdir -p "$1"
lab=$(cd "$1" && pwd)
suite=${IRONIC_SUITE:-host}
export IRONIC_PORT=${IRONIC_PORT:-6385} IRONIC_RPC_PORT=${IRONIC_RPC_PORT:-8089} IRONIC_HTTP_PORT=${IRONIC_HTTP_PORT:-6180}
export IRONIC_AUTH=${IRONIC_AUTH:-noauth} IRONIC_TLS=${IRONIC_TLS:-0} IRONIC_MODE=${IRONIC_MODE:-single}
username=${IRONIC_USERNAME:-lab} password=${IRONIC_PASSWORD:-lab-secret}

scheme=http
ask=(curl -s -m 5)
if [ "$IRONIC_TLS" = 1 ]; then
	scheme=https
	ask+=(--cacert "$lab/tls/ca.crt")
fi
# the password goes by file: arguments are there for all to see
[ "$IRONIC_AUTH" != http_basic ] || ask+=(--netrc-file "$lab/netrc")
endpoint=$scheme://127.0.0.1:$IRONIC_PORT

# a driver that is listed is served by a conductor that is alive
ready() { [ "$("${ask[@]}" "$endpoint/v1/drivers" 2>/dev/null | jq -r '.drivers|length' 2>/dev/null || true)" -gt 0 ] 2>/dev/null; }
running() { alive "$lab/pid.ironic" || alive "$lab/pid.conductor"; }

if running && ready; then
	echo "$endpoint"
	exit 0
fi
is_root || die "Ironic needs root: its images are mounted and its Debian root is entered"
# Ironic binds with SO_REUSEPORT: a second one on the same port would share its traffic without a word
for p in "$IRONIC_PORT" "$IRONIC_HTTP_PORT"; do
	! listening "$p" || die "port $p is taken by somebody else"
done

install_packages curl jq openssl python3
root=
if [ "$suite" = host ]; then
	install_packages python3-ironic ipmitool sqlite3 qemu-utils genisoimage
else
	root=$("$here/root.sh" "$suite")
fi

# Debian's python3-sushy (12 and 13) lacks its data directory, without which BIOS registries cannot be read and
# firmware updates never end; an empty one is enough
sushy=$root/usr/lib/python3/dist-packages/sushy
[ ! -d "$sushy" ] || mkdir -p "$sushy/standard_registries"

# inside COMMAND…: becomes the command, where Ironic is; the lab directory is at $in there
if [ -n "$root" ]; then
	in=/lab
	mkdir -p "$root/lab"
	inside() {
		exec unshare -m --propagation private sh -c '
			mount --bind "$1" "$2/lab" && mount -t proc proc "$2/proc" && mount --bind /dev "$2/dev" &&
			r=$2 && shift 2 && exec chroot "$r" "$@"' sh "$lab" "$root" "$@"
	}
else
	in=$lab
	inside() { exec "$@"; }
fi

# --- files ---
mkdir -p "$lab"/{state,http,images,master,master-iso,certificates,log/deploy,lock,tftp/master,tmp,tls}
cp "$here/genconf.py" "$here/launch.py" "$lab/"
if [ "$IRONIC_TLS" = 1 ] && [ ! -s "$lab/tls/api.crt" ]; then
	(
		cd "$lab/tls"
		openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj "/CN=lab CA" -keyout ca.key -out ca.crt
		openssl req -newkey rsa:2048 -nodes -subj "/CN=localhost" -keyout api.key -out api.csr
		printf 'subjectAltName=DNS:localhost,IP:127.0.0.1\n' >api.ext
		openssl x509 -req -in api.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile api.ext -out api.crt
	) >/dev/null 2>&1
fi
if [ "$IRONIC_AUTH" = http_basic ]; then
	(umask 077 && printf 'machine 127.0.0.1 login %s password %s\n' "$username" "$password" >"$lab/netrc")
	# Ironic takes bcrypt in the spelling of Apache's htpasswd only
	(
		inside /usr/bin/python3 -c '
import bcrypt, sys
name, word = sys.stdin.read().split("\n")[:2]
print("%s:%s" % (name, bcrypt.hashpw(word.encode(), bcrypt.gensalt(4, b"2b")).decode().replace("$2b$", "$2y$")))'
	) <<<"$username"$'\n'"$password" >"$lab/htpasswd"
fi
(inside /usr/bin/python3 "$in/genconf.py" "$in")
conf=(--config-file "$in/ironic.conf")
if [ -n "${IRONIC_EXTRA_CONF:-}" ]; then
	cp "$IRONIC_EXTRA_CONF" "$lab/extra.conf"
	conf+=(--config-file "$in/extra.conf")
fi
# never booted by anything: the simulated machines only read the parameters
for f in ipa.kernel ipa.initramfs esp.img; do [ -e "$lab/http/$f" ] || head -c 4096 /dev/zero >"$lab/http/$f"; done

# --- database, start ---
if [ ! -e "$lab/.schema" ]; then
	(inside /usr/bin/python3 "$in/launch.py" ironic-dbsync "${conf[@]}" create_schema) >"$lab/log/dbsync.log" 2>&1 || {
		tail -20 "$lab/log/dbsync.log" >&2
		exit 1
	}
	touch "$lab/.schema"
fi
start() { # name program
	# the subshell execs all the way down, so that its pid is the daemon's
	(
		echo "$BASHPID" >"$lab/pid.$1"
		cd "$lab"
		inside setsid /usr/bin/python3 "$in/launch.py" "$2" "${conf[@]}" </dev/null >>"$lab/log/$1.out" 2>&1 9>&-
	) &
	disown
}
if [ "$IRONIC_MODE" = split ]; then
	start conductor ironic-conductor
	start api ironic-api
else
	start ironic ironic
fi
if ! alive "$lab/pid.http"; then # serves deploy.http_root: boot media and images
	(
		echo "$BASHPID" >"$lab/pid.http"
		exec setsid /usr/bin/python3 -m http.server -b 127.0.0.1 -d "$lab/http" "$IRONIC_HTTP_PORT" </dev/null >>"$lab/log/http.out" 2>&1
	) &
	disown
fi

(
	umask 077
	{
		echo "IRONIC_ENDPOINT=$endpoint"
		echo "IRONIC_HTTP=http://127.0.0.1:$IRONIC_HTTP_PORT"
		[ "$IRONIC_TLS" != 1 ] || echo "IRONIC_CACERT=$lab/tls/ca.crt"
		[ "$IRONIC_AUTH" != http_basic ] || printf 'IRONIC_USERNAME=%s\nIRONIC_PASSWORD=%s\n' "$username" "$password"
	} >"$lab/env"
)

end=$(($(date +%s) + ${IRONIC_WAIT:-180}))
until ready; do
	running || {
		tail -20 "$lab"/log/*.out "$lab/log/ironic.log" >&2
		die "Ironic ended"
	}
	[ "$(date +%s)" -lt $end ] || {
		tail -20 "$lab/log/ironic.log" >&2
		die "Ironic was not ready in time"
	}
	sleep 0.3
done
echo "$endpoint"
