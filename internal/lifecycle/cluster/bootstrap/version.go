// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is a version of Kubernetes.
type Version struct {
	Minor int // the major version is 1
	Patch int
	Pre   string // such as rc.0
}

var versionPattern = regexp.MustCompile(`^v?1\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})(?:-((?:alpha|beta|rc)\.(?:0|[1-9][0-9]{0,3})))?$`)

// ParseVersion reads a version such as 1.31.4 or v1.37.0-rc.1. Labels such as stable are
// refused: what they mean changes, and asking for it needs the internet.
func ParseVersion(s string) (Version, error) {
	m := versionPattern.FindStringSubmatch(s)
	if m == nil {
		return Version{}, errors.New("this is no version of Kubernetes; write one in full, such as 1.31.4")
	}

	minor, err := strconv.Atoi(m[1])
	if err != nil {
		return Version{}, fmt.Errorf("minor version: %w", err)
	}

	patch, err := strconv.Atoi(m[2])
	if err != nil {
		return Version{}, fmt.Errorf("patch version: %w", err)
	}

	return Version{minor, patch, m[3]}, nil
}

// String is the version as Kubernetes writes it.
func (v Version) String() string {
	return strings.TrimSuffix(fmt.Sprintf("v1.%d.%d-%s", v.Minor, v.Patch, v.Pre), "-")
}

// The forms of kubeadm's configuration.
const (
	v1beta3 = "kubeadm.k8s.io/v1beta3"
	v1beta4 = "kubeadm.k8s.io/v1beta4"
)

// forms says since which minor version which form is written. kubeadm decodes strictly and
// drops old forms (1.37 has no v1beta3), so each new minor version needs a look at this table.
var forms = []struct {
	since int
	form  string
}{{31, v1beta4}, {22, v1beta3}}

const (
	oldestMinor = 22
	newestMinor = 37 // that the tests know

	// The minor version since which admin.conf has no rights until kubeadm init has bound them,
	// and its group is kubeadm:cluster-admins. super-admin.conf has system:masters.
	minorSuperAdmin = 29
	// The minor version since which kubeadm takes encryptionAlgorithm.
	minorAlgorithm = 31
)

// form is how kubeadm's configuration is written for the version.
func (v Version) form() (string, error) {
	for _, f := range forms {
		if v.Minor >= f.since {
			return f.form, nil
		}
	}

	return "", fmt.Errorf("the kubeadm profile knows Kubernetes 1.%d and newer, not %s; write user data of your own for it", oldestMinor, v)
}

// AdminGroup is the group of those who may do everything in a cluster of the version, and whom
// its administrators can still take that from where the version knows such a group.
func (v Version) AdminGroup() string {
	if v.Minor >= minorSuperAdmin {
		return GroupClusterAdmins
	}

	return GroupMasters
}
