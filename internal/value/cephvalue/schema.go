// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue

import (
	"context"
	"fmt"
	"time"

	actionschema "github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	ephemeralschema "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

// Descriptions that all rooms share.
const (
	AboutClusterID = "Id of the cluster: `id` of a `metal3_ceph_cluster`, or `FSID@HOST[:PORT][,HOST…]/DATA_DIR` with the hosts of its monitors as SSH reaches them " +
		"(IPv6 in brackets, `local` for the machine that runs Terraform) and the folder of the cluster on them."
	AboutConnection = "How to reach one host of the cluster's monitors, instead of those that `cluster_id` names. Default: these, with the provider's `ssh` block."
)

const replaces = "Another cluster (another fsid) replaces the resource; another way to the same one is changed in place."

// ClusterID is the attribute cluster_id of a resource.
func ClusterID() schema.StringAttribute {
	return schema.StringAttribute{
		Required: true, Validators: []validator.String{ID()}, MarkdownDescription: AboutClusterID + " " + replaces,
		PlanModifiers: []planmodifier.String{stringplanmodifier.RequiresReplaceIf(
			func(_ context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
				resp.RequiresReplace = !SameCluster(req.StateValue, req.PlanValue)
			}, replaces, replaces)},
	}
}

// SameCluster reports whether two ids are of one cluster. An id that is not known yet is not.
func SameCluster(a, b types.String) bool {
	if a.Equal(b) && !a.IsUnknown() {
		return true
	}

	one, err := ceph.ParseClusterID(a.ValueString())
	if err != nil {
		return false
	}

	other, err := ceph.ParseClusterID(b.ValueString())

	return err == nil && one.Same(other)
}

// ConnectionAttribute is the attribute connection of a resource.
func ConnectionAttribute(about string) schema.SingleNestedAttribute {
	return schema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: about, Validators: connectionvalue.Validators(),
		Attributes: connectionvalue.Attributes(remote.SSH, remote.Local),
	}
}

// DataSourceConnection is [ConnectionAttribute] for a data source.
func DataSourceConnection(about string) dataschema.SingleNestedAttribute {
	return dataschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: about, Validators: connectionvalue.Validators(),
		Attributes: connectionvalue.DataSourceAttributes(remote.SSH, remote.Local),
	}
}

// EphemeralConnection is [ConnectionAttribute] for an ephemeral resource.
func EphemeralConnection(about string) ephemeralschema.SingleNestedAttribute {
	return ephemeralschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: about, Validators: connectionvalue.Validators(),
		Attributes: connectionvalue.EphemeralAttributes(remote.SSH, remote.Local),
	}
}

// ActionConnection is [ConnectionAttribute] for an action.
func ActionConnection(about string) actionschema.SingleNestedAttribute {
	return actionschema.SingleNestedAttribute{
		Optional: true, MarkdownDescription: about, Validators: connectionvalue.Validators(),
		Attributes: connectionvalue.ActionAttributes(remote.SSH, remote.Local),
	}
}

// NoConnection is the value of a connection that is not given.
func NoConnection() types.Object { return types.ObjectNull(connectionvalue.AttrTypes()) }

// Timeouts are the limits of the verbs, by their names.
type Timeouts map[string]time.Duration

// Attribute is the attribute timeouts of a resource.
func (t Timeouts) Attribute() schema.SingleNestedAttribute {
	all := map[string]schema.Attribute{}
	for name, d := range t {
		all[name] = schema.StringAttribute{
			Optional: true, Validators: []validator.String{value.Duration()},
			MarkdownDescription: fmt.Sprintf("Limit of a %s, such as `90s` or `10m`. Default: `%s`.", name, short(d)),
		}
	}

	return schema.SingleNestedAttribute{Optional: true, MarkdownDescription: "Limits of time.", Attributes: all}
}

// Null is the value of timeouts that are not given.
func (t Timeouts) Null() types.Object {
	all := map[string]attr.Type{}
	for name := range t {
		all[name] = types.StringType
	}

	return types.ObjectNull(all)
}

// Limit gives a verb its time.
func (t Timeouts) Limit(ctx context.Context, configured types.Object, verb string) (context.Context, context.CancelFunc) {
	limit := t[verb]

	if s, ok := configured.Attributes()[verb].(types.String); ok {
		if d, err := value.ParseDuration(s.ValueString()); err == nil { // the validator has spoken
			limit = d
		}
	}

	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("the limit of %s (timeouts.%s) is over", short(limit), verb))
}

// short leaves out what is zero: 10m instead of 10m0s.
func short(d time.Duration) string {
	switch {
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d%time.Second == 0:
		return fmt.Sprintf("%ds", d/time.Second)
	default:
		return d.String()
	}
}

// ID refuses what is no id of a cluster.
func ID() validator.String {
	return value.Check("Invalid id of a Ceph cluster", "the id of a Ceph cluster", func(id string) error {
		l, err := ceph.ParseClusterID(id)
		if err == nil && l.FSID == "" {
			err = fmt.Errorf("%q has no fsid: write FSID@ before it, so that no other cluster can be meant", id)
		}

		return err
	})
}
