// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"regexp"
	"strings"
)

const maxWords = 600

var (
	colour = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	// logLine is a line that librados wrote for its log, from release 14 on with a T:
	// "2024-02-03T04:05:06.789+0000 7f8a3179b6c0 -1 auth: …". They may hold keys: a keyring that
	// cannot be parsed is quoted.
	logLine = regexp.MustCompile(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\.\d+\S* [0-9a-f]+ +-?\d+ `)
	// key is a cephx key: base64 of type 1, a time, and 16 bytes; it always begins with AQ.
	key = regexp.MustCompile(`\bAQ[A-Za-z0-9+/]{36,}=*`)
)

// Words returns what a tool of Ceph said on its standard error, without its log, without
// colours, and without keys.
func Words(stderr string) string {
	var kept []string

	for line := range strings.Lines(colour.ReplaceAllString(stderr, "")) {
		line = strings.TrimRight(line, "\r\n")
		if logLine.MatchString(line) || (line == "" && len(kept) == 0) {
			continue
		}

		kept = append(kept, line)
	}

	return strings.TrimSpace(key.ReplaceAllString(strings.Join(kept, "\n"), "***"))
}

// Last returns the end of some words: what went wrong stands last.
func Last(words string) string {
	if len(words) <= maxWords {
		return words
	}

	return "…" + strings.ToValidUTF8(words[len(words)-maxWords:], "")
}
