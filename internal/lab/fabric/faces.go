// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/cm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/fm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/nec"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/redfish"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
)

// faces are the APIs that the manager speaks, by the first segment of their paths. A new one
// is a package and a line here.
func faces() map[string]face.New {
	return map[string]face.New{
		"id_manager":      token.New,
		"fabric_manager":  fm.New,
		"cluster_manager": cm.New,
		"cdim":            nec.New,
		"redfish":         redfish.New,
	}
}
