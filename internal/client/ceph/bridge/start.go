// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	_ "embed"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// program is what runs on the host. It is handed over with each session: nothing is left there.
//
//go:embed bridge.py
var program string

// shell finds the interpreter that has librados, and becomes it: the one that the ceph command
// names in its first line, for another python3 may stand before it in PATH. Where ceph is no
// Python program (a wrapper around a container), it is the distribution's own.
const shell = `# metal3: ceph session
p=$1
shift
py=
c=$(command -v ceph) && l=$(head -c 200 "$c" 2>/dev/null | head -n 1 | tr -d '\000\r')
case $l in '#!'*python*) py=${l#??} ;; esac
set -f
case $py in *env\ *) $py -c '' 2>/dev/null || py= ;; esac
[ -n "$py" ] || py=/usr/bin/python3
for w in $py; do break; done
[ -x "$w" ] || { echo '{"bridge":1,"rc":-2,"no":"python","s":"there is no '"$w"'"}'; exit 41; }
exec $py -c "$p" "$@"`

// argv is the command that starts a session. It holds no secret: the key stays in its file.
func argv(c Config) []string {
	return []string{
		"/bin/sh", "-c", shell, "sh", program,
		c.Conf, c.Name, c.Keyring, command.Seconds(c.Connect), command.Seconds(c.Limit),
	}
}
