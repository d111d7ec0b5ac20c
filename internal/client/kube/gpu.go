// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"net/http"
	"time"
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

// DaemonSet is how far the Pods of a DaemonSet are.
type DaemonSet struct {
	Wanted    int64     // Pods that there should be
	Settled   bool      // all of them are of its present form, and ready
	Restarted time.Time // when somebody last had them made anew; zero: never
}

// DaemonSet reads a DaemonSet.
func (c *Client) DaemonSet(ctx context.Context, namespace, name string) (DaemonSet, error) {
	o, err := c.object(ctx, call{
		op:     "read the DaemonSet " + namespace + "/" + name,
		method: http.MethodGet,
		path:   "/apis/apps/v1/namespaces/" + segment(namespace) + "/daemonsets/" + segment(name),
	})
	if err != nil {
		return DaemonSet{}, err
	}

	of := func(path ...string) int64 {
		n, _ := o.number(path...)

		return n
	}

	wanted := of("status", "desiredNumberScheduled")

	return DaemonSet{
		Wanted: wanted,
		Settled: of("status", "observedGeneration") >= of("metadata", "generation") &&
			of("status", "updatedNumberScheduled") >= wanted && of("status", "numberReady") >= wanted,
		Restarted: o.moment("spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt"),
	}, nil
}
