// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
)

// System is one computer system behind a BMC.
type System struct {
	Path  string
	UUID  string // lower case
	Power Power
	MACs  []string // lower case, sorted; none where the BMC does not tell
}

const root = "/redfish/v1/"

// Check asks whether the BMC answers and takes the credentials.
//
// It reads one resource that needs them. Connecting alone proves nothing: with HTTP Basic
// the first request that needs a user is the first that looks at the password.
func (c *Client) Check(ctx context.Context) error {
	path := c.known()
	if path == "" {
		var err error
		if path, err = c.collection(ctx); err != nil {
			return err
		}
	}

	_, err := c.get(ctx, "the system", path)

	return err
}

// known returns the path of the system, as far as it is known.
func (c *Client) known() string {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.system
}

// System returns the system that is meant: the one whose path is configured, else the one
// that owns the boot MAC address, else the only one. It never takes just the first.
func (c *Client) System(ctx context.Context, bootMAC string) (System, error) {
	path := c.known()

	if c.cfg.SystemPath == "" && (path == "" || bootMAC != "") {
		var err error
		if path, err = c.choose(ctx, bootMAC); err != nil {
			return System{}, err
		}

		c.mu.Lock()
		c.system = path
		c.mu.Unlock()
	}

	a, err := c.get(ctx, "the system", path)
	if err != nil {
		return System{}, err
	}

	// Not every BMC lists its interfaces, so a system without them is still one.
	macs, err := c.macs(ctx, a.doc)
	if err != nil && (ctx.Err() != nil || errors.Is(err, ErrAuth)) {
		return System{}, err
	}

	return System{path, strings.ToLower(a.doc.text("UUID")), powerOf(a.doc), macs}, nil
}

// collection returns the path of the collection of systems.
func (c *Client) collection(ctx context.Context) (string, error) {
	a, err := c.get(ctx, "the service root", root)
	if err != nil {
		return "", err
	}

	return cmp.Or(a.doc.link("Systems"), root+"Systems"), nil
}

// choose finds the system among the members of the collection.
func (c *Client) choose(ctx context.Context, bootMAC string) (string, error) {
	members, err := c.members(ctx)

	switch {
	case err != nil:
		return "", err
	case len(members) == 0:
		return "", &RequestError{Op: "choose the system", Text: "the BMC lists no system", kind: ErrNotFound}
	case len(members) == 1:
		return members[0], nil
	case bootMAC == "":
		return "", ambiguous(members, "name one in the address, or give the boot MAC address")
	}

	var (
		want   = canonical(bootMAC)
		owners []string
		failed []error
	)

	for _, path := range members {
		a, err := c.get(ctx, "the system", path)
		if err == nil {
			var macs []string

			macs, err = c.macs(ctx, a.doc)
			if slices.Contains(macs, want) {
				owners = append(owners, path)
			}
		}

		if err != nil {
			failed = append(failed, err)
		}
	}

	switch {
	case len(owners) == 1:
		return owners[0], nil
	case len(owners) > 1:
		return "", ambiguous(owners, "all of them claim the MAC address "+want)
	case len(failed) > 0:
		return "", fmt.Errorf("look for the system with the MAC address %s: %w", want, errors.Join(failed...))
	default:
		return "", ambiguous(members, "none of them has the MAC address "+want)
	}
}

func ambiguous(members []string, why string) error {
	return &RequestError{
		Op: "choose the system", Text: fmt.Sprintf("the BMC has the systems %s: %s", strings.Join(members, ", "), why),
		kind: ErrAmbiguous,
	}
}

// pages bounds a collection that refers to itself.
const pages = 50

// members returns the paths of all systems, sorted: the order of a BMC means nothing.
func (c *Client) members(ctx context.Context) ([]string, error) {
	path, err := c.collection(ctx)
	if err != nil {
		return nil, err
	}

	docs, err := c.list(ctx, "the systems", path)
	if err != nil {
		return nil, err
	}

	var members []string

	for _, d := range docs {
		if path := local(d.text("@odata.id")); path != "" {
			members = append(members, path)
		}
	}

	slices.Sort(members)

	return slices.Compact(members), nil
}

// list returns the members of a collection, page by page.
func (c *Client) list(ctx context.Context, what, path string) ([]document, error) {
	var docs []document

	for range pages {
		a, err := c.get(ctx, what, path)
		if err != nil {
			return nil, err
		}

		docs = append(docs, a.doc.objects("Members")...)

		if path = local(a.doc.text("Members@odata.nextLink")); path == "" {
			break
		}
	}

	return docs, nil
}

// macs returns the addresses of a system's interfaces, sorted, each once.
func (c *Client) macs(ctx context.Context, system document) ([]string, error) {
	path := system.link("EthernetInterfaces")
	if path == "" {
		return nil, nil
	}

	nics, err := c.list(ctx, "the interfaces", path)
	if err != nil {
		return nil, err
	}

	var macs []string

	for _, nic := range nics {
		if nic.text("MACAddress") == "" && nic.text("PermanentMACAddress") == "" { // a reference
			a, err := c.get(ctx, "the interface", local(nic.text("@odata.id")))
			if err != nil {
				return macs, err
			}

			nic = a.doc
		}

		for _, key := range []string{"MACAddress", "PermanentMACAddress"} {
			if mac := canonical(nic.text(key)); mac != "" {
				macs = append(macs, mac)
			}
		}
	}

	slices.Sort(macs)

	return slices.Compact(macs), nil
}

// canonical returns a hardware address in its one spelling.
func canonical(mac string) string {
	parsed, err := net.ParseMAC(mac)
	if err != nil {
		return strings.ToLower(mac)
	}

	return parsed.String()
}
