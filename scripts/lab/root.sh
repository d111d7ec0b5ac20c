#!/usr/bin/env bash
# Builds a Debian root with a released Ironic in it, once, and prints where it is.
#
#   root.sh SUITE        trixie: Ironic 29.0.5 (API 1.96); forky: 35 (1.111); bookworm: 21.4.4 (1.82)
#
# Environment: as debian-root.sh
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,6p' "$0"; exit 2; }
exec "$(dirname "$0")/debian-root.sh" "$1" "$1" python3-ironic ipmitool sqlite3 qemu-utils genisoimage
