// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

const (
	makeLimit  = 5 * time.Minute
	startLimit = 2 * time.Minute
)

// shMonKey is the shell function that prints the key of mon. in a keyring file: for memory only.
const shMonKey = `
mon_key() { sed -n '/^\[mon\.\]/,/^\[[^m]/s/^[[:space:]]*key[[:space:]]*=[[:space:]]*//p' "$1" 2>/dev/null | head -n 1 | tr -d ' \t\r\n'; }
`

// scriptMakeMon makes the store of a monitor. Parameters: 1 folder, 2 fsid, 3 user, 4 id, 5 the
// length of the keyring in the standard input, 6 that of the monmap behind it (0: there is
// none), then for the first monmap pairs of id and addresses.
//
// ceph-mon --mkfs does nothing, and says that all is well, where a store is already: so it is
// looked at first. A store with our marker is done. One that was begun (the marker beside it),
// or that has our secret, is made anew. Any other is foreign; its fsid is read from a copy,
// because to open a store writes to it.
const scriptMakeMon = `# metal3: ceph-mon-mkfs
dir=$1 fsid=$2 user=$3 id=$4 klen=$5 mlen=$6
shift 6
PATH=$PATH:/usr/sbin:/sbin
conf=$dir/ceph.conf
d=$dir/mon/$id
begun=$dir/mon/.making-$id
` + shellForeign + `
mark=
[ ! -e "$d/done" ] || read -r mark x <"$d/done"
[ "$mark" != "$fsid" ] || [ ! -d "$d/store.db" ] || { echo there; exit 0; }
` + scriptTake + shOwn + shMonKey + `
keyring=$(mktemp "$dir/tmp/k.XXXXXX") && map=$(mktemp "$dir/tmp/m.XXXXXX") || exit 1
more="$keyring $map"
part 0 "$klen" >"$keyring"
own "$keyring" "$map" || exit 1
holds() { [ -n "$(ls -A "$d" 2>/dev/null | grep -vx lost+found)" ]; }
whose() {
  size=$(du -sk "$d" | cut -f 1)
  [ "${size:-999999}" -lt 524288 ] || return 0
  c=$(mktemp -d "$dir/tmp/c.XXXXXX") || return 0
  cp -R "$d" "$c/$id" && timeout 60 ceph-mon -i "$id" -c /dev/null --no-mon-config --mon-data "$c/$id" --log-file /dev/null --pid-file "" --run-dir "$c" --admin-socket "" --extract-monmap "$c/map" >/dev/null 2>&1 &&
    monmaptool --print "$c/map" 2>/dev/null | sed -n 's/^fsid //p'
  rm -rf "$c"
}
if [ -d "$d" ] && holds; then
  if [ -n "$mark" ] && [ "$mark" != "$fsid" ]; then foreign "$d" "$mark"; fi
  was=
  [ ! -e "$begun" ] || read -r was x <"$begun"
  if [ "$mark" != "$fsid" ] && [ "$was" != "$fsid" ]; then
    k=$(mon_key "$d/keyring")
    if [ -z "$k" ] || [ "$k" != "$(mon_key "$keyring")" ]; then
      who=$(whose)
      [ "$who" = "$fsid" ] || foreign "$d" "$who"
    fi
  fi
fi
echo "$fsid" >"$begun" || exit 1
rm -f "$d/done"
find "$d" -mindepth 1 -maxdepth 1 ! -name lost+found -exec rm -rf {} + 2>/dev/null
mkdir -p "$d" && own "$d" && chmod 750 "$d" || exit 1
if [ "$mlen" -gt 0 ]; then
  part "$klen" "$mlen" >"$map"
else
  help=$(monmaptool --help 2>&1)
  set -- "$@" --
  n=
  while [ "$1" != -- ]; do set -- "$@" --addv "$1" "$2"; shift 2; done
  shift
  case $help in *--set-min-mon-release*)
    n=$(ceph-mon --version | sed -n 's/^ceph version [^(]*([^)]*) \([a-z][a-z]*\).*/\1/p')
    [ -z "$n" ] || set -- --set-min-mon-release "$n" "$@" ;;
  esac
  case $help in *--enable-all-features*) set -- --enable-all-features "$@" ;; esac
  monmaptool --create --clobber --fsid "$fsid" "$@" "$map" >"$all" 2>&1 || { cat "$all" >&2; exit 1; }
fi
set -- -c "$conf" --mkfs -i "$id" --monmap "$map" --keyring "$keyring"
[ -z "$user" ] || set -- "$@" --setuser "$user" --setgroup "$user"
ceph-mon "$@" || exit 1
[ -d "$d/store.db" ] || { echo "ceph-mon made no store in $d" >&2; exit 1; }
echo "$fsid" >"$d/done" && own "$d/done" && { sync "$d/done" 2>/dev/null || sync; } && rm -f "$begun" && echo made
`

// MakeMon implements [ceph.Host].
func (h *Host) MakeMon(ctx context.Context, l ceph.Layout, id string, seed ceph.MonSeed) error {
	if err := checkDaemon(l, ceph.Daemon{Type: ceph.RoleMon, ID: id}); err != nil {
		return err
	}

	if len(seed.Addrs) == 0 && len(seed.Monmap) == 0 {
		return fmt.Errorf("%w: mon.%s: neither addresses nor a monmap", ErrLayout, id)
	}

	params := []string{l.Dir, l.FSID, l.User, id, strconv.Itoa(len(seed.Keyring))}
	input := slices.Clone(seed.Keyring)

	if len(seed.Addrs) > 0 {
		params = append(params, "0")
		for _, mon := range slices.Sorted(maps.Keys(seed.Addrs)) {
			params = append(params, mon, seed.Addrs[mon])
		}
	} else {
		params = append(params, strconv.Itoa(len(seed.Monmap)))
		input = append(input, seed.Monmap...)
	}

	return h.do(ctx, remote.Command{Script: scriptMakeMon, Params: params, Stdin: input, Limit: makeLimit})
}

// checkDaemon refuses what must become no name of a file.
func checkDaemon(l ceph.Layout, d ceph.Daemon) error {
	if err := checkDir(l); err != nil {
		return err
	}

	if l.FSID == "" || strings.ContainsAny(l.FSID, " \t\r\n/") {
		return fmt.Errorf("%w: the cluster has no fsid", ErrLayout)
	}

	if !slices.Contains(daemonTypes, d.Type) || !daemonID.MatchString(d.ID) {
		return fmt.Errorf("%w: there is no daemon called %q", ErrLayout, d.String())
	}

	return nil
}
