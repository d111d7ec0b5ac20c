// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose

import (
	"cmp"
	"fmt"
	"reflect"
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
		of      string
		reasons uintptr
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

		k := key{of, reflect.ValueOf(r.Reasons).Pointer()}

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
	texts, ofKind := map[string][]string{}, map[reason]map[string]bool{}

	for host, text := range r.Reasons {
		texts[text] = append(texts[text], host)

		if k, known := r.kinds[host]; known {
			if ofKind[k] == nil {
				ofKind[k] = map[string]bool{}
			}

			ofKind[k][text] = true
		}
	}

	for k, all := range ofKind {
		if len(all) <= hostsNamed {
			continue
		}

		for text := range all {
			texts[kinds[k]] = append(texts[kinds[k]], texts[text]...)
			delete(texts, text)
		}
	}

	out := make([]line, 0, len(texts))

	for text, hosts := range texts {
		slices.SortFunc(hosts, func(a, b string) int { return cmp.Or(natural(a, b), strings.Compare(a, b)) })
		out = append(out, line{text, hosts})
	}

	slices.SortFunc(out, func(a, b line) int {
		return cmp.Or(cmp.Compare(len(b.hosts), len(a.hosts)), natural(a.hosts[0], b.hosts[0]), strings.Compare(a.text, b.text))
	})

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
