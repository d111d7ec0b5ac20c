// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"regexp"
	"strconv"
	"strings"
)

// hidden stands for what must not be shown.
const hidden = "(hidden)"

// pieceLen is how much of an unreadable answer is quoted.
const pieceLen = 120

// secretLike finds keys of cephx and the like, and what follows a word that names a secret.
var (
	keyLike    = regexp.MustCompile(`[A-Za-z0-9+/]{32,}={0,2}`)
	secretLike = regexp.MustCompile(`(?i)((?:\bkey|secret|passw(?:or)?d|token)["']?\s*[:=]\s*["']?)[^\s"',}]+`)
)

// redact hides what looks like a secret.
func redact(text string) string {
	return keyLike.ReplaceAllString(secretLike.ReplaceAllString(text, "${1}"+hidden), hidden)
}

// without hides these parts of a text. Very short ones stay: they would take other words with them.
func without(text string, secrets []string) string {
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= 4 {
			text = strings.ReplaceAll(text, s, hidden)
		}
	}

	return text
}

// piece quotes the start of a text, redacted as a whole, so that no cut makes a key unlike a key.
func piece(text string) string {
	text = redact(strings.TrimSpace(text))
	if len(text) > pieceLen {
		text = strings.ToValidUTF8(text[:pieceLen], "") + "…"
	}

	return strconv.Quote(text)
}
