// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// FuzzDecode has an API server say anything: nothing panics.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "null", "[]", "{}", `{"items":[1,null,{"metadata":3,"spec":[],"status":{"conditions":{}}}]}`,
		`{"metadata":{"name":"a","labels":{"a":1}},"spec":{"taints":[{"key":[]}]},"status":{"conditions":[{"type":"Ready"}],"addresses":[1]}}`,
		`{"items":[{"spec":{"containers":[{"resources":{"limits":{"cpu":"1e999999999","x":"-"}}}],"resourceClaims":[{"name":"a"}]}}]}`,
		`{"kind":"Status","details":{"causes":[{"field":1}]}}`, `{"spec":{"devices":[{"basic":{"attributes":{"a":{"b":1}}}},{"attributes":{"a":[]}}]}}`,
	} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(_ *testing.T, body []byte) { kube.Decode(body) })
}
