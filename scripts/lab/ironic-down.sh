#!/usr/bin/env bash
# Ends what ironic-up.sh started in DIR, by the recorded pids.
#
#   ironic-down.sh DIR [--purge]      --purge: DIR goes too (never the Debian roots)
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
[ $# -ge 1 ] || { sed -n '2,4p' "$0"; exit 2; }
[ -d "$1" ] || exit 0
lab=$(cd "$1" && pwd)
for f in "$lab"/pid.*; do
	[ -e "$f" ] && stop "$f"
done
# only a directory that is ours is removed
if [ "${2:-}" = --purge ] && [ -e "$lab/launch.py" ]; then rm -rf --one-file-system "$lab"; fi
