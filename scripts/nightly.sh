#!/usr/bin/env bash
# What is too slow for every run: long fuzzing, the newest Ironic, OpenTofu,
# release builds for all platforms, known holes.
set -uo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top" || exit 1
failed=()
step() {
	local name=$1
	shift
	timed "$name" -- "$@" || failed+=("$name")
}
platforms() {
	local p
	for p in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64 freebsd/arm64; do
		say "building for $p"
		CGO_ENABLED=0 GOOS=${p%/*} GOARCH=${p#*/} go build -buildvcs=false -trimpath -o /dev/null . || return 1
	done
}
holes() {
	# the database of known holes is on the network; a machine that cannot reach it says so
	"$(scripts/tool.sh govulncheck)" ./... || [ $? -eq 1 ]
}
with_tofu() {
	local tofu
	tofu=$(scripts/tool.sh tofu) || return 1
	METAL3_TERRAFORM=$tofu scripts/test-real.sh scripts/gotest.sh tofu -timeout 60m -run '^TestAcc' ./...
}
newest() { # the real tests on Debian testing's Ironic (API 1.111); testing moves, so this may fail for reasons of its own
	scripts/lab/root.sh forky >/dev/null &&
		METAL3_MAIN_SUITE=forky METAL3_PARTS="main basic" scripts/test-real.sh scripts/gotest.sh forky -timeout 60m ./...
}

step "fuzzing" scripts/fuzz.sh "${FUZZTIME:-5m}"
step "all platforms" platforms
step "OpenTofu" with_tofu
step "newest Ironic" newest
step "race detector over everything" env CGO_ENABLED=1 scripts/test-real.sh scripts/gotest.sh race-all -race -timeout 90m ./...
step "known holes" holes
[ ${#failed[@]} -eq 0 ] || die "failed: ${failed[*]}"
