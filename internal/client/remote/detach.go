// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

// detacherName is how the shell calls itself that starts a daemon. Below the wrapper, it is
// the program of a command with Detach:
//
//	/bin/sh -c <detacher> metal3-detach <input: 0 or 1> [NAME=value …] setsid <program> [<argument> …]
const detacherName = "metal3-detach"

// detacher starts a program as a service manager would: in a session of its own, from the root
// folder, with few variables (ours may hold secrets, and the mark by which the killer finds what
// belongs to a command), with as many files as may be, and with no descriptor of ours.
//
// What the program prints goes to files without a name and is told when the program ends: a
// daemon that keeps them open holds up nobody, and its next word does not end it, as that into
// a pipe without a reader would. setsid does not fork, because a shell without job control
// starts what it does not wait for in its own group.
//
// The program, other than what it leaves behind, ends with the command: the shell that bears
// the mark passes the end on.
const detacher = `n=$1; shift
command -v setsid >/dev/null || { echo "setsid: not found" >&2; exit 127; }
cd /; umask 077
for d in "${TMPDIR:-/tmp}" /run /dev/shm; do
  d=$(mktemp -d "$d/.metal3-XXXXXX" 2>/dev/null) && break
  d=
done
[ -n "$d" ] || { echo "no place for a temporary file" >&2; exit 1; }
exec 3<&0 4>>"$d/o" 5<"$d/o" 6>>"$d/e" 7<"$d/e"
rm -rf "$d"
[ "$n" != 0 ] || exec 3</dev/null
umask 022
ulimit -n 1048576 2>/dev/null || ulimit -n "$(ulimit -H -n)" 2>/dev/null
trap 'kill -TERM $!; (unset METAL3_RUN; exec sleep 1); kill -KILL $!; exit 143' TERM HUP INT
env -i PATH="$PATH" ${HOME+"HOME=$HOME"} ${USER+"USER=$USER"} ${LOGNAME+"LOGNAME=$LOGNAME"} LC_ALL=C "$@" <&3 >&4 2>&6 3<&- 4>&- 5<&- 6>&- 7<&- 8>&- 9>&- &
exec 3<&-
wait $! 2>/dev/null
s=$?
trap - TERM HUP INT
cat <&5
cat <&7 >&2
exit "$s"`

// detached is what the wrapper runs for a command with Detach.
func (c Command) detached() []string {
	input := "0"
	if len(c.Stdin) > 0 {
		input = "1"
	}

	all := append([]string{"/bin/sh", "-c", detacher, detacherName, input}, c.Env...)

	return append(append(all, "setsid"), c.words()...)
}
