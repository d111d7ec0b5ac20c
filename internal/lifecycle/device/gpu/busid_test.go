// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpu_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
)

func TestNormalBusID(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"00000000:1F:00.0": "0000:1f:00.0",
		"0000:1f:00.0":     "0000:1f:00.0",
		" 0000:1F:00.0\n":  "0000:1f:00.0",
		"00010000:1F:00.0": "10000:1f:00.0",
		"0001:00:00.0":     "0001:00:00.0",
		"00000:00:00.7":    "0000:00:00.7",
		"1F:00.0":          "", "": "", "[N/A]": "", "0000:1f:00.8": "", "0000:1f:00.0; rm": "", "../0000:1f:00.0": "",
	} {
		got, ok := gpu.NormalBusID(in)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", in, got, ok)
		}
	}
}

func FuzzNormalBusID(f *testing.F) {
	f.Add("00000000:1F:00.0")
	f.Add("10000:ff:1f.7")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := gpu.NormalBusID(s)
		if again, same := gpu.NormalBusID(got); ok && (!same || again != got || strings.ContainsAny(got, "/ ;$")) {
			t.Errorf("%q gives %q, which gives %q", s, got, again)
		}

		if back, _ := gpu.NormalBusID(gpu.DriverBusID(got)); ok && back != got {
			t.Errorf("%q does not come back from %q", got, gpu.DriverBusID(got))
		}
	})
}
