// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"context"
	"errors"
	"net/http"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

// rootPath is where every service begins.
const rootPath = "/redfish/v1"

// readRoot reads the service root. With a slash at the end is how the specification spells
// it; services that store documents by path (Sunfish) may know it only without.
func readRoot(ctx context.Context, c *fabric.Caller, op string) (document.Object, error) {
	r := fabric.Request{Op: op, Path: rootPath + "/"}
	a, err := c.Do(ctx, r)

	var e *fabric.Error
	if errors.As(err, &e) && (e.Status == http.StatusNotFound || e.Status/100 == 3) {
		r.Path = rootPath
		a, err = c.Do(ctx, r)
	}

	if errors.Is(err, fabric.ErrNotFound) && errors.As(err, &e) { // not of a machine, as callers would read it
		own := *e
		own.Kind = fabric.ErrNotFabric

		return nil, &own
	}

	if err != nil {
		return nil, err
	}

	doc, ok := document.Parse(a.Body)
	if !ok || (doc.Text("@odata.id") == "" && doc.Text("RedfishVersion") == "") {
		return nil, c.Unusable(r, a, "no Redfish service root")
	}

	return doc, nil
}
