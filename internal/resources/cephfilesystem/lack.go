// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephfilesystem

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// lack says what the file system lacks of the service that the plan wants, by the MDS of the last
// refresh; empty: nothing. No other attribute shows that MDS are gone.
func (m model) lack(ctx context.Context, seen types.Map, closed bool, diags *diag.Diagnostics) string {
	if !value.Known(seen) || m.MDS.IsUnknown() {
		return ""
	}

	mds, _ := value.Object[mdsModel](ctx, m.MDS, diags)
	wanted := max(1, int(mds.Active.ValueInt64()))
	active := 0

	for _, one := range seen.Elements() {
		o, ok := one.(types.Object)
		if !ok {
			continue
		}

		if state, ok := o.Attributes()["state"].(types.String); ok && state.ValueString() == "active" {
			active++
		}
	}

	var parts []string

	if active < wanted {
		parts = append(parts, fmt.Sprintf("%d of %d MDS are active", active, wanted))
	}

	if hosts := m.hostCount(mds); len(seen.Elements()) < hosts {
		parts = append(parts, fmt.Sprintf("the cluster hears %d MDS, and there are %d hosts for one each", len(seen.Elements()), hosts))
	}

	if closed {
		parts = append(parts, "no MDS may take it over (it is not joinable)")
	}

	return strings.Join(parts, "; ")
}

// hostCount is how many hosts get an MDS; 0 where that is not known yet.
func (m model) hostCount(mds mdsModel) int {
	switch {
	case mds.Hosts.IsUnknown() || m.Connection.IsUnknown():
		return 0
	case !mds.Hosts.IsNull():
		return len(mds.Hosts.Elements())
	case !m.Connection.IsNull():
		return 1
	}

	at, err := ceph.ParseClusterID(m.ClusterID.ValueString())
	if err != nil {
		return 0
	}

	return len(at.Hosts)
}

// idle reports whether nothing of the file system itself changes: there is nothing to do on hosts.
func (m model) idle(state model) bool {
	return value.Known(m.Daemons) && value.Known(m.FSID) && value.Known(m.FilesystemID) && value.Known(m.ID) && m.ClusterID.Equal(state.ClusterID) && m.Name.Equal(state.Name) &&
		m.MetadataPool.Equal(state.MetadataPool) && m.DataPools.Equal(state.DataPools) && m.MDS.Equal(state.MDS)
}
