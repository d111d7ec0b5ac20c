// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cm_test

import (
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/cm"
)

// FuzzParseResize feeds bodies to the parser: what it takes is whole.
func FuzzParseResize(f *testing.F) {
	for _, seed := range []string{
		`{"increase_resource_count":{"spec_uuid":"S","device_count":2}}`,
		`{"remove_resources":{"spec_uuid":"S","device_count":0,"devices":["GPU-1"]}}`,
		`{"remove_resources":{"spec_uuid":"S","device_count":0,"devices":[""]}}`,
		`{"increase_resource_count":null}`, `{"increase_resource_count":{"device_count":-1}}`, `{}`, `[]`, `null`, ``,
	} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		if o, err := cm.ParseResize(raw); err == nil && (o.Spec == "" || o.Count < 0 || slices.Contains(o.Devices, "")) {
			t.Errorf("a resize of %+v", o)
		}
	})
}
