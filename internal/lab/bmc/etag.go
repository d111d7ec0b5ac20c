// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bmc

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
)

// How a BMC handles ETags (Faults.ETagMode). The corpus of real boards knows all of them.
const (
	etagStrict   = "strict"   // a stale If-Match is refused; without one anything goes
	etagRequired = "required" // strict, and a PATCH without If-Match is refused
	etagWeak     = "weak"     // gives W/"x" and takes nothing but "x"
	etagNone     = "none"     // gives none
)

func (c *call) etagMode() string {
	if c.m.Faults.ETagMode == "" && c.m.Faults.StrictETag {
		return etagStrict
	}

	return c.m.Faults.ETagMode
}

// tag is the strong ETag of a document: what is not in it yet, does not count.
func tag(doc obj) string {
	raw, err := json.Marshal(doc)
	if err != nil {
		return `"0"`
	}

	sum := sha256.Sum256(raw)

	return `"` + hex.EncodeToString(sum[:6]) + `"`
}

// resource answers with a document and its ETag. What the caller adds to the document
// afterwards is sent, but does not change the tag.
func (c *call) resource(doc obj) answer {
	a := answer{code: http.StatusOK, body: doc}
	t := tag(doc)

	switch c.etagMode() {
	case etagNone:
		return a
	case etagWeak:
		t = "W/" + t
	}

	doc["@odata.etag"] = t
	a.header = http.Header{"Etag": {t}}

	return a
}

// precondition checks the If-Match of a change of a document; true: the answer is the refusal.
func (c *call) precondition(doc obj) (answer, bool, error) {
	match, mode := c.r.Header.Get("If-Match"), c.etagMode()
	stale := failure(http.StatusPreconditionFailed, "PreconditionFailed", "the resource has changed")

	switch {
	case match == "*":
		return answer{}, false, nil
	case match == "":
		if mode == etagRequired && c.r.Method == http.MethodPatch {
			return failure(http.StatusPreconditionRequired, "PreconditionRequired", "If-Match is missing"), true, nil
		}

		return answer{}, false, nil
	case c.m.Faults.StaleETags > 0:
		c.m.Faults.StaleETags--

		return stale, true, c.save()
	case mode == etagStrict || mode == etagRequired || mode == etagWeak:
		return stale, match != tag(doc), nil
	}

	return answer{}, false, nil
}
