// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
)

// ResourceClaim is a claim with the devices that it was given.
type ResourceClaim struct {
	Namespace, Name string
	Devices         []ClaimedDevice
	Pods            []string // in its namespace, which use it or are about to
}

// ClaimedDevice names a device as its ResourceSlice does.
type ClaimedDevice struct {
	Driver, Pool, Device string
	Admin                bool // the claim only watches: others may have the device all the same
}

// ResourceClaims lists the claims of all namespaces that have devices; nil where the API server
// serves no such group.
func (c *Client) ResourceClaims(ctx context.Context) ([]ResourceClaim, error) {
	version, err := c.version(ctx, devicesGroup, "resourceclaims")
	if errors.Is(err, ErrUnsupported) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	items, err := c.list(ctx, "list the ResourceClaims", "/apis/"+devicesGroup+"/"+version+"/resourceclaims", nil)
	if err != nil {
		return nil, err
	}

	claims := []ResourceClaim{}

	for _, item := range items {
		if claim := claimOf(item); len(claim.Devices) > 0 {
			claims = append(claims, claim)
		}
	}

	return claims, nil
}

func claimOf(o object) ResourceClaim {
	claim := ResourceClaim{Namespace: o.str("metadata", "namespace"), Name: o.str("metadata", "name")}

	for _, given := range o.list("status", "allocation", "devices", "results") {
		claim.Devices = append(claim.Devices, ClaimedDevice{given.str("driver"), given.str("pool"), given.str("device"), given.truth("adminAccess")})
	}

	for _, user := range o.list("status", "reservedFor") {
		if name := user.str("name"); name != "" && user.str("resource") == "pods" {
			claim.Pods = append(claim.Pods, name)
		}
	}

	return claim
}

// HasDaemonSet reports whether there is a DaemonSet.
func (c *Client) HasDaemonSet(ctx context.Context, namespace, name string) (bool, error) {
	_, err := c.object(ctx, call{
		op:     "read the DaemonSet " + namespace + "/" + name,
		method: http.MethodGet,
		path:   "/apis/apps/v1/namespaces/" + segment(namespace) + "/daemonsets/" + segment(name),
	})
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}

	return err == nil, err
}
