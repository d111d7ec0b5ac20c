// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// query is what a list was asked for.
type query struct {
	url.Values
	fields []string
	detail bool
	limit  int
}

var booleans = map[string]bool{
	"1": true, "t": true, "true": true, "on": true, "y": true, "yes": true,
	"0": false, "f": false, "false": false, "off": false, "n": false, "no": false,
}

func parseBool(name, v string) (bool, error) {
	b, ok := booleans[strings.ToLower(v)]
	if !ok {
		return false, invalid("Invalid %s: Unrecognized value '%s', acceptable values are: "+
			"'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'", name, v)
	}

	return b, nil
}

// listQuery reads the parameters that all lists share and refuses unknown ones.
func (c *call) listQuery(known ...string) (query, error) {
	q := query{Values: c.r.URL.Query(), limit: c.PageSize}
	known = append(known, "fields", "limit", "marker", "sort_key", "sort_dir", "detail")

	for name := range q.Values {
		if !slices.Contains(known, name) {
			return q, invalid("Unexpected arguments: %s", name)
		}
	}

	if v := q.Get("limit"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil {
			return q, invalid("Expected an integer for limit: %s", v)
		}

		if n <= 0 {
			return q, invalid("Limit must be positive")
		}

		q.limit = min(n, c.PageSize) // more is silently less
	}

	if v := q.Get("fields"); v != "" {
		q.fields = strings.Split(v, ",")
	}

	if v := q.Get("detail"); v != "" {
		b, err := parseBool("detail", v)
		if err != nil {
			return q, err
		}

		q.detail = b
	}

	if q.detail && q.fields != nil {
		return q, invalid("Can not specify ?detail=True and fields in the same request.")
	}

	if v := q.Get("marker"); v != "" && !isUUID(v) {
		return q, invalid("Expected UUID for marker: %s", v)
	}

	return q, nil
}

// page cuts one page out of a list: what follows the marker, and the link to the next one.
func page[T any](c *call, q query, list []T, id func(T) string, short []string, path string) ([]T, string) {
	if marker := q.Get("marker"); marker != "" {
		i := slices.IndexFunc(list, func(v T) bool { return id(v) == marker })
		list = list[i+1:]
	}

	if len(list) < q.limit || len(list) == 0 {
		return list, ""
	}

	// As real Ironic does: a page that is just full has a next one, even if that is empty.
	list = list[:q.limit]

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

	params += fmt.Sprintf("&limit=%d&marker=%s", q.limit, id(list[len(list)-1]))

	return list, c.base() + "/v1/" + path + "?" + params
}

func (c *call) listNodes() (answer, error)   { return c.nodeList("nodes", false) }
func (c *call) detailNodes() (answer, error) { return c.nodeList("nodes/detail", true) }

func (c *call) nodeList(path string, detail bool) (answer, error) {
	q, err := c.listQuery("associated", "driver", "fault", "maintenance", "provision_state", "resource_class",
		"instance_uuid", "owner", "lessee", "conductor_group", "conductor", "retired", "shard", "sharded", "chassis_uuid",
		"project", "description_contains", "parent_node", "include_children")
	if err != nil {
		return answer{}, err
	}

	if err := c.checkFields(q.fields); err != nil {
		return answer{}, err
	}

	detail = detail || q.detail

	list, err := c.filtered(q)
	if err != nil {
		return answer{}, err
	}

	fields, short := q.fields, shortFields
	if detail {
		fields, short = nil, nil
	} else if fields == nil {
		fields = shortFields
	}

	list, next := page(c, q, list, func(n *node) string { return n.UUID }, short, path)
	docs := make([]any, 0, len(list))

	for _, n := range list {
		doc, err := c.document(n, fields)
		if err != nil {
			return answer{}, err
		}

		docs = append(docs, doc)
	}

	body := map[string]any{"nodes": docs}
	if next != "" {
		body["next"] = next
	}

	return answer{status: http.StatusOK, body: body}, nil
}

// unlisted are fields that 29.0.5 cannot give when they are asked for one by one.
var unlisted = []string{"updated_at", "created_at"}

