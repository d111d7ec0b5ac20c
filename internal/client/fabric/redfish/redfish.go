// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package redfish is the driver of services that compose machines through DMTF Redfish.
//
// There are two unrelated ways to compose, and a service offers one of them:
//
//   - resource blocks (blocks.go): free devices are blocks of the composition service, which a
//     machine takes with the action AddResourceBlock or with a longer list of its blocks;
//   - fabric zones (zones.go): what may talk to each other is in one zone of a fabric, so a
//     device is added to the zone of the machine. Sunfish and composable chassis are of this kind.
//
// Which one counts is seen from the service: whoever has resource blocks uses them, whoever has
// none but zones uses those.
//
// Requests are made by hand and read field by field: the library that speaks Redfish to BMCs
// follows redirects, and has no words for half of this.
package redfish

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// The device types.
const (
	typeGPU       = "gpu"
	typeCXLMemory = "cxlmemory"
)

// driver is one service.
type driver struct {
	endpoint string
	caller   *fabric.Caller
	login    *login // nil where the service is open

	mu      sync.Mutex
	service *service          // what is there: found once
	names   map[string]string // ids of machines in lower case, and the path of each
}

// way is a way to compose, as one question or one order sees it.
type way interface {
	// devices are the composed devices of a machine, and the pool that they come from.
	devices(ctx context.Context, s system) ([]fabric.Device, string, error)
	// free are the devices that a machine could get; without a machine, all that are free.
	free(ctx context.Context, s *system) (offer, error)
	attach(ctx context.Context, op string, s system, device string) (fabric.Hint, error)
	detach(ctx context.Context, op string, s system, device string) (fabric.Hint, error)
}

// offer is what a pool has.
type offer struct {
	pool    string
	devices []fabric.Device // that are free
	models  []kind          // of all there are
}

type kind struct{ typ, model string }

// New makes a driver. It calls nobody.
func New(cfg fabric.Config) (fabric.Fabric, error) {
	endpoint, err := fabric.NormalEndpoint(cfg.Endpoint, cfg.AllowPlainHTTP)
	if err != nil {
		return nil, &fabric.ConfigError{Option: "endpoint", Err: err}
	}

	// Every path that the service names begins with this, so it is not part of the base.
	endpoint = strings.TrimSuffix(endpoint, rootPath)

	var (
		auth fabric.Authorizer
		own  *login
	)

	if cfg.Auth.Username != "" { // without one the service is open, as Sunfish's is
		alone, err := fabric.NewCaller(cfg, endpoint, nil, fabric.Redfish)
		if err != nil {
			return nil, fmt.Errorf("redfish: %w", err)
		}

		own = newLogin(alone, cfg.Auth)
		auth = own
	}

	caller, err := fabric.NewCaller(cfg, endpoint, auth, fabric.Redfish)
	if err != nil {
		return nil, fmt.Errorf("redfish: %w", err)
	}

	return &driver{endpoint: endpoint, caller: caller, login: own, names: map[string]string{}}, nil
}

func (d *driver) Endpoint() string { return d.endpoint }

// LockKey implements [fabric.Fabric]: all changes of a service are one after another. A system
// goes by its Id, its UUID and its path, several systems may be in one zone, and changes
// replace whole lists: of two at a time one would be lost.
func (d *driver) LockKey(string) string { return d.endpoint }

// Caps implements [fabric.Fabric].
func (d *driver) Caps() fabric.Caps {
	return fabric.Caps{PicksDevice: true, Async: true, ReportsSerial: true, Types: []string{typeGPU, typeCXLMemory}}
}
