// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package provider is the provider block, and the list of everything that is served.
//
// Configure reads the block and the environment and calls nobody: the far sides are
// reached at the first need of a resource or data source, and then once for all of them.
package provider

import (
	"context"
	"net"
	"net/http"
	"os"
	"sync/atomic"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/actions/cephmaintenance"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/actions/gpudrain"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/actions/remediate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/cephstatus"
	clustersource "github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/fabriccapacity"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/fabricdevices"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/fabricmachines"
	hostsource "github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/host"
	hostssource "github.com/terraform-metal3/terraform-provider-metal3/internal/datasources/hosts"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/ephemerals/cephkeyring"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/ephemerals/clusterkubeconfig"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/ephemerals/fabrictoken"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/functions"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/baremetalhost"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephclient"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephcluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephfilesystem"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cephpool"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/clusternodes"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/composablegpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/resources/remediation"
)

// Address is the source address of the provider, as it stands in required_providers.
const Address = "terraform-metal3/" + typeName

// typeName is the name of the provider, with which the names of its types begin.
const typeName = "metal3"

var (
	_ provider.Provider                  = (*metal3)(nil)
	_ provider.ProviderWithFunctions     = (*metal3)(nil)
	_ provider.ProviderWithListResources = (*metal3)(nil)
)

type metal3 struct {
	version string
	options options
	served  atomic.Pointer[services] // set by Configure
}

// options are what tests put in place of the world.
type options struct {
	transport http.RoundTripper
	backend   host.Backend
	desk      *device.Desk
	lab       *lab.Lab
	node      func(cfg remote.Config, deviceType string) device.Node
	cephRun   func(ceph.Run) cephcluster.Verbs
	cephHost  func(cfg remote.Config) ceph.Host
	env       func(string) string

	clusterDial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Option changes where a provider gets something from.
type Option func(*options)

// WithTransport sends the requests to Ironic and to the fabric manager through a transport
// instead of the network.
func WithTransport(t http.RoundTripper) Option { return func(o *options) { o.transport = t } }

// WithBackend gives rooms a backend instead of the one that the configuration names.
func WithBackend(b host.Backend) Option { return func(o *options) { o.backend = b } }

// WithDesk gives rooms a desk instead of one on the fabric that the configuration names.
func WithDesk(d *device.Desk) Option { return func(o *options) { o.desk = d } }

// WithEnvironment replaces the environment.
func WithEnvironment(env func(string) string) Option { return func(o *options) { o.env = env } }

// New returns the constructor of the provider.
func New(version string, opts ...Option) func() provider.Provider {
	return func() provider.Provider { return newProvider(version, opts...) }
}

func newProvider(version string, opts ...Option) *metal3 {
	o := options{env: os.Getenv}
	for _, apply := range opts {
		apply(&o)
	}

	return &metal3{version: version, options: o}
}

// Metadata names the provider.
func (p *metal3) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = typeName
	resp.Version = p.version
}

// Configure reads the block and the environment. It calls nobody.
func (p *metal3) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config model

	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)

	if resp.Diagnostics.HasError() {
		return
	}

	settings := resolve(ctx, config, p.options.env, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	if len(settings.unknown)+len(settings.unknownFabric) > 0 && req.ClientCapabilities.DeferralAllowed {
		resp.Deferred = &provider.Deferred{Reason: provider.DeferredReasonProviderConfigUnknown}
	}

	served := &services{version: p.version, options: p.options, settings: settings}
	p.served.Store(served)
	resp.ResourceData = served
	resp.DataSourceData = served
	resp.EphemeralResourceData = served
	resp.ActionData = served
	resp.ListResourceData = served
}

// Functions lists the functions.
func (p *metal3) Functions(context.Context) []func() function.Function { return functions.All() }

// Resources lists the resources.
func (p *metal3) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{baremetalhost.NewResource, cephclient.NewResource, cephcluster.NewResource, cephfilesystem.NewResource, cephpool.NewResource, cluster.NewResource, clusternodes.NewResource, composablegpu.NewResource, remediation.NewResource}
}

// ListResources lists what can be listed.
func (p *metal3) ListResources(context.Context) []func() list.ListResource {
	return []func() list.ListResource{cephclient.NewListResource, cephcluster.NewListResource, cephfilesystem.NewListResource, cephpool.NewListResource, cluster.NewListResource, composablegpu.NewListResource}
}

// DataSources lists the data sources.
func (p *metal3) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		cephstatus.NewDataSource, clustersource.NewDataSource, datatemplate.NewDataSource, fabriccapacity.NewDataSource, fabricdevices.NewDataSource, fabricmachines.NewDataSource, hostsource.NewDataSource, hostssource.NewDataSource,
	}
}

// EphemeralResources lists the ephemeral resources.
func (p *metal3) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{cephkeyring.NewEphemeralResource, clusterkubeconfig.NewEphemeralResource, fabrictoken.NewEphemeralResource}
}

// Actions lists the actions.
func (p *metal3) Actions(context.Context) []func() action.Action {
	return []func() action.Action{cephmaintenance.NewAction, gpudrain.NewAction, remediate.NewAction}
}
