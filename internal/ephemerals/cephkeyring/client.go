// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkeyring

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/user"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/cephvalue"
)

// isClient refuses what is no id of a metal3_ceph_client.
func isClient() validator.String {
	return value.Check("Invalid id of a metal3_ceph_client", "the id of a metal3_ceph_client", checkClient)
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
