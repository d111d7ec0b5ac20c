// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import (
	"bytes"
	"encoding/json"
	"html"
	"regexp"
	"strings"
)

// form is the form of an error answer.
type form int

const (
	formNone form = iota
	formFTI
	formRedfish
	formShort
	formPlain
)

// said is what the body of an error answer says.
type said struct {
	code string
	text string
	form form
	ids  []string // of messages (Redfish)

	status bool // the body says it too (FTI)
	ours   bool // it has the form in which a fabric manager words its errors
	html   bool
	empty  bool
}

// body is the union of the forms in which managers, their mocks and proxies word errors.
type errorBody struct {
	Status  Text            `json:"status"`
	Detail  json.RawMessage `json:"detail"`
	Error   json.RawMessage `json:"error"`
	Code    Text            `json:"code"`
	Message Text            `json:"message"`
	Words   Text            `json:"error_description"` // OAuth 2

	// What only other services write: Kubernetes, Spring and OpenStack.
	APIVersion Text `json:"apiVersion"`
	Timestamp  Text `json:"timestamp"`
	Path       Text `json:"path"`
}

// inner is the object below detail or error.
type inner struct {
	Code     Text           `json:"code"`
	Message  Text           `json:"message"`
	Title    Text           `json:"title"`
	Extended List[extended] `json:"@Message.ExtendedInfo"`
}

type extended struct {
	ID   Text `json:"MessageId"`
	Text Text `json:"Message"`
}

var titleTag = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// readError finds the code and the words of an error answer, in any of the dialects.
func readError(body []byte) said {
	body = bytes.TrimSpace(body)

	if len(body) == 0 {
		return said{empty: true, text: "no words"}
	}

	if isHTML(body) {
		return said{html: true, text: "HTML: " + title(body)}
	}

	var b errorBody
	if body[0] != '{' || json.Unmarshal(body, &b) != nil {
		return said{text: string(body[:min(len(body), rawLimit)])}
	}

	for i, read := range []func(errorBody) (said, bool){ftiForm, redfishForm, shortForm, plainForm} {
		if s, ok := read(b); ok {
			s.form = []form{formFTI, formRedfish, formShort, formPlain}[i]
			s.ours = s.ours && b.APIVersion == "" && (b.Timestamp == "" || b.Path == "")

			return s
		}
	}

	return said{text: string(body[:min(len(body), rawLimit)])}
}

// ftiForm is {"status":404,"detail":{"code":"E02…","message":…}}; message may be an object.
func ftiForm(b errorBody) (said, bool) {
	in, ok := object(b.Detail)
	if !ok || (in.Code == "" && in.Message == "") {
		return said{}, false
	}

	return said{code: in.Code.Trim(), text: in.Message.Trim(), status: NumberOf(string(b.Status)).Known, ours: true}, true
}

// redfishForm is {"error":{"code":"Base.1.8.…","message":…,"@Message.ExtendedInfo":[…]}}.
func redfishForm(b errorBody) (said, bool) {
	in, ok := object(b.Error)
	if !ok {
		return said{}, false
	}

	s := said{code: in.Code.Trim(), text: in.Message.Trim(), ids: []string{in.Code.Trim()}}
	// OpenStack has numbers as codes there, and titles.
	s.ours = s.code != "" && in.Title == "" && !NumberOf(s.code).Known

	var more []string

	for _, e := range in.Extended.Items {
		if id := e.ID.Trim(); id != "" && (s.code == "" || strings.HasSuffix(s.code, ".GeneralError") || strings.HasSuffix(s.code, ".ExtendedInfo")) {
			s.code, s.ours = id, true
		}

		s.ids = append(s.ids, e.ID.Trim())

		if text := e.Text.Trim(); text != "" && text != s.text {
			more = append(more, text)
		}
	}

	s.text = strings.TrimSpace(strings.Join(append([]string{s.text}, more...), " "))

	return s, s.code != "" || s.text != ""
}

// shortForm is {"error":"x"} or {"error":"x","message":"y"}. "Not Found" alone is what
// routers of any service say of a path that they do not know.
func shortForm(b errorBody) (said, bool) {
	var t Text

	_ = t.UnmarshalJSON(b.Error) // takes everything

	word := t.Trim()
	if word == "" {
		return said{}, false
	}

	s := said{code: b.Code.Trim(), text: b.Message.Trim()}

	if s.text == "" {
		s.text = b.Words.Trim()
	}

	if s.text == "" {
		s.text = word
	} else if s.code == "" {
		s.code = word
	}

	s.ours = !strings.EqualFold(s.text, "not found") && !strings.EqualFold(word, "not found")

	return s, true
}

// plainForm is {"code":"E404001","message":"…"} (CDIM).
func plainForm(b errorBody) (said, bool) {
	s := said{code: b.Code.Trim(), text: b.Message.Trim()}
	if s.text == "" && s.code == "" {
		return said{}, false
	}

	s.ours = s.code != "" && s.text != "" && !NumberOf(s.code).Known

	return s, true
}

func object(raw json.RawMessage) (inner, bool) {
	var in inner

	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &in) != nil {
		return inner{}, false
	}

	return in, true
}

func isHTML(body []byte) bool { return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) }

func title(body []byte) string {
	if m := titleTag.FindSubmatch(body[:min(len(body), rawLimit)]); m != nil {
		if t := strings.TrimSpace(html.UnescapeString(string(m[1]))); t != "" {
			return t
		}
	}

	return "without a title"
}
