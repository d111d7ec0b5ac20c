// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package provider

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// The variables of the environment, named as the baremetal-operator and OpenStack name theirs.
const (
	envEndpoint   = "IRONIC_ENDPOINT"
	envUsername   = "IRONIC_USERNAME"
	envPassword   = "IRONIC_PASSWORD"
	envCACert     = "IRONIC_CACERT_FILE"
	envClientCert = "IRONIC_CLIENT_CERT_FILE"
	envClientKey  = "IRONIC_CLIENT_PRIVATE_KEY_FILE"
	envInsecure   = "IRONIC_INSECURE"
	envTimeout    = "IRONIC_CLIENT_TIMEOUT"
	envCloud      = "OS_CLOUD"
	envAuthRoot   = "METAL3_AUTH_ROOT_DIR"
	envLimit      = "PROVISIONING_LIMIT"
	envKernel     = "DEPLOY_KERNEL_URL"
	envRamdisk    = "DEPLOY_RAMDISK_URL"
	envISO        = "DEPLOY_ISO_URL"
	envNamespace  = "METAL3_NAMESPACE"

	envFabricType     = "METAL3_FABRIC_TYPE"
	envFabricEndpoint = "METAL3_FABRIC_ENDPOINT"
	envFabricTenant   = "METAL3_FABRIC_TENANT_ID"
	envFabricCluster  = "METAL3_FABRIC_CLUSTER_ID"
	envFabricRealm    = "METAL3_FABRIC_REALM"
	envFabricClient   = "METAL3_FABRIC_CLIENT_ID"
	envFabricSecret   = "METAL3_FABRIC_CLIENT_SECRET" //nolint:gosec // the name of a variable
	envFabricUsername = "METAL3_FABRIC_USERNAME"
	envFabricPassword = "METAL3_FABRIC_PASSWORD" //nolint:gosec // the name of a variable
	envFabricCACert   = "METAL3_FABRIC_CA_CERT_FILE"

	envOwnerID  = "METAL3_OWNER_ID"
	envLab      = "METAL3_LAB"
	envLabTrace = "METAL3_LAB_TRACE"
)

// reader reads attributes with the environment behind them.
//
// An attribute wins over the environment; an empty string counts as absent, so that a block
// can name every attribute and fill it from variables. An unknown attribute is noted and
// never replaced: at apply it may say something else than the environment.
type reader struct {
	env     func(string) string
	diags   *diag.Diagnostics
	unknown []string
}

func (r *reader) isUnknown(v interface{ IsUnknown() bool }, at path.Path) bool {
	if v.IsUnknown() {
		r.unknown = append(r.unknown, at.String())
	}

	return v.IsUnknown()
}

// text returns the attribute, else the first variable that says something.
func (r *reader) text(v types.String, at path.Path, vars ...string) string {
	if r.isUnknown(v, at) || v.ValueString() != "" {
		return v.ValueString()
	}

	for _, name := range vars {
		if s := strings.TrimSpace(r.env(name)); s != "" {
			return s
		}
	}

	return ""
}

func (r *reader) truth(v types.Bool, at path.Path, name string) bool {
	s := strings.TrimSpace(r.env(name))
	if r.isUnknown(v, at) || !v.IsNull() || s == "" {
		return v.ValueBool()
	}

	b, err := strconv.ParseBool(strings.ToLower(s))
	if err != nil {
		r.wrong(at, name, "must be true or false")
	}

	return b
}

func (r *reader) number(v types.Int64, at path.Path, name string, otherwise int64) int64 {
	s := strings.TrimSpace(r.env(name))

	switch {
	case r.isUnknown(v, at):
		return otherwise
	case !v.IsNull():
		return v.ValueInt64()
	case s == "":
		return otherwise
	}

	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		r.wrong(at, name, "must be a number, 0 or more")

		return otherwise
	}

	return n
}

// duration reads an attribute such as "90s"; the variable may also be a bare number of seconds.
func (r *reader) duration(v types.String, at path.Path, name string) time.Duration {
	s := r.text(v, at, name)
	if s == "" {
		return 0
	}

	if seconds, err := strconv.Atoi(s); err == nil && v.ValueString() == "" {
		s = strconv.Itoa(seconds) + "s"
	}

	d, err := value.ParseDuration(s)
	if err != nil {
		r.wrong(at, name, "must be a duration above zero such as 60s")
	}

	return d
}

// texts returns a set of words; nothing in the environment stands in for it.
func (r *reader) texts(v types.Set, at path.Path) []string {
	if v.IsUnknown() || value.HasUnknown(v) {
		r.unknown = append(r.unknown, at.String())

		return nil
	}

	return value.GoStrings(v)
}

// url returns the attribute, else the variable, of which the form is checked here.
func (r *reader) url(v types.String, at path.Path, name string, schemes ...string) string {
	s := r.text(v, at, name)
	if s == "" || v.ValueString() != "" {
		return s // the attribute has a validator
	}

	if err := value.CheckURL(s, schemes...); err != nil {
		r.wrong(at, name, err.Error())
	}

	return s
}

// wrong blames a variable, or the attribute that it stands for. It never shows the value.
func (r *reader) wrong(at path.Path, name, what string) {
	r.diags.AddAttributeError(at, "Invalid "+at.String(),
		"The attribute, or the environment variable "+name+" where the attribute is absent, "+what+".")
}

// secretFile reads a credential from a file in the way that Metal3's own manifests mount it.
func (r *reader) secretFile(name string) string {
	root := r.env(envAuthRoot)
	if root == "" {
		return ""
	}

	content, err := os.ReadFile(filepath.Join(root, "ironic", name)) //nolint:gosec // the user names the directory
	if err != nil && !errors.Is(err, fs.ErrNotExist) {               // a directory without credentials means that none are needed
		r.diags.AddAttributeError(ironicPath.AtName(name), "Credentials of Ironic cannot be read", err.Error()+
			". The directory is named by the environment variable "+envAuthRoot+".")
	}

	return strings.TrimSpace(string(content))
}
