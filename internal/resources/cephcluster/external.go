// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephcluster

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// external is a cluster that somebody else runs; nil: there is none. What is only written,
// never kept, comes from the configuration; where there is none, the host has the key of an
// earlier apply.
func (m model) external(ctx context.Context, config *model, diags *diag.Diagnostics) *ceph.External {
	e, ok := value.Object[externalModel](ctx, m.External, diags)
	if !ok {
		return nil
	}

	out := &ceph.External{FSID: e.FSID.ValueString(), MonHost: e.MonEndpoints.ValueString(), User: e.User.ValueString(), Key: ceph.Secret(strings.TrimSpace(e.Key.ValueString()))}

	if config != nil {
		if c, ok := value.Object[externalModel](ctx, config.External, diags); ok && value.Known(c.KeyWO) {
			out.Key = ceph.Secret(strings.TrimSpace(c.KeyWO.ValueString()))
		}
	}

	if file := e.KeyringFile.ValueString(); file != "" {
		out.Key = keyFrom(file, out.User, config != nil, diags)
	}

	return out
}

// keyFrom reads the key of a user from a keyring on this machine. A refresh does without.
func keyFrom(file, user string, needed bool, diags *diag.Diagnostics) ceph.Secret {
	at := pathExternal.AtName("keyring_file")

	text, err := os.ReadFile(file) //nolint:gosec // the user named the file
	if err != nil {
		if needed {
			diags.AddAttributeError(at, "Keyring cannot be read", value.Sentence(err))
		}

		return ""
	}

	key := ceph.KeyOf(text, user)
	if key == "" && needed {
		diags.AddAttributeError(at, "Keyring has no key of "+user, fmt.Sprintf("The file %s holds no section [%s] with a key.", file, user))
	}

	return key
}
