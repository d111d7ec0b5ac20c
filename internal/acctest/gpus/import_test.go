// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpus_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/node"
)

// TestGPU_importedGoes destroys what was imported: it is drained like what was attached, also
// where nobody but the system knows which device it is.
func TestGPU_importedGoes(t *testing.T) {
	t.Parallel()

	for _, k := range kinds {
		for name, tune := range map[string]func(*face.Tuning){"by its id": nil, "the manager tells no id of the system": func(t *face.Tuning) { t.CDIM.NoUUID = true }} {
			if tune != nil && k.name != cdim.name {
				continue
			}

			t.Run("11.24 11.26 an imported device that is used stays, "+name+", "+k.name, func(t *testing.T) {
				t.Parallel()

				inLab(t, setup{kind: k, tune: tune, strange: true}, func(w world) {
					w.foreign(0, 1, a100)

					if o := w.Import(w.ctx, hostID(0)+"/gpu/"+a100); o.Errors != "" {
						t.Fatal(o.Errors)
					}

					w.apply(gpus(1, nodes(0)))

					serial := w.on(0)[0].Serial
					w.system(func(s *node.State) { s.Use(serial, python) })
					w.fails(nil, "")
					w.count(1)

					w.system(func(s *node.State) { s.Processes = nil })

					// Where nobody can tell which one it is, only the user can.
					if o := w.Apply(w.ctx, nil); o.Errors != "" && (tune == nil || len(w.on(0)) != 1 || !w.Exists()) {
						t.Errorf("%s; state %v", o.Errors, w.State())
					}
				})
			})
		}
	}
}
