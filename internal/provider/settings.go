// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// settings are what the block and the environment say together.
type settings struct {
	ironic   ironic.Config
	fabric   fabricSettings
	ssh      remote.Config
	lab      *labSettings // nil: no lab
	defaults host.Defaults

	unknown         []string // attributes without which Ironic cannot be asked
	unknownFabric   []string // attributes without which the fabric cannot be asked
	unknownSSH      []string // attributes without which no machine can be reached
	unknownDefaults []string // attributes of defaults that are not known yet
}

// What counts where neither block nor environment says anything.
const (
	defaultNamespace = "metal3"
	defaultLimit     = 20
	defaultAccess    = "auto"
)

var (
	ironicPath = path.Root("ironic")
	fabricPath = path.Root("fabric")
	bmcPath    = path.Root("bmc")
	sshPath    = path.Root("ssh")
	labPath    = path.Root("lab")
)

// resolve joins the block with the environment. It calls nobody.
func resolve(ctx context.Context, config model, env func(string) string, diags *diag.Diagnostics) settings {
	var (
		s          settings
		read       = func() *reader { return &reader{env: env, diags: diags} }
		given      = given{decode(ctx, config.Ironic, unknownIronic, diags), decode(ctx, config.Fabric, unknownFabric, diags)}
		far        = read()
		composable = read()
		login      = read()
		embedded   = read()
		extras     = read()
	)

	if diags.HasError() {
		return s
	}

	s.ironic = far.ironic(given.ironic)
	s.fabric = composable.fabric(ctx, given.fabric)
	s.ssh = login.ssh(ctx, config)
	s.lab = embedded.lab(ctx, config, given, s, len(far.unknown)+len(composable.unknown) > 0)

	extras.defaults(given.ironic, &s.defaults)
	extras.bmc(ctx, config, &s.defaults)

	s.defaults.Namespace = extras.text(config.Namespace, path.Root("namespace"), envNamespace)
	if s.defaults.Namespace == "" && !config.Namespace.IsUnknown() {
		s.defaults.Namespace = defaultNamespace
	}

	s.defaults.OwnerID = extras.text(config.OwnerID, path.Root("owner_id"), envOwnerID)
	s.unknownDefaults = slices.Compact(extras.unknown)

	// While it is not known whether there is a lab, nobody is asked at all.
	s.unknown = slices.Compact(slices.Concat(far.unknown, embedded.unknown))
	s.unknownFabric = slices.Compact(slices.Concat(composable.unknown, embedded.unknown))
	s.unknownSSH = slices.Compact(slices.Concat(login.unknown, embedded.unknown))

	return s
}

// given is what the block itself says of far sides, without the environment.
type given struct {
	ironic ironicModel
	fabric fabricModel
}

// ironic reads how to reach Ironic.
func (r *reader) ironic(m ironicModel) ironic.Config {
	at := ironicPath.AtName
	cfg := ironic.Config{
		Endpoint:       r.url(m.Endpoint, at("endpoint"), envEndpoint, "http", "https"),
		CACertFile:     r.text(m.CACertFile, at("ca_cert_file"), envCACert),
		ClientCertFile: r.text(m.ClientCertFile, at("client_cert_file"), envClientCert),
		ClientKeyFile:  r.text(m.ClientKeyFile, at("client_key_file"), envClientKey),
		Insecure:       r.truth(m.Insecure, at("insecure"), envInsecure),
		Timeout:        r.duration(m.Timeout, at("timeout"), envTimeout),
	}

	r.auth(m, &cfg)

	if (cfg.ClientCertFile == "") != (cfg.ClientKeyFile == "") && !m.ClientCertFile.IsUnknown() && !m.ClientKeyFile.IsUnknown() {
		missing, there := at("client_key_file"), "a certificate"
		if cfg.ClientCertFile == "" {
			missing, there = at("client_cert_file"), "a key"
		}

		r.diags.AddAttributeError(missing, "Incomplete client certificate", "There is "+there+
			", and TLS needs both: set client_cert_file and client_key_file ("+envClientCert+" and "+envClientKey+"), or neither.")
	}

	if cfg.Insecure {
		r.diags.AddAttributeWarning(at("insecure"), "TLS certificate of Ironic is not verified",
			"Anybody between this machine and Ironic can read and change what is sent, BMC passwords included. "+
				"Give the certificate authority in ca_cert_file ("+envCACert+") instead of insecure ("+envInsecure+").")
	}

	return cfg
}

// auth reads who we are. What the block says counts before anything in the environment:
// OS_CLOUD is often set for other tools.
func (r *reader) auth(m ironicModel, cfg *ironic.Config) {
	at := ironicPath.AtName
	mode := ironic.AuthMode(r.text(m.Auth, at("auth")))
	cloud, user, password := r.text(m.Cloud, at("cloud")), r.text(m.Username, at("username")), r.text(m.Password, at("password"))
	given := user != "" || password != ""

	if m.Auth.IsUnknown() || m.Cloud.IsUnknown() || m.Username.IsUnknown() || m.Password.IsUnknown() {
		return
	}

	if user == "" {
		user = first(r.env(envUsername), r.secretFile("username"))
	}

	if password == "" {
		password = first(r.env(envPassword), r.secretFile("password"))
	}

	switch {
	case mode != "":
	case cloud != "":
		mode = ironic.Keystone
	case given:
		mode = ironic.HTTPBasic
	case r.env(envCloud) != "":
		mode = ironic.Keystone
	case user != "":
		mode = ironic.HTTPBasic
	default:
		mode = ironic.NoAuth
	}

	cfg.Auth = mode

	switch {
	case mode == ironic.Keystone:
		cfg.Cloud = first(cloud, r.env(envCloud))
	case cloud != "":
		r.diags.AddAttributeError(at("cloud"), "Cloud without Keystone",
			"cloud names an entry of clouds.yaml, which is read with auth = \"keystone\" only.")
	case mode == ironic.HTTPBasic:
		cfg.Username, cfg.Password = user, password
		r.both(user, at("username"), envUsername)
		r.both(password, at("password"), envPassword)
	}
}

func (r *reader) both(s string, at path.Path, name string) {
	if s == "" {
		r.diags.AddAttributeError(at, "Incomplete credentials of Ironic", "auth = \"http_basic\" needs a user name and a password: set "+
			at.String()+", "+name+", or a file in $"+envAuthRoot+"/ironic.")
	}
}

func first(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}

	return ""
}
