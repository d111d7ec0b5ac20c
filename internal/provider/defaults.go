// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// defaults reads what the ironic block says for all hosts.
func (r *reader) defaults(m ironicModel, d *host.Defaults) {
	at := ironicPath.AtName

	d.ProvisioningLimit = int(r.number(m.ProvisioningLimit, at("provisioning_limit"), envLimit, defaultLimit))
	d.DeployKernelURL = r.url(m.DeployKernelURL, at("deploy_kernel_url"), envKernel, imageSchemes...)
	d.DeployRamdiskURL = r.url(m.DeployRamdiskURL, at("deploy_ramdisk_url"), envRamdisk, imageSchemes...)
	d.DeployISOURL = r.url(m.DeployISOURL, at("deploy_iso_url"), envISO, imageSchemes...)

	if m.DeployKernelURL.IsUnknown() || m.DeployRamdiskURL.IsUnknown() {
		return
	}

	if (d.DeployKernelURL == "") != (d.DeployRamdiskURL == "") {
		missing := at("deploy_ramdisk_url")
		if d.DeployKernelURL == "" {
			missing = at("deploy_kernel_url")
		}

		r.diags.AddAttributeError(missing, "Incomplete deploy image", "A kernel and a ramdisk boot together: set deploy_kernel_url and deploy_ramdisk_url ("+
			envKernel+" and "+envRamdisk+"), or neither.")
	}
}

// bmc reads the credentials of BMCs whose host gives none.
func (r *reader) bmc(ctx context.Context, config model, d *host.Defaults) {
	m := decode(ctx, config.BMC, unknownBMC, r.diags)

	d.Username = r.text(m.Username, bmcPath.AtName("username"))
	d.Password = r.text(m.Password, bmcPath.AtName("password"))
	d.BMCAccess = r.text(m.Access, bmcPath.AtName("access"))

	if d.BMCAccess == "" && !m.Access.IsUnknown() {
		d.BMCAccess = defaultAccess
	}

	hosts := bmcPath.AtName("hosts")
	if r.isUnknown(m.Hosts, hosts) {
		return
	}

	for address, v := range m.Hosts.Elements() {
		at := hosts.AtMapKey(address)
		if r.isUnknown(v, at) {
			continue
		}

		object, ok := v.(types.Object)
		if !ok {
			continue
		}

		one := decode(ctx, object, func() credentialsModel { return credentialsModel{} }, r.diags)

		if d.Credentials == nil {
			d.Credentials = map[string]host.Credentials{}
		}

		d.Credentials[strings.ToLower(address)] = host.Credentials{
			Username: r.text(one.Username, at.AtName("username")),
			Password: r.text(one.Password, at.AtName("password")),
		}
	}
}
