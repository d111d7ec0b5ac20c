#!/usr/bin/env bash
# Prints the path of a built tool; builds it first if it is not in the cache.
#
#   tool.sh NAME            golangci-lint, tfplugindocs, gotestsum, benchstat, govulncheck, changie or tofu
#   tool.sh --path NAME     only says where it is or would be
#
# The version is the one of the tool's module below tools/; together with Go's
# version it is part of the name, so that a new version is a new file.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
only_path=0
if [ "${1:-}" = --path ]; then
	only_path=1
	shift
fi
[ $# -eq 1 ] || { sed -n '2,8p' "$0"; exit 2; }

case $1 in
golangci-lint) mod=tools/lint pkg=github.com/golangci/golangci-lint/v2/cmd/golangci-lint owner=github.com/golangci/golangci-lint/v2 ;;
tfplugindocs) mod=tools pkg=github.com/hashicorp/terraform-plugin-docs/cmd/tfplugindocs owner=github.com/hashicorp/terraform-plugin-docs ;;
gotestsum) mod=tools pkg=gotest.tools/gotestsum owner=gotest.tools/gotestsum ;;
benchstat) mod=tools pkg=golang.org/x/perf/cmd/benchstat owner=golang.org/x/perf ;;
govulncheck) mod=tools pkg=golang.org/x/vuln/cmd/govulncheck owner=golang.org/x/vuln ;;
changie) mod=tools/release pkg=github.com/miniscruff/changie owner=github.com/miniscruff/changie ;;
tofu) mod=tools/tofu pkg=github.com/opentofu/opentofu/cmd/tofu owner=github.com/opentofu/opentofu ;;
*) die "unknown tool $1" ;;
esac

version=$(awk -v m="$owner" '$1 == m && $2 ~ /^v/ { print $2 } $1 == "require" && $2 == m { print $3 }' "$top/$mod/go.mod" | head -1)
bin=$cache/bin/$1-$version-$(go env GOVERSION)
if [ $only_path = 1 ] || [ -x "$bin" ]; then
	echo "$bin"
	exit 0
fi

ldflags='-s -w'
[ "$1" != tofu ] || ldflags="$ldflags -X github.com/opentofu/opentofu/version.dev=no"
mkdir -p "$cache/bin"
exec 9>"$cache/bin/$1.lock"
flock 9
if [ ! -x "$bin" ]; then
	say "building $1 $version, once$([ "$1" != tofu ] || echo '; this takes five minutes of CPU time')"
	t0=$(date +%s)
	(cd "$top/$mod" && CGO_ENABLED=0 nice go build -buildvcs=false -trimpath -ldflags "$ldflags" -o "$bin.new" "$pkg")
	mv "$bin.new" "$bin"
	say "built $1 in $(($(date +%s) - t0)) s"
fi
echo "$bin"
