// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/schemavalue"
)

// ImportState implements [resource.ResourceWithImportState]. The id is where the cluster is:
// [FSID@]HOST[:PORT][,HOST…]/DATA_DIR.
func (r *clusterResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	defer value.Guard(ctx, "import", "Ceph cluster", &resp.Diagnostics)

	id := req.ID

	if id == "" && req.Identity != nil {
		var who identity

		resp.Diagnostics.Append(req.Identity.Get(ctx, &who)...)

		id = who.ID.ValueString()
	}

	loc, err := ceph.ParseClusterID(id)
	if err != nil {
		resp.Diagnostics.AddError("Import id names no cluster", value.Sentence(err))

		return
	}

	m, err := r.found(ctx, loc, &resp.Diagnostics)
	if err != nil {
		resp.Diagnostics.AddError("Ceph cluster "+id+" cannot be imported", value.Sentence(err))

		return
	}

	if !resp.Diagnostics.HasError() {
		r.record(ctx, m, &resp.State, resp.Identity, &resp.Diagnostics)
	}
}

// errNoCluster says that a folder holds no cluster of this provider.
var errNoCluster = errors.New("no cluster that this provider made is there")

// place is a host of an id, and what it shows.
type place struct {
	where string
	host  ceph.Host
	facts ceph.Facts
}

// found is the state of a cluster that is there: all that its hosts and the cluster itself
// tell, and every default of the schema.
func (r *clusterResource) found(ctx context.Context, loc ceph.Location, diags *diag.Diagnostics) (model, error) {
	m := blank(ctx)
	m.DataDir = types.StringValue(loc.Dir)

	places, id, err := r.look(ctx, loc)
	if err != nil {
		return m, err
	}

	m.Name, m.FSID = types.StringValue(id.Name), types.StringValue(id.FSID)
	loc.FSID = id.FSID

	seen, err := r.survey(ctx, loc, places)
	if err != nil {
		return m, err
	}

	m.describe(ctx, seen)
	m.describeHosts(ctx, seen, places)

	was := ceph.Record{FSID: id.FSID, AdminKey: id.AdminKey, MonSecret: id.MonSecret, LastMon: id.LastMon, DashboardPassword: id.Dashboard}

	rec, err := r.ask(ctx, m, was, diags)
	if err != nil {
		return m, err
	}

	m.describeStorage(ctx, rec, r.slots(ctx, m, *id, diags), diags)
	m.settle(ctx, rec, diags)

	return m, nil
}

// look looks at the hosts of an id for the identity of the cluster.
func (r *clusterResource) look(ctx context.Context, loc ceph.Location) ([]place, *ceph.Identity, error) {
	var (
		places []place
		id     *ceph.Identity
		failed error
	)

	for _, where := range loc.Hosts {
		host, err := r.reach(ctx, where)
		if err != nil {
			return nil, nil, err
		}

		facts, err := host.Look(ctx, ceph.Layout{FSID: loc.FSID, Dir: loc.Dir}, ceph.Ask{})
		if err != nil {
			failed = fmt.Errorf("%s: %w", host.Name(), err)

			continue
		}

		if facts.Identity != nil && (loc.FSID == "" || loc.FSID == facts.Identity.FSID) {
			if id != nil && id.FSID != facts.Identity.FSID {
				return nil, nil, fmt.Errorf("%s and %s have different clusters in %s: %s and %s", places[0].where, where, loc.Dir, id.FSID, facts.Identity.FSID)
			}

			id = facts.Identity
		}

		places = append(places, place{where, host, facts})
	}

	switch {
	case id != nil:
		return places, id, nil
	case failed != nil:
		return nil, nil, failed
	default:
		return nil, nil, fmt.Errorf("%w: in %s of %s there is no identity of a cluster%s", errNoCluster, loc.Dir, strings.Join(loc.Hosts, ", "), ofFSID(loc.FSID))
	}
}

func ofFSID(fsid string) string {
	if fsid == "" {
		return ""
	}

	return " with the fsid " + fsid
}

// reach returns a host as an id names it.
func (r *clusterResource) reach(ctx context.Context, where string) (ceph.Host, error) {
	if where == ceph.LocalHost {
		return r.far.CephHost(ctx, remote.Config{Type: remote.Local}) //nolint:wrapcheck // it has the words
	}

	cfg, err := r.far.SSHDefaults(ctx)
	if err != nil {
		return nil, err //nolint:wrapcheck // it has the words
	}

	cfg.Type = remote.SSH
	cfg.Host, cfg.Port = ceph.SplitHost(where)

	return r.far.CephHost(ctx, cfg) //nolint:wrapcheck // it has the words
}

// ask refreshes what is known of a cluster.
func (r *clusterResource) ask(ctx context.Context, m model, was ceph.Record, diags *diag.Diagnostics) (ceph.Record, error) {
	life, ok := r.life(ctx, m, nil, was, nil, diags)
	if !ok {
		return was, errors.New("its hosts cannot be reached")
	}

	res := life.Refresh(ctx, was)

	switch {
	case res.Err != nil:
		return was, res.Err
	case !res.Known:
		return was, errNoCluster
	}

	return res.Record, nil
}

// blank is a resource with every default and nothing else.
func blank(ctx context.Context) model {
	top := topAttributes()
	text := func(name string) types.String {
		s, _ := schemavalue.DefaultOf(ctx, top[name]).(types.String)

		return s
	}
	section := func(name string) types.Object {
		o, _ := schemavalue.DefaultOf(ctx, top[name]).(types.Object)

		return o
	}
	truth := func(name string) types.Bool {
		b, _ := schemavalue.DefaultOf(ctx, top[name]).(types.Bool)

		return b
	}

	config, _ := schemavalue.Null(ctx, top["config"].GetType()).(types.Map)

	return model{
		CephVersion: types.StringNull(), AllowUnsupported: truth("allow_unsupported_version"), Packages: text("packages"), Supervision: text("supervision"), Config: config,
		Mon: section("mon"), Mgr: section("mgr"), Network: section("network"), Storage: section("storage"), PoolDefaults: section("pool_defaults"),
		Upgrade: section("upgrade"), Cleanup: section("cleanup"), Takeover: section("takeover"), Ready: section("ready"),
		Dashboard: section("dashboard"), External: section("external"),
		OnCreateFailure: text("on_create_failure"), DeletionProtection: truth("deletion_protection"), Timeouts: section("timeouts"),
	}
}

func hostType() types.ObjectType { return schemavalue.ObjectType(hostAttributes()) }
