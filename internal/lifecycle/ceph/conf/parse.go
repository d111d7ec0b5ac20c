// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conf

import "strings"

// File is a configuration file: section, option in its one spelling, value.
type File map[string]map[string]string

// Get returns an option; empty: it is not set.
func (f File) Get(section, name string) string { return f[section][Key(name)] }

// Parse reads a configuration file, whoever wrote it. It leaves out what it does not understand.
func Parse(text []byte) File {
	all := File{}
	section := "global"

	for line := range lines(string(text)) {
		line = strings.TrimSpace(line)

		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			section, _, _ = strings.Cut(line[1:], "]")
			section = strings.TrimSpace(section)
		default:
			name, value, found := strings.Cut(line, "=")
			if !found {
				continue
			}

			if all[section] == nil {
				all[section] = map[string]string{}
			}

			all[section][Key(name)] = unescape(value)
		}
	}

	return all
}

// lines yields the lines of a file. A backslash at the end of one joins the next, unless it is
// itself marked, or in a comment.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		joined := ""

		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			trimmed := strings.TrimLeft(joined+line, " \t")
			marks := len(line) - len(strings.TrimRight(line, `\`))

			if marks%2 == 1 && !strings.HasPrefix(trimmed, "#") && !strings.HasPrefix(trimmed, ";") {
				joined += line[:len(line)-1]

				continue
			}

			if !yield(joined + line) {
				return
			}

			joined = ""
		}

		if joined != "" {
			yield(joined)
		}
	}
}

// unescape is a value as Ceph reads it: without a comment, quotes around it, and marks.
func unescape(raw string) string {
	var b strings.Builder

	raw = strings.TrimSpace(raw)
	quote := byte(0)

	if raw != "" && (raw[0] == '"' || raw[0] == '\'') {
		quote, raw = raw[0], raw[1:]
	}

	for i := 0; i < len(raw); i++ {
		c := raw[i]

		if c == quote && quote != 0 || c == '#' || c == ';' {
			break
		}

		if c == '\\' && i+1 < len(raw) {
			i++
			c = raw[i]
		}

		b.WriteByte(c)
	}

	return strings.TrimSpace(b.String())
}
