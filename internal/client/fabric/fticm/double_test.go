// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fticm_test

import (
	"net/http"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fti/ftitest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/fticm"
)

// The ids of the doubles.
const (
	tenant  = "c0000000-0000-4000-8000-000000000001"
	cluster = "b0000000-0000-4000-8000-000000000001"
	mach    = "a0000000-0000-4000-8000-000000000001"
	mach2   = "a0000000-0000-4000-8000-000000000002"
)

// reply is what a double says to one request.
type reply struct {
	status int // 200 where 0
	body   string
}

// double makes a manager that knows these requests ("GET /path?query").
func double(t *testing.T, replies map[string]reply) *ftitest.Double {
	t.Helper()

	return &ftitest.Double{T: t, Tenant: tenant, Answer: func(what string) (int, string, bool) {
		r, known := replies[what]

		return r.status, r.body, known
	}}
}

// start makes a driver for a double.
func start(t *testing.T, replies map[string]reply) (fabric.Fabric, *ftitest.Double) {
	t.Helper()

	d := double(t, replies)
	endpoint, transport := ftitest.Start(t, d)

	return driver(t, endpoint, transport), d
}

func driver(t *testing.T, endpoint string, transport http.RoundTripper) fabric.Fabric {
	t.Helper()

	cfg := fabric.Config{
		Endpoint: endpoint, TenantID: tenant, ClusterID: cluster, Transport: transport,
		Auth: fabric.Auth{Username: "u", Password: "hunter2!"},
	}
	f, err := fticm.New(cfg)
	if err != nil {
		t.Fatal(err)
	}

	return f
}
