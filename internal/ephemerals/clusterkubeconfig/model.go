// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package clusterkubeconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

const (
	defaultPath = "/etc/kubernetes/admin.conf"
	defaultTTL  = time.Hour
)

// model is the ephemeral resource as Terraform sees it.
type model struct {
	CA            types.Object `tfsdk:"ca"`
	Kubeconfig    types.String `tfsdk:"kubeconfig"`
	SSH           types.Object `tfsdk:"ssh"`
	Endpoint      types.Object `tfsdk:"endpoint"`
	ClusterName   types.String `tfsdk:"cluster_name"`
	User          types.String `tfsdk:"user"`
	Organizations types.List   `tfsdk:"organizations"`
	TTL           types.String `tfsdk:"ttl"`
	WaitFor       types.String `tfsdk:"wait_for"`

	Host                 types.String `tfsdk:"host"`
	ClusterCACertificate types.String `tfsdk:"cluster_ca_certificate"`
	ClientCertificate    types.String `tfsdk:"client_certificate"`
	ClientKey            types.String `tfsdk:"client_key"`
	Token                types.String `tfsdk:"token"`
	ExpiresAt            types.String `tfsdk:"expires_at"`
}

type caModel struct {
	Certificate types.String `tfsdk:"certificate"`
	PrivateKey  types.String `tfsdk:"private_key"`
}

type sshModel struct {
	connectionvalue.Model

	Path types.String `tfsdk:"path"`
}

type endpointModel struct {
	Host types.String `tfsdk:"host"`
	Port types.Int64  `tfsdk:"port"`
}

func absolute(s string) error {
	if !strings.HasPrefix(s, "/") {
		return fmt.Errorf("%q is no absolute path", s)
	}

	return nil
}

// access is the way into the cluster.
func (m model) access(ctx context.Context, far far, now time.Time, diags *diag.Diagnostics) (bootstrap.Access, error) {
	endpoint := m.endpoint(ctx, diags)

	switch {
	case diags.HasError():
		return bootstrap.Access{}, nil
	case !m.CA.IsNull():
		return m.sign(ctx, endpoint, now, diags)
	case !m.SSH.IsNull():
		return m.read(ctx, far, endpoint, diags)
	default:
		return bootstrap.ParseKubeconfig([]byte(m.Kubeconfig.ValueString())) //nolint:wrapcheck // its own words are a sentence
	}
}

func (m model) endpoint(ctx context.Context, diags *diag.Diagnostics) bootstrap.Endpoint {
	var e endpointModel

	if m.Endpoint.IsNull() {
		return bootstrap.Endpoint{}
	}

	diags.Append(m.Endpoint.As(ctx, &e, basetypes.ObjectAsOptions{})...)

	return bootstrap.Endpoint{Host: e.Host.ValueString(), Port: int(e.Port.ValueInt64())}
}

// sign makes a certificate of the CA's.
func (m model) sign(ctx context.Context, at bootstrap.Endpoint, now time.Time, diags *diag.Diagnostics) (bootstrap.Access, error) {
	var ca caModel

	groups := []string{bootstrap.GroupClusterAdmins}

	diags.Append(m.CA.As(ctx, &ca, basetypes.ObjectAsOptions{})...)

	if !m.Organizations.IsNull() {
		groups = nil

		diags.Append(m.Organizations.ElementsAs(ctx, &groups, false)...)
	}

	ttl := defaultTTL

	if s := m.TTL.ValueString(); s != "" {
		var err error

		if ttl, err = value.ParseDuration(s); err != nil {
			return bootstrap.Access{}, fmt.Errorf("ttl: %w", err)
		}
	}

	if diags.HasError() {
		return bootstrap.Access{}, nil
	}

	pki := bootstrap.PKI{CA: bootstrap.Pair{Certificate: ca.Certificate.ValueString(), Key: ca.PrivateKey.ValueString()}}

	return bootstrap.Kubeconfig(pki, at, bootstrap.Options{ //nolint:wrapcheck // its own words are a sentence
		User: m.User.ValueString(), Organizations: groups, Cluster: m.ClusterName.ValueString(), TTL: ttl, Now: now,
	})
}

// read fetches a kubeconfig from a machine.
func (m model) read(ctx context.Context, far far, at bootstrap.Endpoint, diags *diag.Diagnostics) (bootstrap.Access, error) {
	var s sshModel

	diags.Append(m.SSH.As(ctx, &s, basetypes.ObjectAsOptions{})...)

	if diags.HasError() {
		return bootstrap.Access{}, nil
	}

	if far == nil {
		return bootstrap.Access{}, errors.New("the provider is not configured yet")
	}

	pool, defaults, err := far.Nodes(ctx)
	if err != nil {
		return bootstrap.Access{}, fmt.Errorf("ssh: %w. %s", err, value.PutOff("wait_for"))
	}

	cfg, more := connectionvalue.Config(ctx, s.Model, defaults)
	diags.Append(more...)

	if diags.HasError() {
		return bootstrap.Access{}, nil
	}

	file := cmp.Or(s.Path.ValueString(), defaultPath)

	text, name, err := fetch(ctx, pool, cfg, file)
	if err != nil {
		return bootstrap.Access{}, err
	}

	a, err := bootstrap.ParseKubeconfig(text)
	if err != nil {
		return bootstrap.Access{}, fmt.Errorf("%s on %s: %w", file, name, err)
	}

	if at.Host == "" {
		return a, nil
	}

	return a.At(at, bootstrap.Options{Cluster: m.ClusterName.ValueString()}) //nolint:wrapcheck // its own words are a sentence
}

// fetch reads a file of a machine, and says which machine that is.
func fetch(ctx context.Context, pool *remote.Pool, cfg remote.Config, file string) (text []byte, name string, err error) {
	host, err := pool.Host(cfg)
	if err != nil {
		return nil, "", fmt.Errorf("ssh: %w", err)
	}

	text, err = host.ReadFile(ctx, file)

	switch {
	case errors.Is(err, remote.ErrNotFound):
		return nil, "", fmt.Errorf("%s has no %s: it is no machine of the control plane, or kubeadm is not through there yet", host.Name(), file)
	case errors.Is(err, remote.ErrUnreachable):
		return nil, "", fmt.Errorf("read %s on %s: %w. If the same run makes the machine, write wait_for = metal3_cluster.NAME.state: "+
			"the addresses of a cluster are known before its machines are there", file, host.Name(), err)
	case err != nil:
		return nil, "", fmt.Errorf("read %s on %s: %w", file, host.Name(), err)
	default:
		return text, host.Name(), nil
	}
}

// fill takes over the parts of the access.
func (m *model) fill(a bootstrap.Access) {
	m.Kubeconfig = types.StringValue(string(a.Kubeconfig))
	m.Host = types.StringValue(a.Server)
	m.ClusterCACertificate = text(a.CA)
	m.ClientCertificate = text(a.Certificate)
	m.ClientKey = text(a.Key)
	m.Token = text(a.Token)
	m.ExpiresAt = types.StringNull()

	if !a.Ends.IsZero() {
		m.ExpiresAt = types.StringValue(a.Ends.UTC().Format(time.RFC3339))
	}
}
