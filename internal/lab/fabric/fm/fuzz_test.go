// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fm_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/fm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

const head = `{"tenants":{"tenant_uuid":"` + hardware.Tenant + `","machines":[{"mach_uuid":"M","resources":[{"res_specs":[`

// FuzzParse feeds bodies to both parsers: what they take is whole.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		head + `{"res_type":"gpu","res_num":1,"res_spec":{"condition":[{"column":"model","operator":"eq","value":"L40S"}]}}]}]}]}}`,
		head + `{"res_type":"gpu","res_uuid":"U","res_num":1}]}]}]}}`,
		head + `]}]}]}}`,
		`{"tenants":{"machines":[]}}`, `{}`, `[]`, `null`, ``, `{"tenants":null}`, `{"tenants":{"machines":[{"resources":[{}]}]}}`,
	} {
		f.Add([]byte(seed))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		if o, err := fm.ParseAttach(raw); err == nil && (o.Machine == "" || o.Model == "" || o.Count < 1 || o.Device != "") {
			t.Errorf("an attach of %+v", o)
		}

		if o, err := fm.ParseDetach(raw); err == nil && (o.Machine == "" || o.Device == "" || o.Count != 1) {
			t.Errorf("a detach of %+v", o)
		}
	})
}
