// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

// Every command runs below a small shell program, the wrapper, which ends the command when
// its standard input ends early: when this process dies, or the connection is lost, nothing
// goes on unseen. What a command line looks like (the lab's nodes read it, too):
//
//	env LC_ALL=C [sudo -n -- env LC_ALL=C] METAL3_RUN=<token> [NAME=value …] /bin/sh -c <wrapper> metal3 <token> <n> <program> [<argument> …]
//
// The wrapper gives the first n bytes of its standard input to the program. Whatever was
// started below it has the token in its environment, so that the killer finds it, also where
// it left the process group:
//
//	env LC_ALL=C [sudo -n -- env LC_ALL=C] /bin/sh -c <killer> metal3-kill <token> <tenths of a second between TERM and KILL>
//
// The killer prints how many processes it could not end. A script is the program
// "/bin/sh -c <script> sh [<parameter> …]".
const (
	wrapperName = "metal3"
	killerName  = "metal3-kill"
	tokenName   = "METAL3_RUN"
)

// wrapper: the left side feeds the program and then waits for the end of its input; the
// right side learns the left one's process id first, runs the program, and ends the left one.
// Both sides' complaints about each other go nowhere: file 4 is the program's standard error.
const wrapper = `exec 4>&2 2>/dev/null
{
  if [ -r /proc/self/stat ]; then read -r p x </proc/self/stat; else p=$(exec sh -c "echo \$PPID"); fi
  echo "$p"
  [ "$2" = 0 ] || head -c "$2"
  exec >/dev/null
  while read -r x; do :; done
  trap "" TERM HUP PIPE
  exec env -i PATH="$PATH" LC_ALL=C /bin/sh -c '` + killer + `' ` + killerName + ` "$1" 20
} 4>&- | {
  read -r w
  shift 2
  ("$@") 2>&4 4>&-
  s=$?
  kill -KILL "$w"
  exit "$s"
}`

// killer must hold no single quotes. A process group is ended as a whole where it is a session
// of its own, as OpenSSH makes one for each command, and not the server's.
const killer = `t=$1
marked() { grep -lF "METAL3_RUN=$t" /proc/[0-9]*/environ 2>/dev/null | tr -dc "0-9\n"; }
strike() {
  pids=$(marked); groups=
  for p in $pids; do
    s=$(cat "/proc/$p/stat" 2>/dev/null) || continue
    set -- ${s##*) }
    [ "$3" = "$4" ] || continue
    case $(cat "/proc/$4/comm" 2>/dev/null) in sshd*|dropbear*) continue ;; esac
    case " $groups " in *" $3 "*) ;; *) groups="$groups $3" ;; esac
  done
  for p in $pids; do kill "-$sig" "$p" 2>/dev/null; done
  for p in $groups; do kill "-$sig" -- "-$p" 2>/dev/null; done
}
sig=TERM; strike
i=0; n=$2
while [ "$i" -lt "$n" ] && [ -n "$(marked)" ]; do sleep 0.1 2>/dev/null || { sleep 1; i=$((i+9)); }; i=$((i+1)); done
for p in $groups; do kill -KILL -- "-$p" 2>/dev/null; done
sig=KILL; i=0
while [ "$i" -lt 20 ] && [ -n "$(marked)" ]; do strike; i=$((i+1)); sleep 0.1 2>/dev/null || sleep 1; done
marked | wc -l`
