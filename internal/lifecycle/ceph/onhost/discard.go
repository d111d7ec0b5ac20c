// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptDiscard deletes its parameters. A folder that a process works in, or that something is
// mounted on, stays: a daemon of the other cluster may still run.
const scriptDiscard = `# metal3: discard
for d; do
  [ -e "$d" ] || continue
  for p in /proc/[0-9]*; do
    c=$(tr '\0' ' ' <"$p/cmdline" 2>/dev/null) || continue
    case $c in ceph-*"$d"*) echo "$d: ${c%% *} runs there (process ${p#/proc/})" >&2; exit 1 ;; esac
  done
  rm -rf --one-file-system "$d" || exit 1
done
`

// Discard implements [ceph.Host].
func (h *Host) Discard(ctx context.Context, l ceph.Layout, left []ceph.Leftover) error {
	if err := checkDir(l); err != nil {
		return err
	}

	var paths []string

	for _, f := range left {
		if p := path.Clean(f.Path); strings.HasPrefix(p, path.Clean(l.Dir)+"/") {
			paths = append(paths, p)
		} else {
			return fmt.Errorf("%w: %s is not below %s, and is not deleted", ErrLayout, f.Path, l.Dir)
		}
	}

	_, err := h.script(ctx, remote.Command{Script: scriptDiscard, Params: paths})

	return err
}
