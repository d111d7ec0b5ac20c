// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// The exit statuses of our scripts that say more than that they failed.
const (
	saysForeign = 64 // something belongs to another cluster; standard output says what
	saysRuns    = 65 // a daemon runs that must not
	saysDied    = 66 // a daemon ended at once
	saysLeft    = 67 // something is left that must go first
	saysOurs    = 68 // something was taken for another cluster's, and is ours
)

// Those that say what is wrong with a device; the last line of standard error says more.
const (
	exitTheirs = 91
	exitTaken  = 92
	exitAbsent = 93
)

// shellForeign says that something is another cluster's, and whose.
const shellForeign = `
foreign() { echo "$1 ${2:--}"; exit 64; }
`

// shSay is the shell function with which scripts end with a status and words.
const shSay = `
die() { c=$1; shift; echo "$*" >&2; exit "$c"; }
`

// The kinds of refusal that an exit status of ours stands for.
var (
	// ErrRuns says that a daemon runs that must be stopped first.
	ErrRuns = errors.New("a daemon runs")
	// ErrLeft says that something is left that must go first.
	ErrLeft = errors.New("something is left")
)

// do runs a script whose exit statuses say what is wrong.
func (h *Host) do(ctx context.Context, cmd remote.Command) error {
	res, err := h.run(ctx, cmd)
	if err != nil {
		return err
	}

	said, last := words(res.Stdout), words([]byte(lastLine(res.Stderr)))

	switch res.Exit {
	case 0:
		return nil
	case saysForeign:
		what, fsid, _ := strings.Cut(lastLine(res.Stdout), " ")
		if fsid == "" || fsid == "-" || fsid == "?" {
			fsid = "an unknown fsid"
		} else {
			fsid = "fsid " + words([]byte(fsid))
		}

		return fmt.Errorf("%w: %s on %s (%s)", ceph.ErrForeign, words([]byte(what)), h.Name(), fsid)
	case saysRuns:
		return fmt.Errorf("%w on %s: %s", ErrRuns, h.Name(), said)
	case saysDied:
		return fmt.Errorf("%w: on %s: %s", ceph.ErrDied, h.Name(), words(append(res.Stdout, res.Stderr...)))
	case saysLeft:
		return fmt.Errorf("%w on %s: %s", ErrLeft, h.Name(), said)
	case saysOurs:
		return fmt.Errorf("%w: on %s: %s", ErrOurs, h.Name(), said)
	case exitTheirs:
		return fmt.Errorf("%w: on %s: %s", ceph.ErrForeign, h.Name(), last)
	case exitTaken:
		return fmt.Errorf("%w: on %s: %s", ceph.ErrInUse, h.Name(), last)
	case exitAbsent:
		return fmt.Errorf("%w: on %s: %s", ceph.ErrGone, h.Name(), last)
	default:
		return h.failed(stepName(cmd), res)
	}
}

func lastLine(raw []byte) string {
	text := strings.TrimSpace(string(raw))

	return text[strings.LastIndexByte(text, '\n')+1:]
}
