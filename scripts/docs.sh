#!/usr/bin/env bash
# Makes docs/ from the provider's schemas, templates/ and examples/.
#
#   docs.sh             writes docs/
#   docs.sh --check     fails if docs/ is not what it would write
#
# The schemas come from the provider itself (internal/schemajson): a Terraform
# of 1.11 does not know identities, actions and list resources.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
cd "$top"
docs=$(scripts/tool.sh tfplugindocs)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

CGO_ENABLED=0 go run -buildvcs=false ./internal/schemajson >"$tmp/schema.json"
generate() { # into the folder $1 of the project
	"$docs" generate --provider-name metal3 --providers-schema "$tmp/schema.json" --rendered-website-dir "$1" >"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		exit 1
	}
}
if [ "${1:-}" != --check ]; then
	generate docs
	exit 0
fi
# tfplugindocs writes inside the project only
new=bin/docs
rm -rf "$new"
mkdir -p bin
generate "$new"
diff -ru docs "$new" || die "docs/ is out of date: make generate, and commit it"
"$docs" validate --provider-name metal3 --providers-schema "$tmp/schema.json" >"$tmp/log" 2>&1 || {
	cat "$tmp/log" >&2
	die "docs/ does not pass tfplugindocs validate"
}
