// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LocalHost is how the id of a cluster names the machine that runs Terraform.
const LocalHost = "local"

// Location says which cluster is meant and where it is found. The id of a cluster is this and
// nothing else, so that whoever has the id can reach the cluster.
type Location struct {
	// FSID is empty where an import names only the place.
	FSID string
	// Hosts are how SSH reaches the hosts of the monitors: a name or an address, with :PORT where
	// it is not SSH's own, IPv6 in brackets; or the word local.
	Hosts []string
	// Dir is the folder of the cluster on these hosts.
	Dir string
}

// String is the id.
func (l Location) String() string { return ClusterID(l.FSID, l.Hosts, l.Dir) }

// Same reports whether two locations mean one cluster. Two of which one has no fsid do not tell.
func (l Location) Same(o Location) bool { return l.FSID != "" && l.FSID == o.FSID }

// ClusterID is the id of a cluster: FSID@HOST[:PORT][,HOST…]/DATA_DIR.
func ClusterID(fsid string, hosts []string, dir string) string {
	spelled := make([]string, 0, len(hosts))

	for _, h := range hosts {
		if a, err := netip.ParseAddr(h); err == nil && a.Is6() {
			h = "[" + h + "]"
		}

		spelled = append(spelled, h)
	}

	id := strings.Join(spelled, ",") + dir
	if fsid == "" {
		return id
	}

	return fsid + "@" + id
}

// idForm is what messages say that an id looks like.
const idForm = "FSID@HOST[:PORT][,HOST…]/DATA_DIR"

var (
	fsidPattern = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
	namePattern = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

// ParseClusterID reads the id of a cluster. FSID@ may be left out: an import then takes the
// cluster that is there.
func ParseClusterID(s string) (Location, error) {
	l, err := parseLocation(s)
	if err != nil {
		return Location{}, fmt.Errorf("%q is no id of a Ceph cluster (%s): %w", s, idForm, err)
	}

	return l, nil
}

func parseLocation(s string) (Location, error) {
	var l Location

	where, dir, found := strings.Cut(s, "/")
	if !found {
		return l, errors.New("it has no folder; that begins with the first /")
	}

	l.Dir = "/" + dir

	if fsid, rest, found := strings.Cut(where, "@"); found {
		l.FSID, where = strings.ToLower(fsid), rest

		if !fsidPattern.MatchString(l.FSID) {
			return l, fmt.Errorf("%q before the @ is no fsid", fsid)
		}
	}

	for _, h := range strings.Split(where, ",") {
		if err := checkHost(h); err != nil {
			return l, err
		}

		l.Hosts = append(l.Hosts, h)
	}

	return l, checkDir(l.Dir)
}

// checkDir refuses folders that would not come out of an id as they went in, or that no
// cluster can be in.
func checkDir(dir string) error {
	odd := func(r rune) bool { return unicode.IsControl(r) || r == '#' || r == utf8.RuneError }

	switch {
	case dir == "/" || path.Clean(dir) != dir:
		return fmt.Errorf("the folder must be an absolute path without . and .. and without a / at its end, and not / itself; it is %q", dir)
	case strings.ContainsFunc(dir, odd):
		return fmt.Errorf("the folder %q has a letter that no id may have (#, or one that cannot be printed)", dir)
	default:
		return nil
	}
}

// checkHost refuses what is not HOST, HOST:PORT, [IPv6] or [IPv6]:PORT.
func checkHost(h string) error {
	name, port, hasPort := strings.Cut(h, ":")

	if inner, isV6 := strings.CutPrefix(h, "["); isV6 {
		var closed bool

		inner, port, closed = strings.Cut(inner, "]")
		if a, err := netip.ParseAddr(inner); !closed || err != nil || !a.Is6() {
			return fmt.Errorf("the host %q is no IPv6 address in brackets", h)
		}

		if name = inner; port != "" {
			port, hasPort = strings.CutPrefix(port, ":")
			if !hasPort {
				return fmt.Errorf("behind the brackets of %q there is something other than a port", h)
			}
		} else {
			hasPort = false
		}
	} else if strings.Contains(port, ":") {
		return fmt.Errorf("%q has more than one colon; write an IPv6 address in brackets", h)
	} else if !namePattern.MatchString(name) {
		return fmt.Errorf("%q is no host: a name or an address is expected, without user and scheme", h)
	}

	if !hasPort {
		return nil
	}

	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("%q is no port of host %q", port, name)
	}

	if name == LocalHost {
		return errors.New("local is this machine, and has no port")
	}

	return nil
}

// SplitHost takes a host of a location apart, for SSH. A port of 0 says that none is given.
func SplitHost(h string) (name string, port int) {
	if inner, isV6 := strings.CutPrefix(h, "["); isV6 {
		inner, rest, _ := strings.Cut(inner, "]")
		port, _ = strconv.Atoi(strings.TrimPrefix(rest, ":"))

		return inner, port
	}

	name, text, _ := strings.Cut(h, ":")
	port, _ = strconv.Atoi(text)

	return name, port
}
