// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package drivers lists the drivers of fabric managers, by the name that fabric.type has in
// the provider block. A new driver is a package beside this one and a line here.
package drivers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fticm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/ftifm"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/neccdim"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/redfish"
)

var drivers = map[string]func(fabric.Config) (fabric.Fabric, error){
	"fti_cm":   fticm.New,
	"fti_fm":   ftifm.New,
	"nec_cdim": neccdim.New,
	"redfish":  redfish.New,
}

// Names lists the drivers in the order of the alphabet.
func Names() []string { return slices.Sorted(maps.Keys(drivers)) }

// New makes the driver that a configuration asks for. It calls nobody.
func New(cfg fabric.Config) (fabric.Fabric, error) {
	build, ok := drivers[cfg.Type]
	if !ok {
		return nil, &fabric.ConfigError{Option: "type", Err: fmt.Errorf("%q is no fabric manager that we know: want one of %s", cfg.Type, strings.Join(Names(), ", "))}
	}

	return build(cfg)
}
