// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"errors"
	"fmt"
	"slices"
)

// maxKey bounds the keys of metadata, as upstream does.
const maxKey = 512

var errNoGateway = errors.New("it has no gateway; give it one of string, from_pool and from_pool_annotation")

// Validate returns everything that is wrong with a template, each with its place. Empty values count
// as not written.
func (t Template) Validate() []error {
	c := &checker{}

	if t.MetaData != nil {
		c.metaData(t.MetaData)
	}

	if t.NetworkData != nil {
		c.networkData(t.NetworkData)
	}

	return c.errs
}

type checker struct{ errs []error }

func (c *checker) fail(at, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// need refuses an empty value.
func (c *checker) need(at, field, value string) {
	if value == "" {
		c.fail(at, "%s is missing", field)
	}
}

// among refuses a value that is not on a list.
func (c *checker) among(at, field, value string, all []string) {
	if !slices.Contains(all, value) {
		c.fail(at, "%s %q is none of %q", field, value, all)
	}
}

// keys finds keys that two entries of the metadata share.
type keys struct {
	*checker
	at map[string]string
}

// entry checks the key of an entry, and returns where it stands.
func (k *keys) entry(list string, i int, key string) string {
	at := fmt.Sprintf("meta_data.%s[%d]", list, i)

	switch before, taken := k.at[key]; {
	case key == "":
		k.fail(at, "key is missing")
	case len(key) > maxKey:
		k.fail(at, "key is longer than %d bytes", maxKey)
	case key == ProviderID:
		k.fail(at, "key %q is always <namespace>/<host>/<machine>; take another", key)
	case taken:
		k.fail(at, "key %q is also that of %s", key, before)
	}

	k.at[key] = at

	return at
}

func (c *checker) metaData(m *MetaData) {
	k := keys{c, map[string]string{}}

	for i, one := range m.Strings {
		k.entry("strings", i, one.Key)
	}

	for i, one := range m.Namespaces {
		k.entry("namespaces", i, one.Key)
	}

	for i, one := range m.Indexes {
		at := k.entry("indexes", i, one.Key)

		if one.Offset < 0 {
			c.fail(at, "offset %d is less than 0", one.Offset)
		}

		if one.Step < 0 {
			c.fail(at, "step %d is less than 1", one.Step)
		}
	}

	k.ofObjects(m)

	for _, list := range []struct {
		name string
		all  []FromPool
	}{
		{"ip_addresses_from_pool", m.IPAddressesFromPool},
		{"prefixes_from_pool", m.PrefixesFromPool},
		{"gateways_from_pool", m.GatewaysFromPool},
		{"dns_servers_from_pool", m.DNSServersFromPool},
	} {
		for i, one := range list.all {
			c.need(k.entry(list.name, i, one.Key), "name, that of a pool,", one.Name)
		}
	}

	for i, one := range m.FromHostInterfaces {
		if at := k.entry("from_host_interfaces", i, one.Key); (one.Interface != "") == one.FromBootMAC {
			c.fail(at, "write exactly one of interface and from_boot_mac")
		}
	}
}

func (k *keys) ofObjects(m *MetaData) {
	for i, one := range m.ObjectNames {
		k.among(k.entry("object_names", i, one.Key), "object", one.Object, objects())
	}

	for i, one := range m.FromLabels {
		at := k.entry("from_labels", i, one.Key)
		k.among(at, "object", one.Object, objects())
		k.need(at, "label", one.Label)
	}

	for i, one := range m.FromAnnotations {
		at := k.entry("from_annotations", i, one.Key)
		k.among(at, "object", one.Object, objects())
		k.need(at, "annotation", one.Annotation)
	}
}

// annotation checks the name of an annotation.
func (c *checker) annotation(at string, a *Annotation) {
	if a != nil {
		c.among(at, "object", a.Object, objects())
		c.need(at, "annotation", a.Annotation)
	}
}
