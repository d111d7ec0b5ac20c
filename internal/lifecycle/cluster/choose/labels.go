// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"maps"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

// Names of the labels that each host has without anybody setting them.
const (
	LabelName          = "metal3.io/name"
	LabelUUID          = "metal3.io/uuid"
	LabelArch          = "metal3.io/arch"
	LabelResourceClass = "metal3.io/resource-class"
	LabelFailureDomain = "metal3.io/failure-domain"
	LabelTraitPrefix   = "trait.metal3.io/"
)

// Labels returns what selectors look at: the labels of the host's journal, and those made
// of what Ironic says of the node. Nobody can set the latter: a label of the journal with
// such a name does not count. What is not known has no label.
func Labels(s host.Seen) map[string]string {
	n := s.Node
	out := make(map[string]string, len(s.Journal.Labels)+len(n.Traits)+len(made))
	maps.Copy(out, s.Journal.Labels)

	maps.DeleteFunc(out, func(key, _ string) bool { return strings.HasPrefix(key, LabelTraitPrefix) })

	for _, key := range made {
		delete(out, key)
	}

	arch, _ := n.Properties["cpu_arch"].(string)

	for key, v := range map[string]string{
		LabelName: Name(s), LabelUUID: n.UUID, LabelArch: arch, LabelResourceClass: n.ResourceClass, LabelFailureDomain: s.Journal.FailureDomain,
	} {
		if v != "" {
			out[key] = v
		}
	}

	for _, t := range n.Traits {
		out[LabelTraitPrefix+t] = "true"
	}

	return out
}

var made = []string{LabelName, LabelUUID, LabelArch, LabelResourceClass, LabelFailureDomain}

// Name returns the name of a host: the journal's, else the part of the node's name behind
// the namespace, else the node's name, else its UUID.
func Name(s host.Seen) string {
	if s.Journal.Name != "" {
		return s.Journal.Name
	}

	if _, after, joined := strings.Cut(s.Node.Name, "~"); joined && after != "" {
		return after
	}

	if s.Node.Name != "" {
		return s.Node.Name
	}

	return s.Node.UUID
}
