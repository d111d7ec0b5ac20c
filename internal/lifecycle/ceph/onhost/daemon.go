// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"fmt"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptMakeDaemon makes the folder of a manager or MDS: 1 folder, 2 fsid, 3 user, 4 type, 5 id;
// the keyring is the standard input. The folder is made beside its place and moved there, so
// that one without our marker was never ours.
const scriptMakeDaemon = `# metal3: ceph-daemon-make
dir=$1 fsid=$2 user=$3 type=$4 id=$5
d=$dir/$type/$id
` + shellForeign + scriptTake + shOwn + `
mark=-
if [ -e "$d/done" ]; then mark=; read -r mark x <"$d/done"; fi
if [ -d "$d" ] && [ "$mark" != "$fsid" ]; then
  rmdir "$d" 2>/dev/null || foreign "$d" "$mark"
fi
if [ -d "$d" ]; then
  sum=$(sha256sum <"$all")
  if [ -f "$d/keyring" ] && [ "$(sha256sum <"$d/keyring")" = "$sum" ]; then echo there; exit 0; fi
  own "$all" && mv -f "$all" "$d/keyring" && echo made
  exit
fi
t=$(mktemp -d "$dir/tmp/d.XXXXXX") || exit 1
chmod 750 "$t" && cp "$all" "$t/keyring" && chmod 600 "$t/keyring" && echo "$fsid" >"$t/done" &&
  own "$t" "$t/keyring" "$t/done" && { sync "$t/keyring" 2>/dev/null || sync; } && mv "$t" "$d" && echo made && exit 0
rm -rf "$t"
exit 1
`

// MakeDaemon implements [ceph.Host].
func (h *Host) MakeDaemon(ctx context.Context, l ceph.Layout, d ceph.Daemon, keyring []byte) error {
	if err := checkDaemon(l, d); err != nil {
		return err
	}

	if d.Type != ceph.RoleMgr && d.Type != ceph.RoleMDS {
		return fmt.Errorf("%w: %s is made in another way", ErrLayout, d)
	}

	return h.do(ctx, remote.Command{
		Script: scriptMakeDaemon, Params: []string{l.Dir, l.FSID, l.User, d.Type, d.ID}, Stdin: keyring,
	})
}
