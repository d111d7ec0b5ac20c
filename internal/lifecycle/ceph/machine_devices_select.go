// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// selected goes through the selectors, in their order: the first that matches has a device.
func (c *chooser) selected() {
	for i, s := range c.w.Storage.Selectors {
		m, err := s.matcher()
		if err != nil {
			c.problem("selector %d: %w", i+1, err)

			continue
		}

		c.selectOn(i, m)
	}
}

// selectOn takes what one selector matches on its hosts.
func (c *chooser) selectOn(i int, m matcher) {
	total, unseen := 0, false
	over := m.spec.Hosts

	if len(over) == 0 {
		for _, h := range c.w.Hosts {
			if slices.Contains(h.Roles, RoleOSD) {
				over = append(over, h.Name)
			}
		}
	}

	for _, name := range over {
		h := c.hosts[name]

		switch {
		case !c.hasRole(name):
			c.problem("selector %d names %s, which is no host with the role %s", i+1, name, RoleOSD)
		case h == nil:
			unseen = true
		default:
			total += c.selectAt(name, h, m)
		}
	}

	if total == 0 && !unseen && len(over) > 0 {
		c.problem("selector %d finds no device that can become an OSD: %s", i+1, c.reasons(over))
	}
}

// selectAt takes what a selector matches on one host, and says how many OSDs that are. What is an
// OSD already comes first: it counts towards the limit, and no other disk takes its place.
func (c *chooser) selectAt(name string, h *hostChoice, m matcher) int {
	devices := map[string]bool{} // several OSDs on a device count once

	for _, s := range h.facts.Slots {
		if h.kept[s.Key] || !m.matchesSlot(s, h.facts.Disks) {
			continue
		}

		devices[s.Path] = true

		c.keep(h, m.device(name, s.Path, c.w.Storage.OSDsPerDevice), s)
	}

	for _, d := range inOrder(h.facts.Disks) {
		why := c.selectOne(name, h, m, d, devices)

		switch {
		case why == "" && h.claims[d.Path] != "":
			delete(h.rejected, d.Path)
		case why != "" && h.rejected[d.Path] == "":
			h.rejected[d.Path] = why
		}
	}

	return len(devices)
}

// selectOne takes a disk, or says why not.
func (c *chooser) selectOne(name string, h *hostChoice, m matcher, d Disk, devices map[string]bool) string {
	if d.Missing || d.Type == typeFile || d.Type == typePart || h.isOSD(d) {
		return "" // not worth a word: a file, a part of a disk that has a word of its own, or an OSD
	}

	foreign, why := c.judge(h, d, false)

	switch {
	case why != "":
		return why
	case !m.matches(d):
		return "no selector matches it"
	case m.spec.Limit > 0 && len(devices) >= m.spec.Limit:
		return fmt.Sprintf("the selector's limit of %d is reached", m.spec.Limit)
	}

	delete(h.rejected, d.Path)

	spec := m.device(name, d.Stable(), c.w.Storage.OSDsPerDevice)
	devices[spec.Path] = true

	c.fresh(h, spec, d, foreign)

	return ""
}

// isOSD reports whether a disk is the device of an OSD of ours that is wanted.
func (h *hostChoice) isOSD(d Disk) bool {
	if slices.ContainsFunc(h.picks, func(p Pick) bool { return p.Disk == d.Path }) {
		return true
	}

	return slices.ContainsFunc(h.facts.Slots, func(s Slot) bool {
		return h.kept[s.Key] && slices.ContainsFunc(slotDisks(s, h.facts.Disks), func(o Disk) bool { return o.Path == d.Path })
	})
}

// reasons lists what is wrong with each device of these hosts.
func (c *chooser) reasons(hosts []string) string {
	var words []string

	for _, name := range hosts {
		h := c.hosts[name]
		if h == nil {
			continue
		}

		for _, p := range sortedKeys(h.rejected) {
			words = append(words, fmt.Sprintf("%s on %s: %s", p, name, h.rejected[p]))
		}
	}

	if len(words) == 0 {
		return "there are no devices"
	}

	return strings.Join(words, "; ")
}

// inOrder sorts disks by the names that change least, so that a limit takes the same ones whatever
// the kernel calls them.
func inOrder(disks []Disk) []Disk {
	out := slices.Clone(disks)
	slices.SortStableFunc(out, func(a, b Disk) int { return strings.Compare(a.Stable(), b.Stable()) })

	return out
}

// matcher is a selector that is ready to be asked.
type matcher struct {
	spec       Selector
	name, path *regexp.Regexp // nil: any
}

// Check says what is wrong with a selector.
func (s Selector) Check() error {
	_, err := s.matcher()

	return err
}

func (s Selector) matcher() (matcher, error) {
	m := matcher{spec: s}

	if !s.All && s.NameRegex == "" && s.PathRegex == "" && s.MinSize == 0 && s.MaxSize == 0 && s.Rotational == nil {
		return m, fmt.Errorf("it says nothing of the devices: all = true takes all of them")
	}

	for _, r := range []struct {
		text string
		to   **regexp.Regexp
	}{{s.NameRegex, &m.name}, {s.PathRegex, &m.path}} {
		if r.text == "" {
			continue
		}

		// The text must stand on its own: a parenthesis of its own must not end ours.
		if _, err := regexp.Compile(r.text); err != nil {
			return m, fmt.Errorf("not a pattern: %w", err)
		}

		*r.to = regexp.MustCompile(`^(?:` + r.text + `)$`)
	}

	return m, nil
}

// device is what a selector says of a device that it takes.
func (m matcher) device(host, path string, count int) DeviceSpec {
	return DeviceSpec{Host: host, Path: path, Class: m.spec.Class, Encrypted: m.spec.Encrypted, Count: count}
}

// matches reports whether a disk is what the selector wants.
func (m matcher) matches(d Disk) bool {
	return m.fits(d) && m.named([]string{d.Name}, append([]string{d.Path, "/dev/" + d.Name}, d.Links...))
}

// matchesSlot reports whether an OSD is what the selector wants. A name that the kernel has changed
// since does not take an OSD away, nor does a device that is not there today: only the
// configuration does.
func (m matcher) matchesSlot(s Slot, disks []Disk) bool {
	names := []string{s.Was}
	paths := []string{s.Path, s.Link, "/dev/" + s.Was}

	found := slotDisks(s, disks)
	if len(found) == 0 {
		return s.Backend != BackendFile
	}

	for _, d := range found {
		names = append(names, d.Name)
		paths = append(append(paths, d.Path), d.Links...)
	}

	return m.named(names, paths) && slices.ContainsFunc(found, m.fits)
}

// fits compares size and kind.
func (m matcher) fits(d Disk) bool {
	switch {
	case m.spec.MinSize > 0 && d.Size < m.spec.MinSize:
		return false
	case m.spec.MaxSize > 0 && d.Size > m.spec.MaxSize:
		return false
	default:
		return m.spec.Rotational == nil || *m.spec.Rotational == d.Rotational
	}
}

// named compares names: one of each kind that the selector asks for has to match as a whole.
func (m matcher) named(names, paths []string) bool {
	match := func(re *regexp.Regexp, all []string) bool {
		return re == nil || slices.ContainsFunc(all, func(s string) bool { return s != "" && re.MatchString(s) })
	}

	return match(m.name, names) && match(m.path, paths)
}
