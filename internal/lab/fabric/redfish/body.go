// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"encoding/json"
	"errors"
	"fmt"
)

// errMalformed says that a body is no JSON object.
var errMalformed = errors.New("the body is no JSON object")

// decodeBody reads a body into its properties.
func decodeBody(raw []byte) (map[string]json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil || fields == nil {
		return nil, errMalformed
	}

	return fields, nil
}

// blockOrder is the body of AddResourceBlock and RemoveResourceBlock.
type blockOrder struct {
	Block      string // path
	BlockETag  string
	SystemETag string
}

// decodeBlockOrder reads the body of the two actions. ResourceBlock is a reference; a bare
// path, as some clients send it, is refused.
func decodeBlockOrder(raw []byte) (blockOrder, error) {
	fields, err := decodeBody(raw)
	if err != nil {
		return blockOrder{}, err
	}

	var o blockOrder

	for name, value := range fields {
		var err error

		switch name {
		case "ResourceBlock":
			o.Block, err = decodeRef(value)
		case "ResourceBlockETag":
			err = json.Unmarshal(value, &o.BlockETag)
		case "ComputerSystemETag":
			err = json.Unmarshal(value, &o.SystemETag)
		default:
			err = errors.New("the action has no such parameter")
		}

		if err != nil {
			return blockOrder{}, fmt.Errorf("%s: %w", name, err)
		}
	}

	if o.Block == "" {
		return blockOrder{}, errors.New("ResourceBlock: missing")
	}

	return o, nil
}

// decodeLinks reads {"Links": {name: [references]}} and refuses everything else.
func decodeLinks(raw []byte, name string) ([]string, error) {
	fields, err := decodeBody(raw)
	if err != nil {
		return nil, err
	}

	for field := range fields {
		if field != "Links" {
			return nil, fmt.Errorf("%s: the property cannot be written", field)
		}
	}

	links, err := decodeBody(fields["Links"])
	if err != nil {
		return nil, errors.New("links: missing, or no object")
	}

	for field := range links {
		if field != name {
			return nil, fmt.Errorf("links/%s: the property cannot be written", field)
		}
	}

	var entries []json.RawMessage
	if err := json.Unmarshal(links[name], &entries); err != nil || entries == nil {
		return nil, fmt.Errorf("links/%s: missing, or no array", name)
	}

	paths := make([]string, 0, len(entries))

	for i, entry := range entries {
		path, err := decodeRef(entry)
		if err != nil {
			return nil, fmt.Errorf("links/%s/%d: %w", name, i, err)
		}

		paths = append(paths, path)
	}

	return paths, nil
}

// decodeReserved reads {"CompositionStatus": {"Reserved": …}}.
func decodeReserved(raw []byte) (bool, error) {
	var body struct {
		CompositionStatus struct{ Reserved *bool }
	}

	if json.Unmarshal(raw, &body) != nil || body.CompositionStatus.Reserved == nil {
		return false, errors.New("nothing but CompositionStatus/Reserved can be written")
	}

	return *body.CompositionStatus.Reserved, nil
}

func decodeRef(raw json.RawMessage) (string, error) {
	var r struct {
		Path string `json:"@odata.id"`
	}

	if err := json.Unmarshal(raw, &r); err != nil || r.Path == "" {
		return "", errors.New("not a reference to a resource")
	}

	return r.Path, nil
}

// decodeLogin reads the body of a new session.
func decodeLogin(raw []byte) (user, password string, err error) {
	var body struct{ UserName, Password *string }

	if err := json.Unmarshal(raw, &body); err != nil {
		return "", "", errMalformed
	}

	if body.UserName == nil || body.Password == nil {
		return "", "", errors.New("UserName and Password are required")
	}

	return *body.UserName, *body.Password, nil
}
