// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustervalue is what all rooms about clusters of machines have in common: the id of a
// cluster, the way to its API, and what its machines look like in a state.
package clustervalue

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// AboutID describes the attribute cluster_id.
const AboutID = "Id of the cluster: `id` of a `metal3_cluster`, `NAMESPACE/NAME`."

// ID refuses what is no id of a cluster.
func ID() validator.String {
	return value.Check("Invalid id of a cluster", "the id of a cluster, NAMESPACE/NAME", func(id string) error {
		_, _, err := ParseID(id)

		return err
	})
}

// ParseID reads the id of a cluster.
func ParseID(id string) (namespace, name string, err error) {
	namespace, name, _ = strings.Cut(id, "/")
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return "", "", fmt.Errorf("%q is no id of a cluster: write NAMESPACE/NAME, as the id of a metal3_cluster is", id)
	}

	return namespace, name, nil
}
