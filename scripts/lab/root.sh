#!/usr/bin/env bash
# Builds a Debian root with a released Ironic in it, once, and prints where it is.
#
#   root.sh SUITE        trixie: Ironic 29.0.5 (API 1.96); forky: 35 (1.111); bookworm: 21.4.4 (1.82)
#
# Environment: METAL3_ROOTS     where roots are kept (default: in the cache folder)
#              METAL3_MIRROR    a Debian mirror (default: the one this machine uses)
# An unfinished root never counts: it is built beside its place and moved there.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -eq 1 ] || { sed -n '2,9p' "$0"; exit 2; }

suite=$1
roots=${METAL3_ROOTS:-$cache/roots}
root=$roots/$suite
packages="python3-ironic ipmitool sqlite3 qemu-utils genisoimage"

mkdir -p "$roots"
exec 9>"$roots/$suite.lock"
flock 9
if [ -e "$root/.lab-ready" ]; then
	echo "$root"
	exit 0
fi

is_root || die "only root can build the Debian root for Ironic ($suite)"
install_packages debootstrap util-linux
[ -f /usr/share/keyrings/debian-archive-keyring.gpg ] || install_packages debian-archive-keyring
say "building the $suite root for Ironic, some minutes, once (log: $roots/$suite.log)"

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
		sh "$new" $packages
	rm -f "$new"/var/cache/apt/archives/*.deb
} >"$roots/$suite.log" 2>&1 || {
	tail -5 "$roots/$suite.log" >&2
	die "the $suite root could not be built"
}
touch "$new/.lab-ready"
mv "$new" "$root"
echo "$root"
