// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// How much one message tells.
const (
	hostsNamed   = 4  // of those that share a reason
	reasonsTold  = 16 // of one pool
	machinesTold = 4
)

// Explain says for people which machines have no host, and why each host is none for them.
// Hosts that share a reason share a line, so that it stays readable with any number of hosts.
func Explain(refused []Refused) string {
	var out strings.Builder

	for _, g := range grouped(refused) {
		if out.Len() > 0 {
			out.WriteString("\n\n")
		}

		g.write(&out)
	}

	return out.String()
}

// group is machines of one pool that were refused for the same reasons.
type group struct {
	of       string
	machines []string
	first    Refused
}

func grouped(refused []Refused) []group {
	type key struct {
		of    string
		first *Reason // of those that they share
	}

	var out []group

	at := map[key]int{}

	for _, r := range refused {
		of := "the control plane"

		switch {
		case r.ControlPlane:
		case r.Pool != "":
			of = fmt.Sprintf("worker pool %q", r.Pool)
		default:
			of = "machine " + r.Machine
		}

		k := key{of: of}
		if len(r.Reasons) > 0 {
			k.first = &r.Reasons[0]
		}

		i, there := at[k]
		if !there {
			i = len(out)
			at[k] = i
			out = append(out, group{of: of, first: r})
		}

		out[i].machines = append(out[i].machines, r.Machine)
	}

	return out
}

func (g group) write(out *strings.Builder) {
	verb := "hosts are"
	if len(g.machines) == 1 {
		verb = "host is"
	}

	fmt.Fprintf(out, "%d %s missing for %s (%s).", len(g.machines), verb, g.of, some(g.machines, machinesTold))

	if len(g.first.Reasons) == 0 {
		out.WriteString(" There are no hosts at all: enrol some (metal3_baremetal_host), and let the cluster depend on them.")

		return
	}

	fmt.Fprintf(out, " Of %s, none is left:", plural(len(g.first.Reasons), "host"))

	lines, hidden := g.first.lines(), 0
	for i, l := range lines {
		if i >= reasonsTold && len(lines) > reasonsTold+1 {
			hidden += len(l.hosts)

			continue
		}

		fmt.Fprintf(out, "\n  - %s: %s", some(l.hosts, hostsNamed), l.text)
	}

	if hidden > 0 {
		fmt.Fprintf(out, "\n  - %s more, for other reasons", plural(hidden, "host"))
	}
}

// line is a reason and the hosts that share it.
type line struct {
	text  string
	hosts []string
}

// lines are the reasons, the most frequent first. Reasons of one kind that differ in detail
// become one where they are many.
func (r Refused) lines() []line {
	details := map[reason]map[string]bool{}

	for _, one := range r.Reasons {
		if details[one.kind] == nil {
			details[one.kind] = map[string]bool{}
		}

		details[one.kind][one.Text] = true
	}

	var out []line

	at := map[string]int{} // by text

	for _, one := range r.Reasons {
		text := one.Text
		if one.kind != fits && len(details[one.kind]) > hostsNamed { // a caller's own reason has no kind
			text = kinds[one.kind]
		}

		i, there := at[text]
		if !there {
			i = len(out)
			at[text] = i
			out = append(out, line{text: text})
		}

		out[i].hosts = append(out[i].hosts, one.Host)
	}

	slices.SortStableFunc(out, func(a, b line) int { return cmp.Compare(len(b.hosts), len(a.hosts)) })

	return out
}

// some names the first of many and counts the others.
func some(all []string, most int) string {
	if len(all) <= most+1 {
		return strings.Join(all, ", ")
	}

	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return fmt.Sprintf("%d %ss", n, what)
}
