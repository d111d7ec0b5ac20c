// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

const (
	blank = "***"

	textLimit = 1024      // of what a message quotes
	rawLimit  = 16 * 1024 // of what is looked at to find that text
)

var (
	// secretPair matches a name that holds a secret and its value, in JSON and in forms.
	secretPair = regexp.MustCompile(`(?i)((?:access_token|refresh_token|id_token|password|client_secret|assertion)\\?["']?\s*[:=]\s*)` +
		`(\\?"(?:[^"\\]|\\[^"])*(?:\\?"|$)|'[^']*'?|[^\s,;&})\]"']+)`)

	// bearer matches proofs that an answer echoes.
	bearer = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{16,}`)

	// jwt matches signed tokens: they begin with the base64 of {" and have dots inside.
	jwt = regexp.MustCompile(`\beyJ[\w=-]+\.[\w=.-]*`)
)

// redactor removes the secrets of a configuration from texts.
type redactor struct{ forms []string } // longest first

// newRedactor knows some secrets in the spellings in which a far side may echo them.
func newRedactor(secrets ...string) redactor {
	var r redactor

	for _, secret := range secrets {
		r.forms = append(r.forms, transport.Spellings(secret)...)
	}

	transport.LongestFirst(r.forms)

	return r
}

// and is the redactor with more secrets, of one request.
func (r redactor) and(secrets ...string) redactor {
	more := newRedactor(secrets...)
	more.forms = append(more.forms, r.forms...)
	transport.LongestFirst(more.forms)

	return more
}

// clean returns a text as a message may hold it: without secrets, on one line, bounded.
func (r redactor) clean(text string) string {
	text = strings.ToValidUTF8(clip(text, rawLimit), "")

	for _, form := range r.forms {
		text = without(text, form)
	}

	text = secretPair.ReplaceAllString(text, "${1}"+blank)
	text = bearer.ReplaceAllString(text, "${1} "+blank)
	text = jwt.ReplaceAllString(text, blank)

	return clip(oneLine(text), textLimit)
}

// without masks a secret. One of three letters or less is masked only where it stands alone:
// to mask it everywhere would leave nothing to read.
func without(text, secret string) string {
	if len(secret) > 3 {
		return strings.ReplaceAll(text, secret, blank)
	}

	alone := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

	var b strings.Builder

	for {
		at := strings.Index(text, secret)
		if at < 0 {
			b.WriteString(text)

			return b.String()
		}

		end := at + len(secret)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[end:])

		b.WriteString(text[:at])

		if (at == 0 || alone(before)) && (end == len(text) || alone(after)) {
			b.WriteString(blank)
		} else {
			b.WriteString(secret)
		}

		text = text[end:]
	}
}

// oneLine turns runs of blanks and of control characters into one blank.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// clip bounds a text, between two letters.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}

	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}

	return s[:limit] + "…"
}

// proofs are the secrets that a request itself carries.
func proofs(header http.Header, form url.Values) []string {
	var out []string

	for _, name := range []string{"Authorization", "X-Auth-Token", "Cookie"} {
		for _, value := range header.Values(name) {
			if _, proof, ok := strings.Cut(value, " "); ok {
				value = proof
			}

			out = append(out, value)
		}
	}

	for _, name := range []string{"password", "client_secret", "refresh_token", "token"} {
		out = append(out, form[name]...)
	}

	return out
}
