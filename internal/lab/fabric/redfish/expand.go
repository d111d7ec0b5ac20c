// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// maxLevels is how deep $expand goes.
const maxLevels = 3

var expandQuery = regexp.MustCompile(`^([.~*])(?:\(\$levels=([1-9])\))?$`)

// show answers a GET of a document: a page of it, expanded as asked.
func (c *call) show(doc obj) (answer, error) {
	t := tag(doc)

	for name := range c.query {
		if strings.HasPrefix(name, "$") && name != "$skip" && (name != "$expand" || c.o.NoExpand) {
			return failure(http.StatusNotImplemented, "QueryNotSupported", "the query "+name+" is not supported"), nil
		}
	}

	if a, ok := c.page(doc); !ok {
		return a, nil
	}

	if how := c.query.Get("$expand"); how != "" {
		parts := expandQuery.FindStringSubmatch(how)
		if parts == nil {
			return bad("QueryParameterValueFormatError", "$expand="+how), nil
		}

		levels, _ := strconv.Atoi(parts[2]) // digits, or none: one level
		x := expansion{c: c, inside: parts[1] != ".", outside: parts[1] != "~"}

		for key, v := range doc {
			if key == "Links" && !x.inside || key != "Links" && !x.outside {
				continue
			}

			doc[key] = x.expand(v, min(max(levels, 1), maxLevels))
		}

		if x.err != nil {
			return answer{}, x.err
		}
	}

	doc["@odata.etag"] = t

	return answer{code: http.StatusOK, header: http.Header{"Etag": {t}}, body: doc}, nil
}

// page cuts a collection to the page asked for. False: the answer is the refusal.
func (c *call) page(doc obj) (answer, bool) {
	members, ok := doc["Members"].(list)
	if !ok {
		return answer{}, true
	}

	skip := 0

	if text := c.query.Get("$skip"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return bad("QueryParameterOutOfRange", "$skip="+text), false
		}

		skip = min(n, len(members))
	}

	end := len(members)
	if c.o.PageSize > 0 {
		end = min(end, skip+c.o.PageSize)
	}

	if end < len(members) {
		next := "$skip=" + strconv.Itoa(end)
		if how := c.query.Get("$expand"); how != "" {
			next += "&$expand=" + url.QueryEscape(how)
		}

		doc["Members@odata.nextLink"] = c.path + "?" + next
	}

	doc["Members"] = members[skip:end]

	return answer{}, true
}

// expansion puts documents in the place of references.
type expansion struct {
	c               *call
	inside, outside bool // of Links
	err             error
}

func (x *expansion) expand(v any, levels int) any {
	switch v := v.(type) {
	case list:
		out := make(list, 0, len(v))
		for _, e := range v {
			out = append(out, x.expand(e, levels))
		}

		return out
	case obj:
		path, _ := v["@odata.id"].(string)
		if len(v) == 1 && path != "" {
			return x.follow(v, path, levels)
		}

		return x.inner(v, levels)
	default:
		return v
	}
}

// inner expands what is below an object.
func (x *expansion) inner(o obj, levels int) obj {
	for key, e := range o {
		if key == "Links" && !x.inside || key == "Actions" {
			continue
		}

		o[key] = x.expand(e, levels)
	}

	return o
}

func (x *expansion) follow(reference obj, path string, levels int) any {
	if levels == 0 {
		return reference
	}

	doc, err := x.c.document(path)
	if err != nil {
		x.err = err
	}

	if doc == nil {
		return reference
	}

	t := tag(doc)
	doc = x.inner(doc, levels-1)
	doc["@odata.etag"] = t

	return doc
}
