// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkeyring

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// clientCheck refuses what is no id of a metal3_ceph_client.
type clientCheck struct{}

func (clientCheck) Description(context.Context) string               { return "the id of a metal3_ceph_client" }
func (c clientCheck) MarkdownDescription(ctx context.Context) string { return c.Description(ctx) }

func (clientCheck) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}

	if err := checkClient(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid id of a metal3_ceph_client", value.Sentence(err))
	}
}

func checkClient(id string) error {
	cluster, name, ok := strings.Cut(id, cephvalue.Separator)
	if !ok {
		return fmt.Errorf("%q names no user: write CLUSTER_ID#ENTITY, which is the id of a metal3_ceph_client", id)
	}

	at, err := ceph.ParseClusterID(cluster)

	switch {
	case err != nil:
		return err //nolint:wrapcheck // its own words are a sentence
	case at.FSID == "":
		return fmt.Errorf("%q has no fsid: write FSID@ before it, so that no other cluster can be meant", id)
	}

	return user.CheckEntity(name) //nolint:wrapcheck // its own words are a sentence
}
