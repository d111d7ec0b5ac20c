// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// near is a cluster that is there.
type near struct{ at ceph.Location }

func (n near) Ceph(context.Context, string, *remote.Config) (*ceph.Reach, error) {
	return &ceph.Reach{Location: n.at}, nil
}

func (near) SSHDefaults(context.Context) (remote.Config, error) { return remote.Config{}, nil }

var users = cephvalue.Kind{Type: "ceph_client", Thing: "Ceph user", Key: "entity", About: "Name of the user."}

func frame(t *testing.T) *cephvalue.Frame[near] {
	t.Helper()

	at, err := ceph.ParseClusterID(anID)
	if err != nil {
		t.Fatal(err)
	}

	return &cephvalue.Frame[near]{Kind: users, Far: near{at}}
}

// blank is an identity of the frame that nothing is in.
func blank(t *testing.T) *tfsdk.ResourceIdentity {
	t.Helper()

	var resp resource.IdentitySchemaResponse

	frame(t).IdentitySchema(t.Context(), resource.IdentitySchemaRequest{}, &resp)

	return &tfsdk.ResourceIdentity{Schema: resp.IdentitySchema, Raw: tftypes.NewValue(resp.IdentitySchema.Type().TerraformType(t.Context()), nil)}
}

func TestKind_Imported(t *testing.T) {
	t.Parallel()

	var diags diag.Diagnostics

	full := blank(t)
	users.Identify(t.Context(), full, types.StringValue(anID), types.StringValue("client.a"), &diags)

	if diags.HasError() {
		t.Fatal(diags)
	}

	for name, c := range map[string]struct {
		req       resource.ImportStateRequest
		wantError bool
	}{
		"by id":                   {resource.ImportStateRequest{ID: anID + "#client.a"}, false},
		"by identity":             {resource.ImportStateRequest{Identity: full}, false},
		"by id beside a blank":    {resource.ImportStateRequest{ID: anID + "#client.a", Identity: blank(t)}, false},
		"the cluster alone":       {resource.ImportStateRequest{ID: anID}, true},
		"a name that is empty":    {resource.ImportStateRequest{ID: anID + "#"}, true},
		"neither id nor identity": {resource.ImportStateRequest{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var diags diag.Diagnostics

			cluster, thing := users.Imported(t.Context(), c.req, &diags)

			switch {
			case c.wantError:
				if !diags.HasError() || !strings.Contains(diags[0].Detail(), "CLUSTER_ID#ENTITY") {
					t.Errorf("got %v", diags)
				}
			case diags.HasError() || cluster.ValueString() != anID || thing.ValueString() != "client.a":
				t.Errorf("got %s, %s, %v", cluster, thing, diags)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		limit     int64
		resources bool
		err       error
		want      []string // displays, and states where they are asked for
		wantError bool
	}{
		"all":                  {want: []string{"<a>", "<b>", "<c>"}},
		"with their states":    {resources: true, want: []string{"<a>a", "<b>b", "<c>c"}},
		"up to a limit":        {limit: 2, want: []string{"<a>", "<b>"}},
		"none that can be had": {err: errors.New("no quorum"), wantError: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var (
				stream list.ListResultsStream
				got    []string
				failed bool
			)

			l := cephvalue.Listing[string]{
				Things: "Users", All: func(context.Context, *api.Cluster) ([]string, error) { return []string{"a", "b", "c"}, c.err },
				Told: func(s string) (name, display string) { return s, "<" + s + ">" },
				State: func(_ context.Context, s string, _ ceph.Location, _ *diag.Diagnostics) any {
					return struct {
						Entity types.String `tfsdk:"entity"`
					}{types.StringValue(s)}
				},
			}

			cephvalue.List(t.Context(), frame(t), l, request(t, c.limit, c.resources), &stream)

			for r := range stream.Results {
				failed = failed || r.Diagnostics.HasError()
				if r.Identity == nil {
					continue
				}

				got = append(got, r.DisplayName+entityOf(t, r))
			}

			if failed != c.wantError || !slices.Equal(got, c.want) {
				t.Errorf("got %q, failed: %t", got, failed)
			}
		})
	}
}

// request asks for the things of a cluster.
func request(t *testing.T, limit int64, resources bool) list.ListRequest {
	t.Helper()

	var (
		config = cephvalue.ListSchema("Users.")
		of     = config.Type().TerraformType(t.Context())
	)

	return list.ListRequest{
		Config: tfsdk.Config{Schema: config, Raw: tftypes.NewValue(of, map[string]tftypes.Value{"cluster_id": tftypes.NewValue(tftypes.String, anID)})},
		Limit:  limit, IncludeResource: resources,
		ResourceSchema:         schema.Schema{Attributes: map[string]schema.Attribute{"entity": schema.StringAttribute{Required: true}}},
		ResourceIdentitySchema: blank(t).Schema,
	}
}

// entityOf is the name in the state of a result, and checks its identity.
func entityOf(t *testing.T, r list.ListResult) string {
	t.Helper()

	var who struct {
		ClusterID types.String `tfsdk:"cluster_id"`
		Entity    types.String `tfsdk:"entity"`
	}

	if d := r.Identity.Get(t.Context(), &who); d.HasError() || who.ClusterID.ValueString() != anID || "<"+who.Entity.ValueString()+">" != r.DisplayName {
		t.Errorf("identity %v of %s, %v", who, r.DisplayName, d)
	}

	if r.Resource.Raw.IsNull() {
		return ""
	}

	var m struct {
		Entity types.String `tfsdk:"entity"`
	}

	if d := r.Resource.Get(t.Context(), &m); d.HasError() {
		t.Error(d)
	}

	return m.Entity.ValueString()
}
