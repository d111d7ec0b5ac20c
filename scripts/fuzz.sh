#!/usr/bin/env bash
# Runs the seeds of every fuzz test; with a time (fuzz.sh 5m) also searches that long in each.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top"
found=$(grep -rlE '^func Fuzz' --include='*_test.go' internal || true)
if [ -z "$found" ]; then
	say "there are no fuzz tests"
	exit 0
fi
dirs=$(xargs -n1 dirname <<<"$found" | sort -u | sed 's|^|./|')
# shellcheck disable=SC2086 # a list
go test -run '^Fuzz' $dirs
[ -n "${1:-}" ] || exit 0
for dir in $dirs; do
	for f in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$dir"/*_test.go | cut -d' ' -f2); do
		timed "$f in $dir" -- go test -run '^$' -fuzz "^$f\$" -fuzztime "$1" -fuzzminimizetime 20x "$dir"
	done
done
