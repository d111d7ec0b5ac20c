// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"strings"
	"testing"
)

// Real is a real Ironic that scripts/test-real.sh started for this run,
// together with what stands around it.
type Real struct {
	// Endpoint is the API's address without "/v1".
	Endpoint string
	// Username and Password are empty where the API asks for none.
	Username, Password string
	// CAFile holds the authority that signed the API's certificate, if it has one.
	CAFile string
	// BMC is the base address of the simulated machines behind it; empty where
	// it has none (fake hardware).
	BMC string
	// HTTPURL and HTTPDir are the address and the folder of Ironic's file
	// server: what a test writes there, Ironic and the machines can fetch.
	HTTPURL, HTTPDir string
	// ImageURL and ImageSHA256 are a small raw disk image on that server.
	ImageURL, ImageSHA256 string
}

// Ironic is the main one: the current release, without authentication.
func Ironic(t *testing.T) Real {
	t.Helper()

	return started(t, "METAL3_TEST_IRONIC", "METAL3_TEST_BMC")
}

// IronicBasic is the current release behind http_basic and TLS.
func IronicBasic(t *testing.T) Real {
	t.Helper()

	return started(t, "METAL3_TEST_IRONIC_BASIC", "METAL3_TEST_BMC_BASIC")
}

// IronicOld is the oldest release that we support.
func IronicOld(t *testing.T) Real {
	t.Helper()

	return started(t, "METAL3_TEST_IRONIC_OLD", "METAL3_TEST_BMC_OLD")
}

// IronicFake has fake hardware whose steps take two seconds each: many hosts
// at a time cost it nothing. There are no machines behind it.
func IronicFake(t *testing.T) Real {
	t.Helper()

	return started(t, "METAL3_TEST_IRONIC_FAKE", "")
}

// IPMI returns the address (host:port) of a real IPMI simulator in front of a
// machine of the main Ironic. User and password are those of the machines;
// only cipher suite 3 is answered.
func IPMI(t *testing.T) string {
	t.Helper()

	return strings.Fields(part(t, "METAL3_TEST_IPMI"))[0]
}

// started reads what test-real.sh exported below one name.
func started(t *testing.T, name, bmc string) Real {
	t.Helper()

	r := Real{
		Endpoint: part(t, name),
		Username: os.Getenv(name + "_USERNAME"),
		Password: os.Getenv(name + "_PASSWORD"),
		CAFile:   os.Getenv(name + "_CA"),
		HTTPURL:  part(t, name+"_HTTP"),
		HTTPDir:  part(t, name+"_HTTP_DIR"),
	}
	if bmc != "" {
		r.BMC = part(t, bmc)
	}

	r.ImageURL, r.ImageSHA256 = r.Image(t, "acctest.raw")

	return r
}

// part returns the value of a variable that names a real part. Without it a
// test is skipped on a desk and fails in continuous integration, where every
// part must have been started; the short run is for what needs no part.
func part(t *testing.T, variable string) string {
	t.Helper()

	value := os.Getenv(variable)
	if value != "" && !testing.Short() {
		return value
	}

	if os.Getenv("CI") == "true" && !testing.Short() {
		t.Fatalf("missing part: %s is not set: start it with scripts/test-real.sh", variable)
	}

	t.Skipf("missing part: %s is not set, or this is the short run (make test starts it)", variable)

	return ""
}
