// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package contract_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/contract"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
)

func TestContract_lab(t *testing.T) {
	t.Parallel()

	for name, o := range map[string]lab.Options{
		"in memory":         {},
		"in a file":         {Dir: t.TempDir()},
		"as Debian 12 does": {Ironic: ironic.Options{MaxMinor: 82}},
		"as Debian testing": {Ironic: ironic.Options{MaxMinor: 111}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o.Pace = 5 * time.Millisecond

			l, err := lab.Open(o)
			if err != nil {
				t.Fatal(err)
			}

			t.Cleanup(func() { _ = l.Close() })

			contract.Run(t, contract.Target{
				Endpoint: lab.Endpoint, Transport: l.Transport(), MinorMax: o.Ironic.MaxMinor, Poll: 2 * time.Millisecond,
				Image: "http://images.lab/image.raw", SHA256: images.Sum("image.raw", "sha256"), MissingImage: "http://images.lab/missing.raw",
				Machine: func(i int) (string, map[string]any) {
					return "redfish", map[string]any{
						"redfish_address": fmt.Sprintf("http://node-%d.lab", i), "redfish_system_id": "/redfish/v1/Systems/1",
						"redfish_username": "admin", "redfish_password": "password",
					}
				},
			})
		})
	}
}

// TestContract_realIronic holds a real Ironic to the same contract. METAL3_TEST_BMC is the base
// URL of simulated machines that it can reach; METAL3_TEST_IMAGE and METAL3_TEST_IMAGE_SHA256
// name an image that it can reach.
func TestContract_realIronic(t *testing.T) {
	t.Parallel()

	endpoint := os.Getenv("METAL3_TEST_IRONIC")
	if endpoint == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("METAL3_TEST_IRONIC is not set: CI must hold the lab to a real Ironic")
		}

		t.Skip("METAL3_TEST_IRONIC is not set")
	}

	minor, _ := strconv.Atoi(os.Getenv("METAL3_TEST_IRONIC_MINOR")) // 0 means the suite's default

	image := os.Getenv("METAL3_TEST_IMAGE")
	target := contract.Target{
		Endpoint: strings.TrimSuffix(strings.TrimSuffix(endpoint, "/"), "/v1"), MinorMax: minor, Patience: 2 * time.Minute,
		Poll: 200 * time.Millisecond, Image: image, SHA256: os.Getenv("METAL3_TEST_IMAGE_SHA256"), MissingImage: image + ".missing",
	}

	if bmc := os.Getenv("METAL3_TEST_BMC"); bmc != "" && image != "" {
		target.Machine = func(i int) (string, map[string]any) {
			return "redfish", map[string]any{
				"redfish_address": bmc, "redfish_system_id": fmt.Sprintf("/redfish/v1/Systems/6d6f636b-0000-4000-8000-%012d", i),
				"redfish_username": "admin", "redfish_password": "password",
			}
		}
	}

	contract.Run(t, target)
}
