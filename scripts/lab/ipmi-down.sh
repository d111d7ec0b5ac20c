#!/usr/bin/env bash
# Ends the IPMI simulators started in DIR:  ipmi-down.sh DIR
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ -d "$1" ] || exit 0
for f in "$1"/*.pid; do
	[ -e "$f" ] && stop "$f"
done
exit 0
