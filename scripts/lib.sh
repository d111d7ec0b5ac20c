# shellcheck shell=bash
# Shared by the scripts of this folder; sourced, never run.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/terraform-provider-metal3

say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
die() {
	say "error: $*"
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }
is_root() { [ "$(id -u)" = 0 ]; }

# alive PIDFILE: is the process that it names there?
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }

# stop PIDFILE: ask it to end, wait, insist. The recorded pid leads its own
# process group (setsid), so that its children go with it.
stop() {
	[ -s "$1" ] || return 0
	local pid
	pid=$(cat "$1")
	kill "$pid" 2>/dev/null || true
	for _ in $(seq 1 50); do
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 -- "-$pid" 2>/dev/null || kill -9 "$pid" 2>/dev/null || true
	rm -f "$1"
}

# listening PORT: does somebody accept connections there?
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port VARIABLE: sets it to a port that nobody listens on and that this
# run did not hand out before. They lie below the range that the kernel takes
# for outgoing connections, so that none is lost between choosing and binding.
ports_given=" "
free_port() {
	local p
	for _ in $(seq 1 200); do
		p=$((20000 + RANDOM % 10000))
		case $ports_given in *" $p "*) continue ;; esac
		listening "$p" && continue
		ports_given="$ports_given$p "
		printf -v "$1" '%s' "$p"
		return 0
	done
	die "no free port between 20000 and 30000"
}

# installed PACKAGE: of Debian's packages
installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -q '^installed'; }

# install PACKAGE…: those of them that are not there yet
install_packages() {
	local need=() p
	for p in "$@"; do installed "$p" || need+=("$p"); done
	[ ${#need[@]} -gt 0 ] || return 0
	is_root || die "these packages are missing, and only root can install them: ${need[*]}"
	say "installing ${need[*]}"
	mkdir -p "$cache"
	(
		# two set-ups at a time must not both run apt
		flock 9
		# the lists may be absent or too old to be served: then, and only then, they are fetched
		apt_get install "${need[@]}" >"$cache/apt.log" 2>&1 || {
			apt_get update >"$cache/apt.log" 2>&1 || true
			apt_get install "${need[@]}" >"$cache/apt.log" 2>&1
		} || {
			tail -5 "$cache/apt.log" >&2
			die "could not install ${need[*]}"
		}
	) 9>"$cache/apt.lock"
}
apt_get() { env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=900 -o Dpkg::Use-Pty=0 -qq -y --no-install-recommends "$@"; }

# timed WORDS -- COMMAND…: runs it and says how long it took
timed() {
	local name=$1 t0 rc=0
	shift 2
	t0=$(date +%s)
	"$@" || rc=$?
	say "$name: $(($(date +%s) - t0)) s$([ $rc = 0 ] || echo " (failed: $rc)")"
	return $rc
}

# terraform_cli: prints the Terraform or OpenTofu to use, or fails. Write-only
# attributes need 1.11 of either; an older one counts as none.
terraform_cli() {
	local cli minor
	for cli in "${METAL3_TERRAFORM:-}" terraform tofu "$("$top/scripts/tool.sh" --path tofu)"; do
		[ -n "$cli" ] && cli=$(command -v "$cli") || continue
		minor=$(TF_CLI_CONFIG_FILE=/dev/null "$cli" version -json 2>/dev/null | grep -oE '"terraform_version": *"1\.[0-9]+' | grep -oE '[0-9]+$') || continue
		[ "$minor" -ge 11 ] || continue
		echo "$cli"
		return 0
	done
	return 1
}

# old_suite: where the oldest Ironic that we support (21.4.4) comes from: this
# machine's own packages if it is a Debian 12, else a root of its own
old_suite() {
	if (. /etc/os-release && [ "$ID" = debian ] && [ "$VERSION_ID" = 12 ]) 2>/dev/null; then echo host; else echo bookworm; fi
}
