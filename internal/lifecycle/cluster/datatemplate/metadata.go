// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// ProviderID is the key that metadata always have: <namespace>/<host>/<machine>.
const ProviderID = "providerid"

// RenderMetaData returns the metadata of a machine. Later lists win over earlier ones, in the order of
// upstream, and the provider ID over all. What cannot be rendered is listed at once, each with the
// host, the key of the template, and the interface.
func RenderMetaData(t Template, v Vars) (map[string]string, error) {
	r := metaRenderer{vars: v, out: map[string]string{}}

	if t.MetaData != nil {
		r.fromHost(t.MetaData)
		r.fromPools(t.MetaData)
		r.fromObjects(t.MetaData)
	}

	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}

	r.out[ProviderID] = v.Namespace + "/" + v.Host + "/" + v.metal3machine()

	return r.out, nil
}

type metaRenderer struct {
	vars Vars
	out  map[string]string
	errs []error
}

// set takes a value, or the reason why there is none.
func (r *metaRenderer) set(list, key, value string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("%s: meta_data.%s, key %q: %w", r.vars.who(), list, key, err))

		return
	}

	r.out[key] = value
}

// who names the host and the machine, for messages.
func (v Vars) who() string {
	switch {
	case v.Host == "":
		return fmt.Sprintf("machine %q", v.Machine)
	case v.Machine == "":
		return fmt.Sprintf("host %q", v.Host)
	}

	return fmt.Sprintf("host %q (machine %q)", v.Host, v.Machine)
}

func (r *metaRenderer) fromHost(m *MetaData) {
	for _, one := range m.FromHostInterfaces {
		name := one.Interface
		if one.FromBootMAC {
			name = boot
		}

		mac, err := r.vars.interfaceMAC(name)
		r.set("from_host_interfaces", one.Key, mac, err)
	}
}

func (r *metaRenderer) fromPools(m *MetaData) {
	each := func(list string, all []FromPool, value func(addresses.Address) string) {
		for _, one := range all {
			a, _, err := r.vars.address(one.Name)
			r.set(list, one.Key, value(a), err)
		}
	}

	each("ip_addresses_from_pool", m.IPAddressesFromPool, func(a addresses.Address) string { return a.Address })
	each("prefixes_from_pool", m.PrefixesFromPool, func(a addresses.Address) string { return strconv.Itoa(a.Prefix) })
	each("gateways_from_pool", m.GatewaysFromPool, func(a addresses.Address) string { return a.Gateway })
	each("dns_servers_from_pool", m.DNSServersFromPool, func(a addresses.Address) string { return strings.Join(a.DNS, ",") })
}

func (r *metaRenderer) fromObjects(m *MetaData) {
	for _, one := range m.Indexes {
		n := one.Offset + r.vars.Index*max(one.Step, 1)
		r.set("indexes", one.Key, one.Prefix+strconv.Itoa(n)+one.Suffix, nil)
	}

	for _, one := range m.Namespaces {
		r.set("namespaces", one.Key, r.vars.Namespace, nil)
	}

	for _, one := range m.ObjectNames {
		name, err := r.vars.name(one.Object)
		r.set("object_names", one.Key, name, err)
	}

	for _, one := range m.FromLabels {
		all, err := r.vars.labels(one.Object)
		r.set("from_labels", one.Key, all[one.Label], err)
	}

	for _, one := range m.FromAnnotations {
		all, err := r.vars.annotations(one.Object)
		r.set("from_annotations", one.Key, all[one.Annotation], err)
	}

	for _, one := range m.Strings {
		r.set("strings", one.Key, one.Value, nil)
	}
}
