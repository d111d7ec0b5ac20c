#!/usr/bin/env bash
# Builds a Debian root with a released Ceph and an SSH server in it, once, and prints where it is.
# Hosts of scripts/lab/ceph-hosts.sh can run in it.
#
#   ceph-root.sh [SUITE]     trixie (default): Ceph 18.2.7; bookworm: 16.2.15
#
# Trixie's managers load no Python module (its python3-bcrypt is made with PyO3, which refuses subinterpreters), so
# that such a cluster is in HEALTH_WARN, MGR_MODULE_DEPENDENCY. That is how Debian ships it, and left as it is here.
# Environment: as debian-root.sh
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -le 1 ] || { sed -n '2,9p' "$0"; exit 2; }
suite=${1:-trixie}
root=$("$top/scripts/lab/debian-root.sh" "ceph-$suite" "$suite" ceph-mon ceph-mgr ceph-osd ceph-common \
	python3-rados openssh-server iproute2 procps util-linux uuid-runtime)
say "$(chroot "$root" ceph-osd --version) in $root"
echo "$root"
