// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// ErrIdentity says that a host has an identity file that cannot be read. Nobody may take that
// for a host without one: a second fsid would follow.
var ErrIdentity = errors.New("the identity of the cluster cannot be read")

// goodClock is how well an offset must be known to tell anything: Ceph complains at 50 ms.
const goodClock = 10 * time.Millisecond

// Look implements [ceph.Host].
func (h *Host) Look(ctx context.Context, l ceph.Layout, ask ceph.Ask) (ceph.Facts, error) {
	ports := make([]string, len(ask.Ports))
	for i, p := range ask.Ports {
		ports[i] = strconv.Itoa(p)
	}

	preflight := flag(ask.Preflight)
	if ask.Programs && !ask.Preflight {
		preflight = "programs"
	}

	params := append([]string{l.Dir, preflight, flag(ask.Devices), flag(ask.Logs), l.User, strings.Join(ports, " ")}, ask.Paths...)
	began := time.Now()

	out, err := h.script(ctx, remote.Command{Script: scriptLook, Params: params})
	if err != nil {
		return ceph.Facts{}, err
	}

	ended := time.Now()

	f, err := parseLook(out, l)
	if err != nil {
		return ceph.Facts{}, fmt.Errorf("%s: %w", h.Name(), err)
	}

	if ask.Preflight {
		h.clock(ctx, &f, parseSections(out), began, ended)
	}

	return f, nil
}

// clock notes how far the host's clock is from ours. The first command to a host bears the cost
// of the connection, so that it tells little: one more is sent then.
func (h *Host) clock(ctx context.Context, f *ceph.Facts, s sections, began, ended time.Time) {
	f.Clock, f.ClockBy = offset(s, began, ended)
	if f.ClockBy <= goodClock {
		return
	}

	began = time.Now()
	out, err := h.script(ctx, remote.Command{Script: scriptClock})
	ended = time.Now()

	if err != nil {
		return
	}

	if o, by := offset(parseSections(out), began, ended); by < f.ClockBy {
		f.Clock, f.ClockBy = o, by
	}
}

// scriptClock is the part of the look that tells the time.
const scriptClock = `# metal3: ceph-clock
echo '== clock'
echo "began $(date +%s.%N)"
echo '== end'
echo "ended $(date +%s.%N)"
`

// never is how little an offset says that could not be measured.
const never = 24 * time.Hour

// offset compares four times as NTP does: ours before and after, the host's in between.
func offset(s sections, began, ended time.Time) (ahead, by time.Duration) {
	there, ok := instant(s["clock"], "began")
	back, also := instant(s["end"], "ended")

	if !ok || !also {
		return 0, never
	}

	ahead = (there.at.Sub(began) + back.at.Sub(ended)) / 2
	by = max(ended.Sub(began)-back.at.Sub(there.at), 0) / 2

	return ahead, by + there.by + back.by
}

// moment is a time that a host told, and how coarse it is.
type moment struct {
	at time.Time
	by time.Duration
}

func instant(section []byte, name string) (moment, bool) {
	for word, rest := range facts(section) {
		if word != name {
			continue
		}

		whole, part, _ := strings.Cut(rest, ".")

		seconds, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return moment{}, false
		}

		nanos, err := strconv.ParseInt(part, 10, 64)
		if err != nil || len(part) != 9 { // a date that knows no %N
			return moment{time.Unix(seconds, 0).Add(time.Second / 2), time.Second / 2}, true
		}

		return moment{at: time.Unix(seconds, nanos)}, true
	}

	return moment{}, false
}

// sections is what the look's script printed, by the name in the line "== name" above it.
type sections map[string][]byte

func parseSections(out []byte) sections {
	all := sections{}
	name := ""

	for line := range bytes.Lines(out) {
		if next, ok := bytes.CutPrefix(line, []byte("== ")); ok {
			name = string(bytes.TrimSpace(next))
			if all[name] == nil {
				all[name] = []byte{}
			}

			continue
		}

		all[name] = append(all[name], line...)
	}

	return all
}

// facts yields the lines of a section, each as its first word and the rest.
func facts(section []byte) func(yield func(word, rest string) bool) {
	return func(yield func(word, rest string) bool) {
		for line := range strings.Lines(strings.ToValidUTF8(string(section), "?")) {
			word, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
			if word != "" && !yield(word, strings.TrimSpace(rest)) {
				return
			}
		}
	}
}

// parseLook reads what the look's script printed. An error says that it does not tell whether there is
// a cluster: the look was cut off, the folder is hidden, or the identity cannot be read.
func parseLook(out []byte, l ceph.Layout) (ceph.Facts, error) {
	s := parseSections(out)
	if _, ok := s["end"]; !ok {
		return ceph.Facts{}, fmt.Errorf("%w: the look ended early", ErrCommand)
	}

	for word, rest := range facts(s["host"]) {
		if word == "hidden" {
			return ceph.Facts{}, fmt.Errorf("%w (%s)", ceph.ErrHidden, words([]byte(rest)))
		}
	}

	id, err := parseIdentity(s)
	if err != nil {
		return ceph.Facts{}, fmt.Errorf("%w (%s)", err, l.IdentityFile())
	}

	f := ceph.Facts{Identity: id}
	parseHost(s["host"], &f)

	own := ours{layout: l, identity: id}
	if own.fsid = l.FSID; own.fsid == "" && id != nil && id.Name == l.Name {
		own.fsid = id.FSID
	}

	own.daemons(s["daemons"], &f)
	parsePreflight(s["preflight"], &f)
	own.leftovers(s, &f)

	f.Slots = parseSlots(s["slots"])
	f.Disks = parseDisks(s["disks"])

	return f, nil
}

// parseIdentity reads the identity. The section is there where the file is, whatever that holds.
func parseIdentity(s sections) (*ceph.Identity, error) {
	section, there := s["identity"]
	if !there {
		return nil, nil //nolint:nilnil // there is none
	}

	var id ceph.Identity
	if json.Unmarshal(section, &id) != nil || id.FSID == "" { // the error would quote secrets
		return nil, ErrIdentity
	}

	return &id, nil
}

func parseHost(section []byte, f *ceph.Facts) {
	for word, rest := range facts(section) {
		switch word {
		case "hostname":
			f.Hostname = rest
		case "os":
			f.OS = rest
		case "root":
			f.Root = true
		case "cephuser":
			f.CephUser = true
		case "systemd":
			f.Systemd = true
		case "conf":
			f.ConfSum = rest
		case "admin":
			f.AdminSum = rest
		}
	}
}

func flag(on bool) string {
	if on {
		return "1"
	}

	return "0"
}
