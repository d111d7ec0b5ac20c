// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

func TestHost_attributesThatNeedAnother(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config Map
		want   string // empty: nothing is wrong
	}{
		"all are there":                 {node(0), ""},
		"a password without a version":  {bmc(node(0), Map{"password_wo_version": nil}), `"bmc.password_wo_version" must be specified when "bmc.password_wo"`},
		"a version without a user":      {bmc(node(0), Map{"username": nil}), `"bmc.username" must be specified when "bmc.password_wo_version"`},
		"user data without a version":   {with(node(0), Map{"user_data_wo": "x"}), `"user_data_wo_version" must be specified when "user_data_wo"`},
		"a pull secret without version": {node(0, disk(image, Map{"pull_secret_wo": "x"})), `"image.pull_secret_wo_version" must be specified when "image.pull_secret_wo"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			inLab(t, lab.Options{}, func(w world) {
				o := w.Plan(w.ctx, c.config)
				if (c.want == "") != (o.Errors == "") || !strings.Contains(o.Errors, c.want) {
					t.Errorf("said %q, want %q", o.Errors, c.want)
				}
			})
		})
	}
}
