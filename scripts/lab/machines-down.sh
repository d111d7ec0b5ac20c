#!/usr/bin/env bash
# Ends the simulated machines started in DIR:  machines-down.sh DIR
set -euo pipefail
. "$(dirname "$0")/../lib.sh"
stop "$1/pid.sim"
