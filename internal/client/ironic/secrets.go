// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
)

const (
	blank      = "***"
	mask       = "******" // what Ironic shows instead of a secret
	manySecret = 8192     // bounds the memory: 1,000 machines with a few secrets each
)

var (
	// secretKey matches the names of driver_info and instance_info that hold secrets.
	secretKey = regexp.MustCompile(`(?i)passw|passphrase|secret|token|_key$|private|community|authorization`)

	// secretPair matches such a name and its value in the words of an answer.
	secretPair = regexp.MustCompile(`(?i)(['"\\]*[\w/.-]*(?:passw|passphrase|secret|token|priv_key|auth_key|user_data|configdrive)[\w-]*['"\\]*\s*[:=]\s*)` +
		`(u?\\?"(?:[^"\\]|\\[^"])*\\?"|u?'(?:[^'\\]|\\.)*'|[^\s,;})\]'"]+)`)
)

// scrubber removes from texts the secrets that passed through a client.
type scrubber struct {
	mu    sync.RWMutex
	known map[string]struct{}
	forms []string // all spellings of the known secrets, longest first
}

// learn remembers secrets for the life of the client: Ironic may repeat them later, in last_error.
func (s *scrubber) learn(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	grown := false

	for _, secret := range secrets {
		if _, ok := s.known[secret]; ok || secret == "" || secret == mask || len(s.known) >= manySecret {
			continue
		}

		if s.known == nil {
			s.known = map[string]struct{}{}
		}

		s.known[secret] = struct{}{}
		s.forms = append(s.forms, spellings(secret)...)
		grown = true
	}

	if grown {
		transport.LongestFirst(s.forms)
	}
}

// clean returns the text without the known secrets, without those given, and without
// the values of names that sound like a secret.
func (s *scrubber) clean(text string, more ...string) string {
	if text == "" {
		return ""
	}

	for _, secret := range more {
		for _, form := range spellings(secret) {
			text = erase(text, form)
		}
	}

	s.mu.RLock()
	for _, form := range s.forms {
		text = erase(text, form)
	}
	s.mu.RUnlock()

	return secretPair.ReplaceAllString(text, "${1}"+blank)
}

// erase replaces a secret. One that is an ordinary word goes only where it stands alone:
// with the password "password" a message about redfish_password must stay readable.
func erase(text, secret string) string {
	if !strings.Contains(text, secret) {
		return text
	}

	if strings.Trim(secret, "abcdefghijklmnopqrstuvwxyz") != "" && len(secret) > 2 {
		return strings.ReplaceAll(text, secret, blank)
	}

	return regexp.MustCompile(`\b`+regexp.QuoteMeta(secret)+`\b`).ReplaceAllString(text, blank)
}

// spellings are the forms in which a secret turns up in an answer: as it is, escaped for
// a URL, JSON or HTML, or in base64, alone or inside of something longer.
func spellings(secret string) []string {
	if secret == "" || secret == mask {
		return nil
	}

	lower := regexp.MustCompile(`%[0-9A-F]{2}`)
	forms := []string{secret, html.EscapeString(secret)}

	for _, escaped := range []string{url.QueryEscape(secret), url.PathEscape(secret)} {
		forms = append(forms, escaped, lower.ReplaceAllStringFunc(escaped, strings.ToLower))
	}

	if quoted, err := json.Marshal(secret); err == nil {
		inner := strings.Trim(string(quoted), `"`)
		forms = append(forms, inner, strings.ReplaceAll(inner, `\`, `\\`))
	}

	forms = append(forms, strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\r", `\r`, `"`, `\"`).Replace(secret))

	// Base64 depends on the position modulo 3; the characters that the neighbours share are left out.
	for shift := range 3 {
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			code := enc.EncodeToString(append(make([]byte, shift), secret...))
			code = code[(shift*8+5)/6 : (shift+len(secret))*8/6]

			if len(code) >= 4 {
				forms = append(forms, code)
			}
		}
	}

	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}

		return strings.Compare(a, b)
	})

	return slices.Compact(forms)
}

// secretsIn collects the secrets of a request body: lasting ones, which may turn up again
// in later answers, and config drives, which are only looked for in the answer to this request.
func secretsIn(body any) (lasting, passing []string) {
	var walk func(key string, value any, drive bool)

	walk = func(key string, value any, drive bool) {
		drive = drive || strings.Contains(key, "configdrive") || strings.Contains(key, "user_data")

		switch v := value.(type) {
		case string:
			switch {
			case drive && len(v) > 3:
				passing = append(passing, v)
			case secretKey.MatchString(key):
				lasting = append(lasting, v)
			}
		case map[string]any:
			for name, inner := range v {
				walk(innerKey(key, name), inner, drive)
			}
		case []any:
			for _, inner := range v {
				walk(key, inner, drive)
			}
		case []map[string]any:
			for _, inner := range v {
				walk(key, inner, drive)
			}
		case []operation:
			for _, op := range v {
				walk(op.Path, op.Value, drive)
			}
		}
	}
	walk("", body, false)

	return lasting, passing
}

// innerKey keeps the outer name where that already sounds like a secret.
func innerKey(outer, name string) string {
	if secretKey.MatchString(outer) {
		return outer
	}

	return name
}
