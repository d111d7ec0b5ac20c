#!/usr/bin/env bash
# Builds a Debian root with a released Ceph and an SSH server in it, once, and prints where it is.
# Hosts of scripts/lab/ceph-hosts.sh can run in it.
#
#   ceph-root.sh [SUITE]     trixie (default): Ceph 18.2.7; bookworm: 16.2.15
#
# Environment: as debian-root.sh
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -le 1 ] || { sed -n '2,7p' "$0"; exit 2; }
suite=${1:-trixie}
root=$("$top/scripts/lab/debian-root.sh" "ceph-$suite" "$suite" ceph-mon ceph-mgr ceph-osd ceph-common \
	python3-rados openssh-server iproute2 procps util-linux uuid-runtime)
say "$(chroot "$root" ceph-osd --version) in $root"
echo "$root"
