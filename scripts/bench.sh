#!/usr/bin/env bash
# Benchmarks, with a real Ironic of fake hardware behind those that need one.
#
#   bench.sh [COUNT]     writes bin/bench/new.txt; compares with bench/old.txt where there is one
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top"
mkdir -p bin/bench
METAL3_PARTS=${METAL3_PARTS:-fake} scripts/test-real.sh \
	go test -run '^$' -bench . -benchmem -count "${1:-6}" -timeout 60m ./... | grep -vE 'no test files|^ok|^PASS' | tee bin/bench/new.txt
if [ -s bench/old.txt ]; then "$(scripts/tool.sh benchstat)" bench/old.txt bin/bench/new.txt; fi
