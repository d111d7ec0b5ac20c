// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Constraint says which versions are taken: all its parts must hold.
type Constraint []bound

// bound is one part of a constraint.
type bound struct {
	op   string
	want [4]int // major, minor, patch, build
	said int    // how many of them are written
}

var errConstraint = errors.New("not a version constraint")

var boundForm = regexp.MustCompile(`^(>=|<=|>|<|!=|~>|==?)?\s*(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-(\d+))?$`)

// ParseConstraint reads bounds that are separated by commas: ">= 16.2, < 21". The operators are
// those of Terraform. Parts that are not written are 0 for an order, and any for = and !=, so
// that "= 18.2" is every 18.2. Empty text allows all.
func ParseConstraint(text string) (Constraint, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}

	var c Constraint

	for part := range strings.SplitSeq(text, ",") {
		b, err := parseBound(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}

		c = append(c, b)
	}

	return c, nil
}

func parseBound(text string) (bound, error) {
	m := boundForm.FindStringSubmatch(text)
	if m == nil {
		return bound{}, fmt.Errorf("%w: %.60q", errConstraint, text)
	}

	b := bound{op: m[1]}

	for i, s := range m[2:] {
		if s == "" {
			continue
		}

		n, err := strconv.Atoi(s)
		if err != nil {
			return bound{}, fmt.Errorf("%w: %.60q", errConstraint, text)
		}

		b.want[i], b.said = n, i+1
	}

	if b.op == "~>" && b.said == 1 {
		return bound{}, fmt.Errorf("%w: %q needs a minor version too", errConstraint, text)
	}

	return b, nil
}

// Allows says whether all parts hold for a version.
func (c Constraint) Allows(v Version) bool {
	for _, b := range c {
		if !b.allows(v) {
			return false
		}
	}

	return true
}

func (b bound) allows(v Version) bool {
	order := v.Compare(Version{Major: b.want[0], Minor: b.want[1], Patch: b.want[2], Build: b.want[3]})

	switch b.op {
	case ">=":
		return order >= 0
	case ">":
		return order > 0
	case "<=":
		return order <= 0
	case "<":
		return order < 0
	case "~>":
		return order >= 0 && b.same(v, b.said-1)
	case "!=":
		return !b.same(v, b.said)
	default:
		return b.same(v, b.said)
	}
}

// same says whether the first n parts are those of the version.
func (b bound) same(v Version, n int) bool {
	has := [4]int{v.Major, v.Minor, v.Patch, v.Build}
	for i := range n {
		if has[i] != b.want[i] {
			return false
		}
	}

	return true
}
