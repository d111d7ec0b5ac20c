// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"fmt"
	"maps"
	"slices"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
)

// change is what is to be done to a Node so that it is as its machine wants it.
type change struct {
	providerID  string            // to be set; empty where it is
	uncordon    bool              // a drain of ours has taken it out of use
	labels      map[string]string // all of ours, where one of them differs; else nil
	drop        []string          // labels of others below a managed prefix
	annotations map[string]*string
	taints      func([]kube.Taint) []kube.Taint // nil where none differs
	before      *string                         // the note while the change is under way
	after       *string                         // the note when it is done
	differs     []string                        // for people, in order
}

func (c change) none() bool { return len(c.differs) == 0 }

// changeFor compares a Node with what its machine wants. Only what is ours is changed: what
// was noted as set by us, what is wanted now, and labels below the managed prefixes.
func changeFor(w Want, n kube.Node) change {
	var (
		c     = change{annotations: map[string]*string{}}
		was   = readNote(n.Annotations)
		tells = func(format string, args ...any) { c.differs = append(c.differs, fmt.Sprintf(format, args...)) }
	)

	if n.ProviderID == "" && w.ProviderID != "" && !w.CloudProvider {
		c.providerID = w.ProviderID

		tells("provider ID: none instead of %q", w.ProviderID)
	}

	if w.InService && drained(n) {
		c.uncordon = true

		tells("it takes no Pods since a drain, and its machine stays")
	}

	labels := c.compareLabels(w, n, was, tells)
	c.compareAnnotations(w, n, was, tells)
	taints := c.compareTaints(w, n, was, tells)

	will := note{Labels: slices.Collect(maps.Keys(labels)), Annotations: slices.Collect(maps.Keys(w.Annotations)), Taints: taints}
	c.before, c.after = was.plus(will).text(), will.text()

	if c.none() && textOf(c.after) != n.Annotations[noteKey] {
		tells("annotation %s: it does not say what is managed", noteKey)
	}

	slices.Sort(c.differs)

	return c
}

// compareLabels returns all labels that are to be ours.
func (c *change) compareLabels(w Want, n kube.Node, was note, tells func(string, ...any)) map[string]string {
	prefixes, _ := CheckSyncPrefixes(w.SyncPrefixes)
	ours, drop := synced(prefixes, w.HostLabels, n.Labels, w.Labels)
	maps.Copy(ours, w.Labels)

	differ := differences("label", ours, n.Labels, tells)

	for _, key := range was.Labels {
		if _, wanted := ours[key]; wanted {
			continue
		}

		if value, there := n.Labels[key]; there && !slices.Contains(drop, key) {
			tells("label %s: %q instead of none", key, value)

			differ = true
		}
	}

	for _, key := range drop {
		tells("label %s: %q instead of none, as on the host", key, n.Labels[key])

		differ = true
	}

	if differ {
		c.labels, c.drop = ours, drop
	}

	return ours
}

func (c *change) compareAnnotations(w Want, n kube.Node, was note, tells func(string, ...any)) {
	differences("annotation", w.Annotations, n.Annotations, tells)

	for key, value := range w.Annotations {
		if has, there := n.Annotations[key]; !there || has != value {
			c.annotations[key] = &value
		}
	}

	for _, key := range was.Annotations {
		if _, wanted := w.Annotations[key]; wanted {
			continue
		}

		if value, there := n.Annotations[key]; there && key != noteKey {
			tells("annotation %s: %q instead of none", key, value)

			c.annotations[key] = nil
		}
	}
}

// differences tells which of the wanted values are others.
func differences(kind string, want, have map[string]string, tells func(string, ...any)) bool {
	differ := false

	for _, key := range slices.Sorted(maps.Keys(want)) {
		value, there := have[key]

		switch {
		case !there:
			tells("%s %s: none instead of %q", kind, key, want[key])
		case value != want[key]:
			tells("%s %s: %q instead of %q", kind, key, value, want[key])
		default:
			continue
		}

		differ = true
	}

	return differ
}

// compareTaints returns the taints that are to be ours.
func (c *change) compareTaints(w Want, n kube.Node, was note, tells func(string, ...any)) []string {
	ours := make([]string, 0, len(w.Taints))
	for _, t := range w.Taints {
		ours = append(ours, taintID(t))
	}

	edit := func(have []kube.Taint) []kube.Taint { return editTaints(have, w.Taints, was.Taints) }
	want := edit(n.Taints)

	for _, t := range want {
		if !slices.Contains(n.Taints, t) {
			tells("taint %s: missing", taintText(t))
		}
	}

	for _, t := range n.Taints {
		if !slices.Contains(want, t) && !slices.Contains(ours, taintID(t)) {
			tells("taint %s: instead of none", taintText(t))
		}
	}

	if !slices.Equal(want, n.Taints) {
		c.taints = edit
	}

	return ours
}

// editTaints sets the wanted taints and takes away those that were ours, in a list in which
// all others stay as and where they are.
func editTaints(have, want []kube.Taint, ours []string) []kube.Taint {
	out := make([]kube.Taint, 0, len(have)+len(want))
	done := map[string]bool{}

	for _, t := range have {
		id := taintID(t)

		switch i := slices.IndexFunc(want, func(w kube.Taint) bool { return taintID(w) == id }); {
		case i >= 0 && !done[id]:
			out = append(out, want[i])
			done[id] = true
		case i < 0 && !slices.Contains(ours, id):
			out = append(out, t)
		}
	}

	for _, t := range want {
		if !done[taintID(t)] {
			out = append(out, t)
			done[taintID(t)] = true
		}
	}

	return out
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}

	return *s
}