func (c *call) checkFields(fields []string) error {
	for _, f := range fields {
		switch {
		case slices.Contains(unlisted, f):
			return invalid("Field %s is not a valid field.", f)
		case fieldSince[f] > c.minor:
			return notAcceptable()
		case f == "conductor" && c.r.PathValue("node") == "": // seen on 21.4 and 29.0
			return refuse(http.StatusInternalServerError, "'Node' object has no attribute 'conductor'")
		case !c.isField(f):
			return refuse(http.StatusInternalServerError, "type object 'Node' has no attribute '%s'", f)
		}
	}

	return nil
}

// isField tells whether nodes have a field; the answer comes from an empty node's document.
func (c *call) isField(name string) bool {
	doc, err := c.fields(&node{Interfaces: map[string]string{}})
	_, ok := doc[name]

	return err == nil && (ok || slices.Contains(c.kinds(), strings.TrimSuffix(name, "_interface")))
}

// filtered are the nodes that the query's filters leave, in the order it asks for.
func (c *call) filtered(q query) ([]*node, error) {
	keep, err := c.filters(q)
	if err != nil {
		return nil, err
	}

	all, err := c.nodes()
	if err != nil {
		return nil, err
	}

	list := slices.DeleteFunc(all, func(n *node) bool {
		return slices.ContainsFunc(keep, func(f func(*node) bool) bool { return !f(n) })
	})

	switch key := q.Get("sort_key"); key {
	case "", "id", "created_at":
	case "uuid":
		slices.SortFunc(list, func(a, b *node) int { return strings.Compare(a.UUID, b.UUID) })
	case "name":
		slices.SortFunc(list, func(a, b *node) int { return strings.Compare(a.Name, b.Name) })
	case "provision_state":
		slices.SortStableFunc(list, func(a, b *node) int { return strings.Compare(a.ProvisionState, b.ProvisionState) })
	default:
		return nil, invalid(`The sort_key value "%s" is an invalid field for sorting`, key)
	}

	if q.Get("sort_dir") == "desc" {
		slices.Reverse(list)
	}

	return list, nil
}

func (c *call) filters(q query) ([]func(*node) bool, error) {
	var keep []func(*node) bool

	for name, get := range map[string]func(*node) string{
		"driver": func(n *node) string { return n.Driver }, "fault": func(n *node) string { return n.Fault },
		"provision_state": func(n *node) string { return n.ProvisionState },
		"resource_class":  func(n *node) string { return n.ResourceClass },
		"instance_uuid":   func(n *node) string { return n.InstanceUUID },
		"owner":           func(n *node) string { return n.Owner }, "lessee": func(n *node) string { return n.Lessee },
		"conductor_group": func(n *node) string { return n.ConductorGroup },
		"conductor":       c.conductorOf, "shard": func(n *node) string { return n.Shard },
	} {
		if want := q.Get(name); want != "" {
			keep = append(keep, func(n *node) bool { return get(n) == want })
		}
	}

	for name, get := range map[string]func(*node) bool{
		"associated":  func(n *node) bool { return n.InstanceUUID != "" },
		"maintenance": func(n *node) bool { return n.Maintenance },
		"retired":     func(n *node) bool { return n.Retired },
		"sharded":     func(n *node) bool { return n.Shard != "" },
	} {
		if v := q.Get(name); v != "" {
			want, err := parseBool(name, v)
			if err != nil {
				return nil, err
			}

			keep = append(keep, func(n *node) bool { return get(n) == want })
		}
	}

	// A node that has a parent is a child and not listed unless asked for: with a defect of
	// 29.0.5-0+deb13u3 that made every patched node its own parent, hosts vanished from lists.
	if q.Get("include_children") == "" && q.Get("parent_node") == "" {
		keep = append(keep, func(n *node) bool { return n.ParentNode == "" })
	}

	if state := q.Get("provision_state"); state != "" && verbs[state] == nil {
		return nil, invalid(`Provision state "%s" is not valid`, state)
	}

	return keep, nil
}
