#!/usr/bin/env bash
# Runs Go tests, keeps what happened, and judges what was skipped.
#
#   gotest.sh NAME GO-TEST-FLAGS… PACKAGES…
#
# The log of events is bin/test/NAME.json, of results bin/test/NAME.xml. Without
# -short, CI=true lets a test be skipped only for a reason on the list below: a
# part that is missing is a failure there.
set -euo pipefail
. "$(dirname "$0")/lib.sh"
name=$1
shift
out=$top/bin/test
mkdir -p "$out"
cd "$top"
export CGO_ENABLED=${CGO_ENABLED:-0}

short=0
for a in "$@"; do [ "$a" != -short ] || short=1; done
if [ $short = 1 ]; then
	# no part is up in the short run, and none is asked for
	unset CI
else
	export TF_ACC=1
	TF_ACC_TERRAFORM_PATH=$(terraform_cli) || unset TF_ACC
	if [ -n "${TF_ACC:-}" ]; then
		export TF_ACC_TERRAFORM_PATH TF_CLI_CONFIG_FILE=/dev/null
		# OpenTofu completes a bare provider name with a registry of its own, which
		# the test framework must name: ask it
		if "$TF_ACC_TERRAFORM_PATH" version | grep -q '^OpenTofu'; then
			bare=$(mktemp -d)
			echo 'provider "metal3" {}' >"$bare/main.tf"
			TF_ACC_PROVIDER_HOST=$("$TF_ACC_TERRAFORM_PATH" -chdir="$bare" providers | sed -n 's|.*provider\[\([^/]*\)/.*|\1|p' | head -1)
			rm -rf "$bare"
			export TF_ACC_PROVIDER_HOST TF_ACC_PROVIDER_NAMESPACE=hashicorp
		fi
	fi
	METAL3_GOLANGCI_LINT=$(scripts/tool.sh --path golangci-lint)
	export METAL3_GOLANGCI_LINT
	# one binary for all tests that start, or kill, the provider as Terraform does
	export METAL3_TEST_PROVIDER=$out/terraform-provider-metal3
	CGO_ENABLED=0 go build -buildvcs=false -o "$METAL3_TEST_PROVIDER" .
fi
rc=0
# Linking is most of what building tests costs, and a debugger's tables are half of that: nobody debugs here.
"$(scripts/tool.sh gotestsum)" --format "${METAL3_TEST_FORMAT:-pkgname-and-test-fails}" --format-hide-empty-pkg --hide-summary=skipped \
	--jsonfile "$out/$name.json" --junitfile "$out/$name.xml" -- -vet=off -ldflags "-s -w" "$@" || rc=$?

# Reasons that are no missing part: what this version of the CLI or this Ironic
# does not have, and what a race decided.
allowed='Terraform CLI version
not here:
came with 1\.[0-9]+
the fields are those of API
this Ironic asks for no password
faster than the abort'
skips=
if have python3; then skips=$(python3 "$top/scripts/skips.py" "$out/$name.json"); fi
if [ -n "$skips" ]; then
	printf 'skipped (%s):\n%s\n' "$(wc -l <<<"$skips")" "$(cut -c1-160 <<<"$skips")"
	bad=$(grep -vE "$allowed" <<<"$skips" || true)
	if [ $short = 0 ] && [ "${CI:-}" = true ] && [ -n "$bad" ]; then
		printf 'these were skipped for a missing part, which is a failure here:\n%s\n' "$bad"
		[ $rc != 0 ] || rc=1
	fi
fi
exit $rc
