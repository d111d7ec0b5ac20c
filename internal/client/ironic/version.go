// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

const (
	// oldest is the API of Ironic's release 21.1, the first that reports inventories.
	oldest = 81

	// newest is the highest API whose answers this client knows.
	newest = 111
)

// Versions of the API that brought what this package uses.
const (
	withChildren      = 83
	withFirmware      = 86
	withDisablePower  = 95
	versionHeader     = "X-OpenStack-Ironic-API-Version"
	versionHeaderMax  = "X-OpenStack-Ironic-API-Maximum-Version"
	versionNotAllowed = http.StatusNotAcceptable
)

// Version returns the minor version of the API that the client and Ironic agree on. It
// is asked for once, by one request for all; a failure is not remembered.
func (c *Client) Version(ctx context.Context) (int, error) {
	minor, err := c.versions.get(ctx, c.negotiate)
	if err != nil && ctx.Err() != nil {
		return 0, fmt.Errorf("ask Ironic for its version: %w", err)
	}

	return minor, err
}

// Require returns a [TooOldError] where Ironic is older than a feature needs.
func (c *Client) Require(ctx context.Context, minor int, feature string) error {
	found, err := c.Version(ctx)
	if err != nil {
		return err
	}

	if found < minor {
		return &TooOldError{Feature: feature, Needs: minor, Found: found}
	}

	return nil
}

// negotiate reads the range from the headers of /v1/, which need no credentials. A proxy
// may drop the headers; the body of /v1/, then that of / say the same.
func (c *Client) negotiate(ctx context.Context) (int, error) {
	a, err := c.read(ctx, call{op: "ask Ironic for its version", plain: true})
	if err != nil {
		return 0, err
	}

	highest := minorOf(a.header.Get(versionHeaderMax))
	if highest == 0 {
		highest = statedVersion(a.body)
	}

	switch {
	case highest == 0:
		return 0, c.notIronic(call{op: "ask Ironic for its version"}, a)
	case highest < oldest:
		return 0, &TooOldError{Feature: "this provider", Needs: oldest, Found: highest}
	}

	return min(highest, newest), nil
}

// statedVersion finds the highest minor version in the body of /v1/ or of /.
func statedVersion(body []byte) int {
	doc, ok := parseObject(body)
	if !ok {
		return 0
	}

	for _, key := range []string{"version", "default_version"} {
		if inner, ok := parseObject(doc[key]); ok {
			return minorOf(inner.text("version"))
		}
	}

	return 0
}

// minorOf reads "1.96"; anything else is 0.
func minorOf(version string) int {
	major, minor, ok := strings.Cut(strings.TrimSpace(version), ".")
	if !ok || major != "1" {
		return 0
	}

	n, err := strconv.Atoi(minor)
	if err != nil || n < 0 {
		return 0
	}

	return n
}
