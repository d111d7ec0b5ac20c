#!/usr/bin/env bash
# The contract suites, which hold the lab and the client to a real Ironic, on
# the Ironics that their normal run does not see. Run by test-real.sh.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

rc=0
timed "contract, http_basic and TLS" -- env \
	METAL3_TEST_IRONIC="${METAL3_TEST_IRONIC_BASIC:?}" \
	METAL3_TEST_IRONIC_USERNAME="${METAL3_TEST_IRONIC_BASIC_USERNAME:?}" \
	METAL3_TEST_IRONIC_PASSWORD="${METAL3_TEST_IRONIC_BASIC_PASSWORD:?}" \
	METAL3_TEST_IRONIC_CA_CERT_FILE="${METAL3_TEST_IRONIC_BASIC_CA:?}" \
	"$top/scripts/gotest.sh" contract-basic -run '^TestContract_' ./internal/client/ironic || rc=1
timed "contract, oldest Ironic" -- env \
	METAL3_TEST_IRONIC="${METAL3_TEST_IRONIC_OLD:?}" METAL3_TEST_IRONIC_MINOR=82 METAL3_TEST_BMC="${METAL3_TEST_BMC_OLD:?}" \
	METAL3_TEST_IMAGE="${METAL3_TEST_IMAGE_OLD:?}" METAL3_TEST_IMAGE_SHA256="${METAL3_TEST_IMAGE_OLD_SHA256:?}" \
	"$top/scripts/gotest.sh" contract-old -run '^TestContract_' ./internal/client/ironic ./internal/lab/contract || rc=1
exit $rc
