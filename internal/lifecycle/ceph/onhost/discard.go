// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// ErrOurs says that something was to be deleted as another cluster's, and is this one's.
var ErrOurs = errors.New("it belongs to this cluster")

// shFSID are shell functions that read whose something is: an identity, a configuration, and the
// folder of a daemon in $dir, in that order of proofs in which a look reads them.
const shFSID = `
identity_fsid() { tr -d '\n' <"$1" | sed -n 's/.*"fsid"[[:space:]]*:[[:space:]]*"\([^"]*\)".*/\1/p'; }
conf_fsid() { sed -n 's/^[[:space:]]*fsid[[:space:]]*=[[:space:]]*//p' "$1" | head -n 1 | tr -d "\r\"'" | sed 's/[[:space:]]*$//'; }
folder_fsid() {
  ff= fx=
  [ ! -e "$1/done" ] || read -r ff fx <"$1/done"
  case $1 in
    "$dir"/mon/*) fx=$dir/mon/.making-${1##*/} ;;
    "$dir"/osd/*) fx=$1/ceph_fsid ;;
    *) fx= ;;
  esac
  [ -n "$ff" ] || [ ! -f "$fx" ] || read -r ff fx <"$fx"
  echo "$ff"
}
`

// scriptDiscard deletes what other clusters left: 1 the folder, 2 our fsid (empty: there is none yet),
// then pairs of a path and the fsid that was seen there (empty: none). Whose it is is read again,
// before anything goes and once more right before it goes: what is ours by now, or is no longer what
// was seen, stays. So does all while a daemon runs that reads the configuration in the folder and has
// no folder of ours, and a folder that a process works in or that something is mounted on.
const scriptDiscard = `# metal3: discard
dir=$1 fsid=$2
shift 2
` + shSay + shFSID + findProcesses + `
whose() {
  case $1 in
    "$dir/identity.json") identity_fsid "$1" ;;
    "$dir/ceph.conf") conf_fsid "$1" ;;
    *) folder_fsid "$1" ;;
  esac
}
theirs() {
  is=$(whose "$1")
  if [ -n "$fsid" ] && [ "$is" = "$fsid" ]; then echo "$1"; exit 68; fi
  [ "$is" = "$2" ] || die 91 "$1 is of the cluster ${is:-that nothing names}, and ${2:-no cluster} was seen there"
}
idle() {
  [ -d "$1" ] || return 0
  for p in $(grep -lsF -- "$1" /proc/[0-9]*/cmdline); do
    c=$(tr '\0' ' ' <"$p") || continue
    w=${c%% *}
    case ${w##*/} in ceph-mon|ceph-mgr|ceph-osd|ceph-mds) ;; *) continue ;; esac
    p=${p%/cmdline}
    case $c in *"$1/"*|*"$1 "*) echo "$1: ${w##*/} (pid ${p##*/})"; exit 65 ;; esac
  done 2>/dev/null
  p=$(find /proc/[0-9]*/fd /proc/[0-9]*/cwd -maxdepth 1 \( -lname "$1" -o -lname "$1/*" \) 2>/dev/null | head -n 1)
  [ -n "$p" ] || return 0
  p=${p#/proc/}
  echo "$1: a process works there (pid ${p%%/*})"
  exit 65
}
run=$(processes | while read -r w type id pid x; do
  m=$(folder_fsid "$dir/$type/$id")
  [ -n "$fsid" ] && [ "$m" = "$fsid" ] || echo "$type.$id (pid $pid)"
done)
if [ -n "$run" ]; then echo "$run"; exit 65; fi
each() {
  what=$1
  shift
  while [ $# -ge 2 ]; do
    if [ -e "$1" ] || [ -L "$1" ]; then
      theirs "$1" "$2"
      idle "$1"
      if [ "$what" = delete ]; then
        rm -rf --one-file-system "$1" || exit 1
        case $1 in "$dir"/mon/*) rm -f "$dir/mon/.making-${1##*/}" ;; esac
      fi
    fi
    shift 2
  done
}
each look "$@"
each delete "$@"
`

// Discard implements [ceph.Host]. What a look that knew no fsid yet took for another cluster's, and
// is ours, stays without a word.
func (h *Host) Discard(ctx context.Context, l ceph.Layout, left []ceph.Leftover) error {
	if err := checkDir(l); err != nil {
		return err
	}

	params := []string{l.Dir, l.FSID}

	var paths []string

	for _, f := range left {
		switch {
		case !discards(l, f.Path):
			return fmt.Errorf("%w: %s is nothing that a cluster has in %s, and is not deleted", ErrLayout, f.Path, l.Dir)
		case f.FSID != "" && f.FSID == l.FSID, slices.Contains(paths, f.Path):
			continue
		}

		paths = append(paths, f.Path)
		params = append(params, f.Path, f.FSID)
	}

	if len(paths) == 0 {
		return nil
	}

	return h.do(ctx, remote.Command{Script: scriptDiscard, Params: params, Limit: makeLimit})
}

// discards tells whether a path is of a kind that a look lists with the leftovers.
func discards(l ceph.Layout, p string) bool {
	if p == l.IdentityFile() || p == l.Conf() {
		return true
	}

	kind, name := path.Split(strings.TrimPrefix(p, l.Dir+"/"))

	return path.Clean(p) == p && slices.Contains(daemonTypes, strings.TrimSuffix(kind, "/")) && folderName.MatchString(name)
}
