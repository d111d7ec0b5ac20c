// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// ErrLayout says that a cluster cannot be where it is to be.
var ErrLayout = errors.New("the folder of the cluster cannot be used")

// maxSocket is how long the path of a Unix socket may be; daemons fail late and unclearly beyond.
const maxSocket = 107

// checkDir refuses folders that are dangerous to write to or to delete, or too long for sockets.
func checkDir(l ceph.Layout) error {
	longest := path.Join(l.Run(), "osd.99999.asok")

	switch {
	case !path.IsAbs(l.Dir) || path.Clean(l.Dir) != l.Dir:
		return fmt.Errorf("%w: %q is not a plain absolute path", ErrLayout, l.Dir)
	case strings.Count(l.Dir, "/") < 2:
		return fmt.Errorf("%w: %q is too near to the root of the file system", ErrLayout, l.Dir)
	case len(longest) > maxSocket:
		return fmt.Errorf("%w: %q is too long: the sockets below it would need %d of at most %d bytes", ErrLayout, l.Dir, len(longest), maxSocket)
	case strings.ContainsFunc(l.Dir, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("$#;\\\"'`*?[]%&|<>(){}", r) }):
		return fmt.Errorf("%w: %q has characters that Ceph or a shell reads in its own way", ErrLayout, l.Dir)
	default:
		return nil
	}
}

// scriptFolders makes the folders of a cluster. Those that daemons write to belong to their
// user; what is there already keeps its mode. The folder itself belongs to who writes: nobody
// else can put a file or a link into the way of one that is written by root.
const scriptFolders = `
umask 022
mkdir -p "$dir" || exit 1
for f in run log crash mon mgr osd mds slots tmp; do
  if [ -L "$dir/$f" ]; then echo "$dir/$f is a link" >&2; exit 1; fi
  if [ ! -d "$dir/$f" ]; then
    mkdir -p "$dir/$f" || exit 1
    case $f in tmp|slots) chmod 711 "$dir/$f" ;; log|crash) chmod 750 "$dir/$f" ;; esac
  fi
  case $f in tmp|slots) continue ;; esac
  if [ -n "$user" ] && [ "$(stat -c %U "$dir/$f")" != "$user" ]; then chown "$user:$user" "$dir/$f" || exit 1; fi
done
`

// scriptTidy deletes what a script left in our folder for such things when it was killed: it may
// hold a secret.
const scriptTidy = `
find "$dir/tmp" -mindepth 1 -maxdepth 1 -mmin +60 -exec rm -rf {} + 2>/dev/null
`

// scriptTake keeps the standard input in a file that only we can read, for as long as the script
// runs. It is cut up with "part": programs that read a pipe may read more than they need.
const scriptTake = `
umask 077
all=$(mktemp "$dir/tmp/in.XXXXXX") || exit 1
trap 'rm -f "$all" $more' EXIT
trap 'exit 143' TERM HUP INT
cat >"$all"
part() { tail -c +"$(($1 + 1))" "$all" | head -c "$2"; }
`

// shOwn is the shell function that gives files to the daemons' user.
const shOwn = `
own() { [ -z "$user" ] || chown "$user:$user" "$@"; }
`

// scriptWrite makes the folders, and writes those files that differ in content, mode or owner.
// Its parameters: 1 the folder, 2 the daemons' user, 3 the fsid, then five for each file: path, mode,
// owner (user:group, or empty), length and SHA-256. It prints "wrote PATH".
//
// An identity or a configuration of another cluster is written over by nobody, and then nothing is
// written. A look came before, and may be old: two people may make two clusters in one folder at the
// same time. So the check and the writing are one step, where a lock can be had; it is on the folder
// itself, which leaves no file.
const scriptWrite = `# metal3: ceph-write
dir=$1 user=$2 fsid=$3
shift 3
` + shellForeign + shFSID + scriptFolders + scriptTidy + scriptTake + `
if command -v flock >/dev/null 2>&1; then exec 9<"$dir" && flock 9; fi
guard() {
  f=
  [ ! -f "$1" ] || case $1 in
    "$dir/identity.json") f=$(identity_fsid "$1") ;;
    "$dir/ceph.conf") f=$(conf_fsid "$1") ;;
  esac
  [ -z "$f" ] || [ "$f" = "$fsid" ] || foreign "$1" "$f"
}
guard "$dir/identity.json"
guard "$dir/ceph.conf"
at=0
while [ $# -ge 5 ]; do
  same=
  if [ -f "$1" ] && [ ! -L "$1" ]; then
    sum=$(sha256sum <"$1")
    [ "${sum%% *}" = "$5" ] && [ "$(stat -c %a "$1")" = "$2" ] && same=1
    [ -z "$3" ] || [ "$(stat -c %U:%G "$1")" = "$3" ] || same=
  fi
  if [ -z "$same" ]; then
    [ ! -d "$1" ] || { echo "$1 is a folder" >&2; exit 1; }
    more=$(mktemp "${1%/*}/.new.XXXXXX") || exit 1
    part "$at" "$4" >"$more"
    sum=$(sha256sum <"$more")
    [ "${sum%% *}" = "$5" ] || { echo "not all of $1 came, or there is no room for it" >&2; exit 1; }
    [ -z "$3" ] || chown "$3" "$more" || exit 1
    chmod "$2" "$more" && { sync "$more" 2>/dev/null || sync; } && mv -f "$more" "$1" || exit 1
    more=
    echo "wrote $1"
  fi
  at=$((at + $4))
  shift 5
done
`

// Write implements [ceph.Host].
func (h *Host) Write(ctx context.Context, l ceph.Layout, files []ceph.File) error {
	if err := checkDir(l); err != nil {
		return err
	}

	params := []string{l.Dir, l.User, l.FSID}

	var all []byte

	for _, f := range files {
		owner := ""
		if f.Shared && l.User != "" {
			owner = l.User + ":" + l.User
		}

		if !strings.HasPrefix(f.Path, l.Dir+"/") || path.Clean(f.Path) != f.Path {
			return fmt.Errorf("%w: %s is not below it", ErrLayout, f.Path)
		}

		sum := sha256.Sum256(f.Data)
		params = append(params, f.Path, strconv.FormatUint(uint64(f.Mode.Perm()), 8), owner, strconv.Itoa(len(f.Data)), hex.EncodeToString(sum[:]))
		all = append(all, f.Data...)
	}

	return h.do(ctx, remote.Command{Script: scriptWrite, Params: params, Stdin: all})
}
