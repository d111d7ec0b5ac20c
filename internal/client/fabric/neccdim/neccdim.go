// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package neccdim is the driver of NEC's Composable Disaggregated Infrastructure Manager
// (CDIM): the open one (project-cdim) and the product that grew from it.
//
// Two services make the manager. The configuration manager shows devices and nodes; the
// layout-apply service takes orders, as jobs with an id, one at a time in the whole manager.
// A job that failed half-way may be suspended; it blocks all others until a person resumes or
// cancels it, and that is never done here.
//
// The two dialects differ in how an order names the machine: by its CPU (targetCPUID), or by
// the fabric's adapter behind it (sourceDeviceID). Which one counts is seen from the machine's
// own devices: only the product shows fabric adapters among them. So nothing needs to be configured.
package neccdim

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// basePath is in front of both services.
const basePath = "/cdim/api/v1"

// driver is one manager.
type driver struct {
	endpoint string
	config   *fabric.Caller // configuration-manager
	layout   *fabric.Caller // layout-apply
}

// New makes a driver. It calls nobody.
func New(cfg fabric.Config) (fabric.Fabric, error) {
	endpoint, err := fabric.NormalEndpoint(cfg.Endpoint, cfg.AllowPlainHTTP)
	if err != nil {
		return nil, &fabric.ConfigError{Option: "endpoint", Err: err}
	}

	orders := endpoint

	if cfg.LayoutEndpoint != "" {
		if orders, err = fabric.NormalEndpoint(cfg.LayoutEndpoint, cfg.AllowPlainHTTP); err != nil {
			return nil, &fabric.ConfigError{Option: "layout_endpoint", Err: err}
		}
	}

	auth := authorizer(cfg.Auth)
	d := &driver{endpoint: strings.TrimSuffix(endpoint, basePath)} // one name, however it was spelled

	if d.config, err = fabric.NewCaller(cfg, d.endpoint+basePath, auth, fabric.CDIM); err != nil {
		return nil, fmt.Errorf("configuration manager: %w", err)
	}

	if d.layout, err = fabric.NewCaller(cfg, strings.TrimSuffix(orders, basePath)+basePath, auth, fabric.CDIM); err != nil {
		return nil, fmt.Errorf("layout-apply: %w", err)
	}

	return d, nil
}

// basic is user name and password, for a manager behind a proxy that asks for them: CDIM
// itself has no login.
type basic struct{ username, password string }

func (b basic) Authorize(_ context.Context, r *http.Request) error {
	r.SetBasicAuth(b.username, b.password)

	return nil
}

func (basic) Refused(context.Context) bool { return false }

func authorizer(a fabric.Auth) fabric.Authorizer {
	if a.Username == "" {
		return nil
	}

	return basic{a.Username, a.Password}
}

func (d *driver) Endpoint() string { return d.endpoint }

// LockKey is the same for all machines: the manager takes one order at a time.
func (d *driver) LockKey(string) string { return d.endpoint }

// Caps implements [fabric.Fabric]. The API has no field for the id that the operating system
// shows; some hardware tells it all the same, and then devices have it.
func (d *driver) Caps() fabric.Caps {
	return fabric.Caps{PicksDevice: true, Async: true, OneAtATime: true, ReportsHealth: true, Types: []string{typeGPU, typeCXLMemory}}
}
