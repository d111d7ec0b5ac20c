#!/usr/bin/env bash
# The linter with the arrows of the house, formatting of code and examples, scripts that parse.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top"
lint=$(scripts/tool.sh golangci-lint)
"$lint" config verify 2>/dev/null || say "golangci-lint could not check its configuration (it needs the network for the schema)"
"$lint" run ./...
# what is behind the build tag links with librados: it is checked where that is (in CI by a step of its own)
if [ "${CI:-}" != true ] && installed librados-dev; then CGO_ENABLED=1 "$lint" run --build-tags ceph ./internal/client/ceph/...; fi
"$lint" fmt --diff
if cli=$(terraform_cli); then
	[ ! -d examples ] || "$cli" fmt -check -recursive examples
else
	say "no terraform or tofu here: the format of examples/ is not checked (make setup)"
fi
for f in scripts/*.sh scripts/lab/*.sh .ci/run; do bash -n "$f"; done
if have shellcheck; then shellcheck -x -P SCRIPTDIR:. -S warning scripts/*.sh scripts/lab/*.sh .ci/run; else say "no shellcheck here: scripts are only parsed"; fi
