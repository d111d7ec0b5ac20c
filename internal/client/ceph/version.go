// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a version of Ceph.
type Version struct {
	Major, Minor, Patch, Build int
	Commit                     string
	Release                    string // reef
	Text                       string // as it was read
	Stable                     bool   // it says "(stable)"
}

var errVersion = errors.New("not a version of Ceph")

// versionForm is a version with, each where it is there, the build, what a vendor appends, the
// commit in parentheses, the name of the release, and its state in parentheses.
var versionForm = regexp.MustCompile(
	`^(?:ceph version )?v?(\d+)\.(\d+)\.(\d+)(?:-(\d+))?([-.+~][^\s()]*)?(?: \(([^()\s]*)\))?(?: ([a-z]+))?(?: \(([a-z]+)\))?$`)

// commitForm is a commit in the appendix: 15.0.0-10067-g6bb36f862f.
var commitForm = regexp.MustCompile(`^-g([0-9a-f]+)`)

// ParseVersion reads what "ceph --version" prints, with or without its first words, and what
// "versions" counts. Names of releases that are not known yet are taken as they are.
func ParseVersion(text string) (Version, error) {
	m := versionForm.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		return Version{}, fmt.Errorf("%w: %.60q", errVersion, text)
	}

	v := Version{Commit: m[6], Release: m[7], Stable: m[8] == "stable", Text: strings.TrimSpace(text)}

	for i, into := range []*int{&v.Major, &v.Minor, &v.Patch, &v.Build} {
		if m[i+1] == "" {
			continue // the build
		}

		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			return Version{}, fmt.Errorf("%w: %.60q", errVersion, text)
		}

		*into = n
	}

	if commit := commitForm.FindStringSubmatch(m[5]); commit != nil && v.Commit == "" {
		v.Commit = commit[1]
	}

	return v, nil
}

// Compare is negative where v is older than w, positive where it is newer. Builds compare as
// numbers. Commits do not count: they have no order.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor),
		cmp.Compare(v.Patch, w.Patch), cmp.Compare(v.Build, w.Build))
}

// String is the version in short: 18.2.5 or 18.2.5-10.
func (v Version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
	if v.Build > 0 {
		s += "-" + strconv.Itoa(v.Build)
	}

	return s
}
