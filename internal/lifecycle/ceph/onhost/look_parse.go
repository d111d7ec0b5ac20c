// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// daemonID is what the id of a daemon looks like: it becomes a name of files and of units.
var daemonID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// folderName is what the name of a folder looks like that others gave to a daemon of theirs. The look
// prints no other: a blank in it would make it the name of another one.
var folderName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

var daemonTypes = []string{ceph.RoleMon, ceph.RoleMgr, ceph.RoleOSD, ceph.RoleMDS}

// ours tells what on a host belongs to the cluster.
type ours struct {
	layout   ceph.Layout
	fsid     string // empty: not known yet, so that nothing is ours
	identity *ceph.Identity
}

// daemons notes folders, processes and units. A folder whose marker holds another fsid is no
// daemon of ours, and is told with the leftovers.
func (o ours) daemons(section []byte, f *ceph.Facts) {
	all := daemonSet{}

	for word, rest := range facts(section) {
		if d, more, ok := daemonOf(rest); ok && (word != "folder" || more == "-" || o.is(more)) {
			all.note(d, word, more)
		}
	}

	for _, df := range all {
		f.Daemons = append(f.Daemons, *df)
	}

	slices.SortFunc(f.Daemons, func(a, b ceph.DaemonFacts) int { return strings.Compare(a.String(), b.String()) })
}

// is tells whether a marker is ours.
func (o ours) is(mark string) bool { return o.fsid != "" && mark == o.fsid }

type daemonSet map[ceph.Daemon]*ceph.DaemonFacts

func (s daemonSet) get(d ceph.Daemon) *ceph.DaemonFacts {
	if s[d] == nil {
		s[d] = &ceph.DaemonFacts{Daemon: d}
	}

	return s[d]
}

// note takes one fact about a daemon.
func (s daemonSet) note(d ceph.Daemon, word, more string) {
	switch word {
	case "folder":
		s.get(d).Made = more != "-"
	case "run":
		pid, age, _ := strings.Cut(more, " ")
		if n, err := strconv.Atoi(pid); err == nil && n > 0 {
			df := s.get(d)
			df.Running, df.PID, df.Old = true, n, age == "old"
		}
	case "unit":
		if more == "off" {
			s.get(d).Stopped = true
		}
	case "say":
		if df := s[d]; df != nil {
			df.Words = strings.TrimSpace(df.Words + "\n" + words([]byte(more)))
		}
	}
}

// daemonOf reads "mon a rest".
func daemonOf(s string) (d ceph.Daemon, rest string, ok bool) {
	d.Type, s, _ = strings.Cut(s, " ")
	d.ID, rest, _ = strings.Cut(s, " ")

	return d, strings.TrimSpace(rest), slices.Contains(daemonTypes, d.Type) && daemonID.MatchString(d.ID)
}

// leftovers notes what of others is where the cluster is, or is to be.
func (o ours) leftovers(s sections, f *ceph.Facts) {
	if o.identity != nil && (o.identity.FSID != o.fsid || o.identity.Name != o.layout.Name) {
		f.Leftovers = append(f.Leftovers, ceph.Leftover{
			Path: o.layout.IdentityFile(), FSID: o.identity.FSID, What: "identity of the cluster " + strconv.Quote(o.identity.Name),
		})
	}

	for word, rest := range facts(s["host"]) {
		if fsid := strings.Trim(rest, `"' `); word == "fsid" && fsid != o.fsid {
			f.Leftovers = append(f.Leftovers, ceph.Leftover{Path: o.layout.Conf(), FSID: fsid, What: "configuration"})
		}
	}

	unmarked := map[ceph.Daemon]bool{}

	for word, rest := range facts(s["daemons"]) {
		d, mark, ok := anyDaemon(rest)

		switch {
		case !ok || word != "folder":
		case mark == "-" || mark == "?":
			unmarked[d] = true
		case mark != o.fsid:
			f.Leftovers = append(f.Leftovers, o.leftover(d, mark))
		}
	}

	for word, rest := range facts(s["preflight"]) {
		if d, value, ok := anyDaemon(rest); ok && unmarked[d] && !o.owns(word, value) {
			if word != "cephfsid" {
				value = ""
			}

			f.Leftovers = append(f.Leftovers, o.leftover(d, value))
		}
	}
}

// owns tells whether a folder without a marker is ours all the same: it was begun.
func (o ours) owns(word, value string) bool {
	switch word {
	case "store":
		return o.hasKey(value)
	case "cephfsid":
		return value == o.fsid
	default:
		return word != "holds"
	}
}

// anyDaemon is daemonOf for folders that others named.
func anyDaemon(s string) (d ceph.Daemon, rest string, ok bool) {
	d.Type, s, _ = strings.Cut(s, " ")
	d.ID, rest, _ = strings.Cut(s, " ")

	return d, strings.TrimSpace(rest), slices.Contains(daemonTypes, d.Type) && folderName.MatchString(d.ID)
}

func (o ours) leftover(d ceph.Daemon, fsid string) ceph.Leftover {
	what := map[string]string{ceph.RoleMon: "monitor's store", ceph.RoleOSD: "OSD's folder", ceph.RoleMgr: "manager's folder", ceph.RoleMDS: "MDS's folder"}

	return ceph.Leftover{Path: path.Join(o.layout.Dir, d.Type, d.ID), FSID: fsid, What: what[d.Type]}
}

// hasKey tells whether a checksum is that of the secret of our monitors.
func (o ours) hasKey(sum string) bool {
	if o.identity == nil || o.identity.FSID != o.fsid {
		return false
	}

	ours := sha256.Sum256([]byte(o.identity.MonSecret))

	return sum == hex.EncodeToString(ours[:])
}

// dfLine is the end of a line of df -Pk: total, used and free blocks, and how full in per cent.
var dfLine = regexp.MustCompile(`\s(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})\s+\d+%\s`)

func parsePreflight(section []byte, f *ceph.Facts) {
	for word, rest := range facts(section) {
		switch word {
		case "program":
			name, where, _ := strings.Cut(rest, " ")
			if strings.HasPrefix(where, "/") {
				if f.Programs == nil {
					f.Programs = map[string]string{}
				}

				f.Programs[name] = where
			}
		case "version":
			parseVersion(rest, f)
		case "librados":
			f.Librados = true
		case "closed":
			f.Closed = rest
		case "df":
			if m := dfLine.FindStringSubmatch(rest + " "); len(m) == 4 {
				f.Total, f.Free = kilobytes(m[1]), kilobytes(m[3])
			}
		case "port":
			if p, ok := parsePort(rest); ok {
				f.Ports = append(f.Ports, p)
			}
		}
	}
}

// parseVersion reads "ceph-mon ceph version 16.2.15 (…) pacific (stable)".
func parseVersion(s string, f *ceph.Facts) {
	program, text, _ := strings.Cut(s, " ")
	if text = strings.TrimSpace(text); text == "" {
		return
	}

	if f.Versions == nil {
		f.Versions = map[string]string{}
	}

	f.Versions[program] = text

	f.Version = cmp.Or(f.Versions["ceph-mon"], f.Versions["ceph"])
}

// parsePort reads "3300 4711 ours ceph-mon".
func parsePort(s string) (ceph.PortUse, bool) {
	w := strings.Fields(s)
	if len(w) < 3 {
		return ceph.PortUse{}, false
	}

	port, err := strconv.Atoi(w[0])

	return ceph.PortUse{Port: port, Process: strings.Join(w[3:], " "), Ours: w[2] == "ours"}, err == nil
}

func kilobytes(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64) // the pattern lets digits through only

	return n * 1024
}
