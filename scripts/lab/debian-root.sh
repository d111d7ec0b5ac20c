#!/usr/bin/env bash
# Builds a Debian root with packages in it, once, and prints where it is.
#
#   debian-root.sh NAME SUITE PACKAGE…
#
# Environment: METAL3_ROOTS     where roots are kept (default: in the cache folder)
#              METAL3_MIRROR    a Debian mirror (default: the one this machine uses)
# An unfinished root never counts: it is built beside its place and moved there.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -ge 3 ] || { sed -n '2,8p' "$0"; exit 2; }

name=$1 suite=$2
shift 2
roots=${METAL3_ROOTS:-$cache/roots}
root=$roots/$name

mkdir -p "$roots"
exec 9>"$roots/$name.lock"
flock 9
if [ -e "$root/.lab-ready" ]; then
	echo "$root"
	exit 0
fi

is_root || die "only root can build the Debian root \"$name\" ($suite)"
install_packages debootstrap util-linux
[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || install_packages debian-archive-keyring
say "building the root \"$name\" ($suite), some minutes, once (log: $roots/$name.log)"

mirror=${METAL3_MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 | tr -d ' ' || true)}
new=$root.new
rm -rf --one-file-system "$new" "$root"
{
	# All Debian suites are built the same way; the name of the script is given
	# because an older debootstrap does not know the newer suites.
	debootstrap --variant=minbase "$suite" "$new" ${mirror:+"$mirror" /usr/share/debootstrap/scripts/sid}
	cp /etc/resolv.conf "$new/etc/resolv.conf"
	# nothing is started by the packages, and dpkg need not wait for the disk
	printf '#!/bin/sh\nexit 101\n' >"$new/usr/sbin/policy-rc.d"
	chmod 755 "$new/usr/sbin/policy-rc.d"
	echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/lab"
	printf 'path-exclude=/usr/share/%s/*\n' doc man locale >>"$new/etc/dpkg/dpkg.cfg.d/lab"
	# the mount lives in a namespace of its own and ends with it
	unshare -m --propagation private sh -c '
		mount -t proc proc "$1/proc" && r=$1 && shift &&
		exec chroot "$r" env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install "$@"' \
		sh "$new" "$@"
	rm -f "$new"/var/cache/apt/archives/*.deb
} >"$roots/$name.log" 2>&1 || {
	tail -5 "$roots/$name.log" >&2
	die "the root \"$name\" ($suite) could not be built"
}
touch "$new/.lab-ready"
mv "$new" "$root"
echo "$root"
