// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
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

// lab reads whether the embedded far sides stand in for real ones.
func (r *reader) lab(ctx context.Context, config model, given ironicModel, far ironic.Config) *labSettings {
	if r.isUnknown(config.Lab, labPath) {
		return nil
	}

	// METAL3_LAB stands in for a configuration that names no far side at all.
	if config.Lab.IsNull() {
		dir := r.env(envLab)
		if dir == "" || len(r.unknown) > 0 || far.Endpoint != "" || far.Auth == ironic.Keystone {
			return nil
		}

		return &labSettings{dir, defaultMachines, defaultPace, r.env(envLabTrace)}
	}

	m := decode(ctx, config.Lab, func() labModel { return labModel{} }, r.diags)
	lab := &labSettings{defaultLabDir, defaultMachines, defaultPace, r.env(envLabTrace)}

	if dir := r.text(m.Dir, labPath.AtName("dir")); dir != "" {
		lab.dir = dir
	}

	if !r.isUnknown(m.Machines, labPath.AtName("machines")) && !m.Machines.IsNull() {
		lab.machines = int(m.Machines.ValueInt64())
	}

	if pace := r.text(m.Pace, labPath.AtName("pace")); pace != "" {
		if d, err := value.ParseDuration(pace); err == nil { // the validator has spoken
			lab.pace = d
		}
	}

	r.labAlone(given)

	return lab
}

// labAlone refuses a lab beside a far side that the block names, and says that a lab wins
// over one that only the environment names.
func (r *reader) labAlone(given ironicModel) {
	for name, v := range map[string]types.String{"endpoint": given.Endpoint, "cloud": given.Cloud} {
		if v.ValueString() != "" {
			r.diags.AddAttributeError(labPath, "Lab beside a real Ironic", "lab puts embedded far sides in the place of real ones, and ironic."+name+
				" names a real one. Remove one of them.")
		}
	}

	for _, name := range []string{envEndpoint, envCloud} {
		if r.env(name) != "" {
			r.diags.AddAttributeWarning(labPath, "Lab in use, "+name+" is ignored", "The provider block asks for the lab, and the environment names a real "+
				"far side in "+name+". What the block says counts: nothing real is asked or changed.")
		}
	}
}
