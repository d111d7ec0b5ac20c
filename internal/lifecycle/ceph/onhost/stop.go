// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptStop ends a daemon: 25 seconds to end by itself, for an OSD waits 5 for a monitor that
// is gone; then it is killed. Managers and OSDs leave the files of their sockets and numbers.
const scriptStop = `# metal3: ceph-stop
` + shellDaemon + `
[ -z "$mark" ] || [ "$mark" = "$fsid" ] || foreign "$d" "$mark"
if [ -f "$file" ] && command -v systemctl >/dev/null 2>&1; then
  systemctl --quiet disable "$unit" 2>/dev/null
  systemctl stop "$unit" 2>/dev/null
  systemctl reset-failed "$unit" 2>/dev/null
fi
end() {
  n=0
  while [ "$n" -lt "$2" ]; do
    pid=$(pid_of)
    [ -n "$pid" ] || return 0
    [ "$n" != 0 ] || kill "-$1" $pid 2>/dev/null
    rest 0.1
    n=$((n + 1))
  done
  return 1
}
end TERM 250 || end KILL 50 || { echo "$type.$id (pid $pid) does not end" >&2; exit 1; }
rm -f "$dir/run/$type.$id.pid" "$dir/run/$type.$id.asok"
echo stopped
`

// Stop implements [ceph.Host].
func (h *Host) Stop(ctx context.Context, l ceph.Layout, d ceph.Daemon) error {
	if err := checkDaemon(l, d); err != nil {
		return err
	}

	return h.do(ctx, remote.Command{Script: scriptStop, Params: daemonParams(l, d), Limit: startLimit})
}
