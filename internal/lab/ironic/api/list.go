// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
)

// Query is what a list was asked for.
type Query struct {
	url.Values
	Fields []string
	Detail bool
	limit  int
}

// Query reads the parameters that all lists share and refuses unknown ones.
func (c *Call) Query(known ...string) (Query, error) {
	q := Query{Values: c.R.URL.Query(), limit: c.PageSize}
	known = append(known, "fields", "limit", "marker", "sort_key", "sort_dir", "detail")

	for name := range q.Values {
		if !slices.Contains(known, name) {
			return q, fault.Invalid("Unexpected arguments: %s", name)
		}
	}

	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			return q, fault.Invalid("Expected an integer for limit: %s", v)
		}

		if n <= 0 {
			return q, fault.Invalid("Limit must be positive")
		}

		q.limit = min(n, c.PageSize) // more is silently less
	}

	if v := q.Get("fields"); v != "" {
		q.Fields = strings.Split(v, ",")
	}

	if v := q.Get("detail"); v != "" {
		b, err := record.ParseBool("detail", v)
		if err != nil {
			return q, err
		}

		q.Detail = b
	}

	if q.Detail && q.Fields != nil {
		return q, fault.Invalid("Can not specify ?detail=True and fields in the same request.")
	}

	if v := q.Get("marker"); v != "" && !record.IsUUID(v) {
		return q, fault.Invalid("Expected UUID for marker: %s", v)
	}

	return q, nil
}

// Listing is how a kind of resource is listed.
type Listing[T any] struct {
	Name, Path string   // of the list in the answer, of the request
	Short      []string // what a list shows that was asked for nothing else; nil: everything
	ID         func(T) string
	Document   func(v T, fields []string) (map[string]any, error)
}

// Page answers one page of a list: what follows the marker, and the link to the next one.
func Page[T any](c *Call, q Query, list []T, l Listing[T]) (Answer, error) {
	if marker := q.Get("marker"); marker != "" {
		i := slices.IndexFunc(list, func(v T) bool { return l.ID(v) == marker })
		list = list[i+1:]
	}

	if q.Detail {
		q.Fields, l.Short = nil, nil
	} else if q.Fields == nil {
		q.Fields = l.Short
	}

	body := map[string]any{}

	// As real Ironic does: a page that is just full has a next one, even if that is empty.
	if len(list) >= q.limit {
		list = list[:q.limit]
		body["next"] = c.Base() + "/v1/" + l.Path + "?" + q.after(l.ID(list[len(list)-1]), l.Short)
	}

	docs := make([]any, 0, len(list))

	for _, v := range list {
		doc, err := l.Document(v, q.Fields)
		if err != nil {
			return Answer{}, err
		}

		docs = append(docs, doc)
	}

	body[l.Name] = docs

	return OK(body), nil
}

// after is the query of the page that follows a marker.
func (q Query) after(marker string, short []string) string {
	params := fmt.Sprintf("sort_key=%s&sort_dir=%s", cmp.Or(q.Get("sort_key"), "id"), cmp.Or(q.Get("sort_dir"), "asc"))
	for _, name := range []string{
		"associated", "driver", "fault", "maintenance", "provision_state", "resource_class", "address", "node", "node_uuid", "detail",
	} {
		if v := q.Get(name); v != "" {
			params += "&" + name + "=" + url.QueryEscape(v)
		}
	}

	if fields := cmp.Or(q.Get("fields"), strings.Join(short, ",")); fields != "" {
		params += "&fields=" + fields
	}

	return params + fmt.Sprintf("&limit=%d&marker=%s", q.limit, marker)
}
