// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// Want is what a machine wants of its workload cluster.
type Want struct {
	Machine    string   // its name
	Host       string   // the name of its host
	HostID     string   // the UUID of its host
	ProviderID string   // metal3://<namespace>/<host>/<machine>; empty where nobody says
	ClaimID    string   // the UUID of its claim
	Addresses  []string // of the machine alone, none that moves between machines

	Labels, Annotations map[string]string
	Taints              []kube.Taint
	SyncPrefixes        []string          // label prefixes that follow the host
	HostLabels          map[string]string // all labels of the host

	CloudProvider bool          // somebody else sets providerIDs
	InService     bool          // what a drain has taken out of use takes Pods again
	Ready         bool          // wait until the Node is Ready, else until it is registered
	Settle        time.Duration // how long it must have been Ready without a break
}

// effects are those that a taint may have.
var effects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}

// Check says everything that no workload cluster would take, before one is asked.
func (w Want) Check() error {
	prefixes, bad := CheckSyncPrefixes(w.SyncPrefixes)
	bad = append(bad, checkLabels("label", w.Labels)...)

	set, _ := synced(prefixes, w.HostLabels, nil, w.Labels)
	bad = append(bad, checkLabels("label of host "+w.Host, set)...)

	for key := range w.Annotations {
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			bad = append(bad, fmt.Errorf("annotation %s: %s", key, strings.Join(problems, "; ")))
		}

		if key == noteKey || key == cordonKey {
			bad = append(bad, fmt.Errorf("annotation %s is where this provider notes what it has set", key))
		}
	}

	bad = append(bad, checkTaints(w.Taints)...)

	if err := errors.Join(bad...); err != nil {
		return fmt.Errorf("machine %s: %w", w.Machine, err)
	}

	return nil
}

func checkTaints(taints []kube.Taint) []error {
	var bad []error

	seen := map[string]bool{}

	for _, t := range taints {
		problems := append(validation.IsQualifiedName(t.Key), validation.IsValidLabelValue(t.Value)...)

		if !slices.Contains(effects, t.Effect) {
			problems = append(problems, "the effect must be one of "+strings.Join(effects, ", "))
		}

		if seen[taintID(t)] {
			problems = append(problems, "there is another one of that key and effect")
		}

		seen[taintID(t)] = true

		if len(problems) > 0 {
			bad = append(bad, fmt.Errorf("taint %s: %s", taintText(t), strings.Join(problems, "; ")))
		}
	}

	return bad
}

// taintID is what makes a taint the same one: its value may change.
func taintID(t kube.Taint) string { return t.Key + ":" + t.Effect }

// taintText is how kubectl writes a taint.
func taintText(t kube.Taint) string {
	if t.Value == "" {
		return taintID(t)
	}

	return t.Key + "=" + t.Value + ":" + t.Effect
}
