// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// ErrInstall says that packages could not be put in.
var ErrInstall = errors.New("packages cannot be installed")

const installLimit = 15 * time.Minute

// packages are where programs come from: Debian's name, and that of the others where it differs.
var packages = map[string][2]string{
	"ceph": {"ceph-common"}, "ceph-authtool": {"ceph-common"}, "ceph-conf": {"ceph-common"},
	"ceph-mon": {"ceph-mon"}, "ceph-mgr": {"ceph-mgr"}, "ceph-osd": {"ceph-osd"}, "ceph-mds": {"ceph-mds"},
	"monmaptool": {"ceph-base"}, "ceph-bluestore-tool": {"ceph-osd"},
	"librados": {"python3-rados"}, "python3-rados": {"python3-rados"},
	"lvcreate": {"lvm2"}, "lvm2": {"lvm2"}, "cryptsetup": {"cryptsetup-bin", "cryptsetup"},
}

// scriptInstall puts in packages: 1 the programs that must be there then, 2 Debian's packages, 3
// those of the Red Hat family. No service starts, nothing asks, nothing is removed, and who holds
// the lock is waited for. That the lists cannot be fetched is no error: those at hand may do.
const scriptInstall = `# metal3: package-install
PATH=$PATH:/usr/sbin:/sbin
export DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 RUNLEVEL=1
[ "$(id -u)" = 0 ] || { echo "only root installs packages" >&2; exit 1; }
if command -v apt-get >/dev/null 2>&1; then
  apt() { apt-get -q -y -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 -o APT::Get::Remove=false "$@" </dev/null; }
  for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    said=$(apt update 2>&1) && break
    case $said in *'ould not get lock'*|*'nable to lock'*) sleep 5 ;; *) break ;; esac
  done
  said=$(apt -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold --no-install-recommends install $2 2>&1)
elif command -v dnf >/dev/null 2>&1; then
  said=$(dnf -y -q --setopt=install_weak_deps=False install $3 </dev/null 2>&1)
elif command -v yum >/dev/null 2>&1; then
  said=$(yum -y -q install $3 </dev/null 2>&1)
else
  echo "no apt-get, dnf or yum" >&2
  exit 1
fi
s=$?
if [ "$s" != 0 ]; then printf '%s\n' "$said" | grep -v '^$' | tail -n 4 >&2; exit 1; fi
for p in $1; do
  command -v "$p" >/dev/null 2>&1 || { echo "$p is not there, though its package is" >&2; exit 1; }
done
`

// Install implements [ceph.Host].
func (h *Host) Install(ctx context.Context, programs []string) error {
	var deb, rpm, want, unknown []string

	for _, p := range programs {
		names, known := packages[p]
		if !known {
			unknown = append(unknown, p)

			continue
		}

		deb = append(deb, names[0])
		if names[1] == "" {
			names[1] = names[0]
		}

		rpm = append(rpm, names[1])

		if p != "librados" && p != "python3-rados" && p != "lvm2" {
			want = append(want, p)
		}
	}

	if len(unknown) > 0 {
		return fmt.Errorf("%w on %s: nobody knows the package of %s", ErrInstall, h.Name(), strings.Join(unknown, ", "))
	}

	if len(deb) == 0 {
		return nil
	}

	res, err := h.run(ctx, remote.Command{
		Script: scriptInstall, Params: []string{strings.Join(want, " "), list(deb), list(rpm)}, Limit: installLimit,
	})

	switch {
	case err != nil:
		return err
	case res.Exit != 0:
		return fmt.Errorf("%w on %s (%s): %s", ErrInstall, h.Name(), list(deb), words(res.Stderr))
	default:
		return nil
	}
}

func list(names []string) string {
	slices.Sort(names)

	return strings.Join(slices.Compact(names), " ")
}
