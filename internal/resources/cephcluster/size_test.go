// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephcluster"
)

func TestParseSize(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]int64{
		"4G": 4 << 30, "4g": 4 << 30, "4 GiB": 4 << 30, "4GB": 4 << 30, "1.5T": 3 << 39, "100M": 100 << 20, "512K": 512 << 10, "1024": 1024, " 1P ": 1 << 50,
		"": 0, "G": 0, "-1G": 0, "0": 0, "0.1": 0, "4X": 0, "4GG": 0, "1e3": 0, "9999999999P": 0, "4G4": 0, "NaN": 0, "٣G": 0,
	} {
		got, err := cephcluster.ParseSize(text)
		if got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %d: %v", text, got, err)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"4G", "1.5TiB", "", "9999999999999999999999", "0.0000001K"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		if n, err := cephcluster.ParseSize(s); err == nil && n <= 0 {
			t.Errorf("%q is %d", s, n)
		}
	})
}

func TestCompare_numbersAsPeopleDo(t *testing.T) {
	t.Parallel()

	all := []string{"h2:/osd10", "h10:/osd1", "h2:/osd2", "h2:/osd", "a", "h2:/osd2b"}
	slices.SortFunc(all, cephcluster.Compare)

	if want := []string{"a", "h2:/osd", "h2:/osd2", "h2:/osd2b", "h2:/osd10", "h10:/osd1"}; !slices.Equal(all, want) {
		t.Errorf("%v", all)
	}
}
