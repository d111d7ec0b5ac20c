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
// started below it has the token in its environment or is in its session, so that the killer
// finds it:
//
//	env LC_ALL=C [sudo -n -- env LC_ALL=C] /bin/sh -c <killer> metal3-kill <token> <tenths of a second between TERM and KILL>
//
// The killer prints how many processes it could not end. A script is the program
// "/bin/sh -c <script> sh [<parameter> …]".
const (
	wrapperName = "metal3"
	sessionName = "metal3-session"
	killerName  = "metal3-kill"
	tokenName   = "METAL3_RUN"
)

// wrapper: the left side feeds the program and then waits for the end of its input; the
// right side learns the left one's process id first, runs the program, and ends the left one.
// Both sides' complaints about each other go nowhere: file 4 is the program's standard error.
// The killer gets a session of its own where there is a setsid, because it ends the wrapper's.
const wrapper = `exec 4>&2 2>/dev/null
{
  if [ -r /proc/self/stat ]; then read -r p x </proc/self/stat; else p=$(exec sh -c "echo \$PPID"); fi
  echo "$p"
  [ "$2" = 0 ] || head -c "$2"
  exec >/dev/null
  while read -r x; do :; done
  (
    trap "" TERM HUP PIPE
    exec $(command -v setsid) env -i PATH="$PATH" LC_ALL=C /bin/sh -c '` + killer + `' ` + killerName + ` "$1" 20
  ) </dev/null &
  wait
} 4>&- | {
  read -r w
  shift 2
  ("$@") 2>&4 4>&-
  s=$?
  kill -KILL "$w"
  exit "$s"
}`

// sessionWrapper is the wrapper of a program that is spoken to:
//
//	env … METAL3_RUN=<token> [NAME=value …] /bin/sh -c <wrapper> metal3-session <token> <program> [<argument> …]
//
// All of its input goes to the program. Where that ends, the program has a second to end by itself.
// cat is no foreground child, because the shell then would not hear of the program's end, and
// whatever keeps the input open keeps some servers' sessions open.
const sessionWrapper = `exec 4>&2 2>/dev/null
{
  trap "kill -KILL \$!; exit" TERM
  if [ -r /proc/self/stat ]; then read -r p x </proc/self/stat; else p=$(exec sh -c "echo \$PPID"); fi
  echo "$p"
  exec 3<&0
  cat <&3 3<&- &
  wait
  trap - TERM
  exec >/dev/null
  while read -r x; do :; done
  exec 3<&- </dev/null
  sleep 1
  (
    trap "" TERM HUP PIPE
    exec $(command -v setsid) env -i PATH="$PATH" LC_ALL=C /bin/sh -c '` + killer + `' ` + killerName + ` "$1" 20
  ) &
  wait
} 4>&- | {
  read -r w
  shift
  ("$@") 2>&4 4>&-
  s=$?
  kill -TERM "$w"
  exit "$s"
}`

// killer must hold no single quotes. What it ends is all that has the token in its
// environment, and all sessions whose leader has it there or in its command line, as those that
// OpenSSH makes for each command: a program may have cleared its environment. Sessions of others
// have no such leader, and its own session is left alone. "kill -TERM -5" is the one way to
// name a process group that dash, bash and busybox have in common: dash takes neither
// "kill -TERM -- -5" nor "kill -s TERM -5". The clock bounds it, too: on a host with many
// processes a look takes long. Where there is no /proc it says that one is left.
const killer = `exec 2>/dev/null
t=$1; n=$2; ours=" "
look() { read -r s <"/proc/$1/stat" || return 1; set -- ${s##*) }; sid=$4; [ "$1" != Z ] && [ "$1" != X ]; }
seek() {
  pids=
  for p in $(grep -lF "METAL3_RUN=$t" /proc/[0-9]*/environ | tr -dc "0-9\n"); do
    look "$p" || continue
    pids="$pids $p"
    case "$ours" in *" $sid "*) continue ;; esac
    [ "$sid" != "$mine" ] && grep -qF "METAL3_RUN=$t" "/proc/$sid/environ" "/proc/$sid/cmdline" && ours="$ours$sid "
  done
  [ "$ours" != " " ] || return 0
  for p in /proc/[0-9]*; do
    p=${p#/proc/}
    look "$p" || continue
    case "$ours" in *" $sid "*) case "$pids " in *" $p "*) ;; *) pids="$pids $p" ;; esac ;; esac
  done
}
strike() {
  [ -n "$pids" ] || return 0
  for p in $pids; do kill "-$1" "$p"; done
  for p in $ours; do kill "-$1" "-$p"; done
}
look "$$" || { echo 1; exit; }
mine=$sid; seek; strike TERM
rest() { i=$((i+1)); [ -n "$pids" ] && [ "$i" -lt "$1" ] && [ "$(date +%s)" -lt "$till" ]; }
i=0; till=$(($(date +%s)+n/10+1))
while seek; rest "$n"; do sleep 0.1 || sleep 1; done
i=0; till=$(($(date +%s)+3))
while seek; strike KILL; rest 20; do sleep 0.1 || sleep 1; done
[ -z "$pids" ] || { sleep 0.1 || sleep 1; seek; }
set -- $pids
echo $#`
