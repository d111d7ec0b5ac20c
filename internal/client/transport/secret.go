// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Spellings are the forms in which a far side may echo a secret; an empty secret has none.
func Spellings(secret string) []string {
	if secret == "" {
		return nil
	}

	quoted, _ := json.Marshal(secret) //nolint:errchkjson // a string has always a form

	return []string{
		secret, strings.Trim(string(quoted), `"`), url.QueryEscape(secret), url.PathEscape(secret),
		base64.StdEncoding.EncodeToString([]byte(secret)),
	}
}

// LongestFirst sorts forms of secrets in the order in which they are to be looked for: one
// secret may be a part of another.
func LongestFirst(forms []string) {
	slices.SortStableFunc(forms, func(a, b string) int { return len(b) - len(a) })
}
