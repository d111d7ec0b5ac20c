// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"encoding/json"
	"errors"
	"fmt"
)

// object is a JSON object.
type object = map[string]any

// RenderNetworkData returns the network data of a machine (network_data.json), nil where the template
// says nothing of networks. Bonds come first, then ethernets, then VLANs. What is raw goes over the
// result: links and networks with the id of a rendered one add their fields to it, all others are
// appended, services are appended, other fields are added.
//
// What cannot be rendered is listed at once, each with the host and the place in the template.
func RenderNetworkData(t Template, v Vars) (map[string]any, error) {
	if t.NetworkData == nil {
		return nil, nil
	}

	t.fill()

	r := netRenderer{vars: v, links: []any{}, networks: []any{}}
	r.allLinks(t.NetworkData.Links)
	r.allNetworks(t.NetworkData.Networks)

	services := r.services("services", t.NetworkData.Services)

	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}

	out := object{"links": r.links, "networks": r.networks, "services": services}
	merge(out, t.NetworkData.Raw)

	return out, nil
}

type netRenderer struct {
	vars            Vars
	links, networks []any
	errs            []error
}

func (r *netRenderer) fail(place string, err error) {
	r.errs = append(r.errs, fmt.Errorf("%s: network_data.%s: %w", r.vars.who(), place, err))
}

// NetworkDataJSON is [RenderNetworkData] as the document that a machine finds; nil where there is none.
func NetworkDataJSON(t Template, v Vars) ([]byte, error) {
	data, err := RenderNetworkData(t, v)
	if err != nil || data == nil {
		return nil, err
	}

	document, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("network data: %w", err)
	}

	return document, nil
}
