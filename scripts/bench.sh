#!/usr/bin/env bash
# Figures and benchmarks.
#
#   bench.sh [COUNT]     figures against a real Ironic of fake hardware, to bin/bench/figures.md (limits and
#                        measured values; fails where a limit is missed), then benchmarks, COUNT (6) of each, to
#                        bin/bench/new.txt, compared with bench/old.txt
#   METAL3_BENCH=go|figures chooses one of the two
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top"
out=$top/bin/bench
mkdir -p "$out"
rc=0

if [ "${METAL3_BENCH:-figures}" = figures ]; then
	cli=$(terraform_cli) || die "there is no terraform or tofu of 1.11 or newer: scripts/setup.sh cli"
	# as it is released
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -buildvcs=false -o "$out/terraform-provider-metal3" .
	rm -f "$out/figures.rows"
	METAL3_PARTS=fake TF_ACC_TERRAFORM_PATH=$cli METAL3_TEST_PROVIDER=$out/terraform-provider-metal3 METAL3_FIGURES=$out/figures.rows \
		scripts/test-real.sh go test -count 1 -timeout 60m -run '^TestFigures' ./internal/acctest/figures || rc=$?
	if [ -s "$out/figures.rows" ]; then
		{
			printf 'Measured on %s, %s cores (%s), load %s at the end; %s.\n\n' "$(uname -sm)" "$(nproc)" \
				"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)" "$(cut -d' ' -f1 /proc/loadavg)" "$(TF_CLI_CONFIG_FILE=/dev/null "$cli" version | head -1)"
			printf '| figure | limit | measured | | how |\n| --- | --- | --- | --- | --- |\n'
			cat "$out/figures.rows"
		} | tee "$out/figures.md"
	fi
fi

if [ "${METAL3_BENCH:-go}" = go ]; then
	go test -run '^$' -bench . -benchmem -count "${1:-6}" -timeout 60m ./... | grep -vE 'no test files|^ok|^PASS' | tee "$out/new.txt"
	if [ -s bench/old.txt ]; then "$(scripts/tool.sh benchstat)" bench/old.txt "$out/new.txt"; fi
fi
exit $rc
