#!/usr/bin/env bash
# Runs a command and says how long it took:  timed.sh NAME COMMAND…
set -uo pipefail
. "$(dirname "$0")/lib.sh"
name=$1
shift
timed "$name" -- "$@"
