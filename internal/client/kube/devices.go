// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
)

const devicesGroup = "resource.k8s.io"

// ResourceSlice is devices that a driver offers.
type ResourceSlice struct {
	Name, Driver, Pool string
	Node               string // "" where it offers devices of several Nodes
	Generation         int64  // of the pool: what an older one says counts no more
	Devices            []Device
}

// Device is one device of a ResourceSlice.
type Device struct {
	Name       string
	Attributes map[string]string // whatever their type, written out
}

// ResourceSlices lists the devices that drivers offer on a Node; nil where the API server
// serves no such group.
func (c *Client) ResourceSlices(ctx context.Context, node string) ([]ResourceSlice, error) {
	version, err := c.version(ctx, devicesGroup, "resourceslices")
	if errors.Is(err, ErrUnsupported) {
		return nil, nil
	}

	if err != nil {
		return nil, err
	}

	// All of them: a slice of a fabric names the Node of each device, and no selector finds that.
	items, err := c.list(ctx, "list the ResourceSlices", "/apis/"+devicesGroup+"/"+version+"/resourceslices", nil)
	if err != nil {
		return nil, err
	}

	slices := []ResourceSlice{}

	for _, item := range items {
		if s := sliceOf(item, node); s.Node == node || len(s.Devices) > 0 {
			slices = append(slices, s)
		}
	}

	return slices, nil
}

// sliceOf reads a slice with the devices that it offers on a Node.
func sliceOf(o object, node string) ResourceSlice {
	s := ResourceSlice{
		Name:   o.str("metadata", "name"),
		Driver: o.str("spec", "driver"),
		Pool:   o.str("spec", "pool", "name"),
		Node:   o.str("spec", "nodeName"),
	}
	s.Generation, _ = o.number("spec", "pool", "generation")

	for _, item := range o.list("spec", "devices") {
		device, facts := Device{Name: item.str("name"), Attributes: map[string]string{}}, item

		// v1beta1 has them one level lower
		if basic := item.inner("basic"); basic != nil {
			facts = basic
		}

		if s.Node != node && facts.str("nodeName") != node {
			continue
		}

		attributes := facts.inner("attributes")
		for name := range attributes {
			for _, value := range attributes.inner(name) {
				if text, ok := plain(value); ok {
					device.Attributes[name] = text
				}
			}
		}

		s.Devices = append(s.Devices, device)
	}

	return s
}

// DeviceSelector says which devices a [Client.CreateDeviceTaintRule] is about; empty fields match all.
type DeviceSelector struct{ Driver, Pool, Device string }

// CreateDeviceTaintRule taints devices, so that no Pod gets them or keeps them. A rule of that
// name that says the same is enough. Where the API server serves no such rules, the error is ErrUnsupported.
func (c *Client) CreateDeviceTaintRule(ctx context.Context, name string, devices DeviceSelector, taint Taint) error {
	path, version, err := c.rulesPath(ctx)
	if err != nil {
		return err
	}

	selector := object{}

	for field, value := range map[string]string{"driver": devices.Driver, "pool": devices.Pool, "device": devices.Device} {
		if value != "" {
			selector[field] = value
		}
	}

	written := object{"key": taint.Key, "effect": taint.Effect}
	if taint.Value != "" {
		written["value"] = taint.Value
	}

	op := "make the DeviceTaintRule " + name

	_, err = c.do(ctx, call{op: op, method: http.MethodPost, path: path, body: object{
		"apiVersion": devicesGroup + "/" + version, "kind": "DeviceTaintRule",
		"metadata": object{"name": name},
		"spec":     object{"deviceSelector": selector, "taint": written},
	}})
	if !errors.Is(err, ErrConflict) {
		return err
	}

	found, readErr := c.object(ctx, call{op: "read the DeviceTaintRule " + name, method: http.MethodGet, path: path + "/" + segment(name)})
	if readErr != nil {
		return readErr
	}

	had := found.inner("spec", "deviceSelector")
	if (DeviceSelector{had.str("driver"), had.str("pool"), had.str("device")}) == devices && taintOf(found.inner("spec", "taint")) == taint {
		return nil
	}

	return &RequestError{Op: op, kind: ErrConflict, Text: "there is a rule of this name for other devices or with another taint; delete it (kubectl delete devicetaintrule " + name + ")"}
}

// DeleteDeviceTaintRule deletes a rule. One that is not there is deleted.
func (c *Client) DeleteDeviceTaintRule(ctx context.Context, name string) error {
	path, _, err := c.rulesPath(ctx)
	if err != nil {
		return err
	}

	return c.remove(ctx, "delete the DeviceTaintRule "+name, path+"/"+segment(name))
}

func (c *Client) rulesPath(ctx context.Context) (path, version string, err error) {
	version, err = c.version(ctx, devicesGroup, "devicetaintrules")

	return "/apis/" + devicesGroup + "/" + version + "/devicetaintrules", version, err
}

// served remembers in which version a kind is served.
type served struct {
	mu       sync.Mutex
	versions map[string]string // by group/resource
}

// version finds the version of a group in which a kind is served: the first that has it, in the
// API server's own order, which begins with the one it prefers.
func (c *Client) version(ctx context.Context, group, kind string) (string, error) {
	key := group + "/" + kind

	c.served.mu.Lock()
	known := c.served.versions[key]
	c.served.mu.Unlock()

	if known != "" {
		return known, nil
	}

	found, err := c.object(ctx, call{op: "look for " + key, method: http.MethodGet, path: "/apis/" + group})
	if errors.Is(err, ErrNotFound) || isPlain404(err) {
		return "", fmt.Errorf("%s: %w", key, ErrUnsupported)
	}

	if err != nil {
		return "", err
	}

	for _, offered := range found.list("versions") {
		version := offered.str("version")

		has, err := c.serves(ctx, group, version, kind)
		if err != nil {
			return "", err
		}

		if has {
			c.served.mu.Lock()
			defer c.served.mu.Unlock()

			if c.served.versions == nil {
				c.served.versions = map[string]string{}
			}

			c.served.versions[key] = version

			return version, nil
		}
	}

	return "", fmt.Errorf("%s: %w", key, ErrUnsupported)
}

func (c *Client) serves(ctx context.Context, group, version, kind string) (bool, error) {
	list, err := c.object(ctx, call{op: "look for " + group + "/" + version, method: http.MethodGet, path: "/apis/" + group + "/" + segment(version)})
	if errors.Is(err, ErrNotFound) || isPlain404(err) {
		return false, nil
	}

	for _, offered := range list.list("resources") {
		if offered.str("name") == kind {
			return true, nil
		}
	}

	return false, err
}

// isPlain404 says of a group that it is not served: the API server answers such a path without a Status.
func isPlain404(err error) bool {
	var refused *RequestError

	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}
