// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"net/http"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/api"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/fault"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/record"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/state"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic/version"
)

func listNodes(c *api.Call) (api.Answer, error)   { return nodeList(c, "nodes", false) }
func detailNodes(c *api.Call) (api.Answer, error) { return nodeList(c, "nodes/detail", true) }

func nodeList(c *api.Call, path string, detail bool) (api.Answer, error) {
	q, err := c.Query("associated", "driver", "fault", "maintenance", "provision_state", "resource_class",
		"instance_uuid", "owner", "lessee", "conductor_group", "conductor", "retired", "shard", "sharded", "chassis_uuid",
		"project", "description_contains", "parent_node", "include_children")
	if err != nil {
		return api.Answer{}, err
	}

	if err := checkFields(c, q.Fields); err != nil {
		return api.Answer{}, err
	}

	list, err := filtered(c, q)
	if err != nil {
		return api.Answer{}, err
	}

	q.Detail = q.Detail || detail

	return api.Page(c, q, list, api.Listing[*record.Node]{
		Name: "nodes", Path: path, Short: shortFields,
		ID:       func(n *record.Node) string { return n.UUID },
		Document: func(n *record.Node, fields []string) (map[string]any, error) { return document(c, n, fields) },
	})
}

// unlisted are fields that 29.0.5 cannot give when they are asked for one by one.
var unlisted = []string{"updated_at", "created_at"}

func checkFields(c *api.Call, fields []string) error {
	for _, f := range fields {
		switch {
		case slices.Contains(unlisted, f):
			return fault.Invalid("Field %s is not a valid field.", f)
		case version.FieldSince[f] > c.Minor:
			return fault.NotAcceptable()
		case f == "conductor" && c.R.PathValue("node") == "": // seen on 21.4 and 29.0
			return fault.Refuse(http.StatusInternalServerError, "'Node' object has no attribute 'conductor'")
		case !isField(c, f):
			return fault.Refuse(http.StatusInternalServerError, "type object 'Node' has no attribute '%s'", f)
		}
	}

	return nil
}

// isField tells whether nodes have a field; the answer comes from an empty node's document.
func isField(c *api.Call, name string) bool {
	doc, err := everything(c, &record.Node{Interfaces: map[string]string{}})
	_, ok := doc[name]

	return err == nil && (ok || slices.Contains(c.Kinds(), strings.TrimSuffix(name, "_interface")))
}

// filtered are the nodes that the query's filters leave, in the order it asks for.
func filtered(c *api.Call, q api.Query) ([]*record.Node, error) {
	keep, err := filters(c, q)
	if err != nil {
		return nil, err
	}

	all, err := candidates(c, q.Get("instance_uuid"))
	if err != nil {
		return nil, err
	}

	list := slices.DeleteFunc(all, func(n *record.Node) bool {
		return slices.ContainsFunc(keep, func(f func(*record.Node) bool) bool { return !f(n) })
	})

	switch key := q.Get("sort_key"); key {
	case "", "id", "created_at":
	case "uuid":
		slices.SortFunc(list, func(a, b *record.Node) int { return strings.Compare(a.UUID, b.UUID) })
	case "name":
		slices.SortFunc(list, func(a, b *record.Node) int { return strings.Compare(a.Name, b.Name) })
	case "provision_state":
		slices.SortStableFunc(list, func(a, b *record.Node) int { return strings.Compare(a.ProvisionState, b.ProvisionState) })
	default:
		return nil, fault.Invalid(`The sort_key value "%s" is an invalid field for sorting`, key)
	}

	if q.Get("sort_dir") == "desc" {
		slices.Reverse(list)
	}

	return list, nil
}

// candidates are the nodes that have an instance, which an index tells, or all where none is asked for.
func candidates(c *api.Call, instance string) ([]*record.Node, error) {
	if instance == "" {
		return c.Nodes()
	}

	id, err := c.NodeOf(instance)
	if err != nil || id == "" {
		return nil, err
	}

	n, err := c.Node(id)
	if err != nil {
		return nil, err
	}

	return []*record.Node{n}, nil
}

func filters(c *api.Call, q api.Query) ([]func(*record.Node) bool, error) {
	var keep []func(*record.Node) bool

	for name, get := range map[string]func(*record.Node) string{
		"driver": func(n *record.Node) string { return n.Driver }, "fault": func(n *record.Node) string { return n.Fault },
		"provision_state": func(n *record.Node) string { return n.ProvisionState },
		"resource_class":  func(n *record.Node) string { return n.ResourceClass },
		"instance_uuid":   func(n *record.Node) string { return n.InstanceUUID },
		"owner":           func(n *record.Node) string { return n.Owner }, "lessee": func(n *record.Node) string { return n.Lessee },
		"conductor_group": func(n *record.Node) string { return n.ConductorGroup },
		"conductor":       c.ConductorOf, "shard": func(n *record.Node) string { return n.Shard },
	} {
		if want := q.Get(name); want != "" {
			keep = append(keep, func(n *record.Node) bool { return get(n) == want })
		}
	}

	for name, get := range map[string]func(*record.Node) bool{
		"associated":  func(n *record.Node) bool { return n.InstanceUUID != "" },
		"maintenance": func(n *record.Node) bool { return n.Maintenance },
		"retired":     func(n *record.Node) bool { return n.Retired },
		"sharded":     func(n *record.Node) bool { return n.Shard != "" },
	} {
		if v := q.Get(name); v != "" {
			want, err := record.ParseBool(name, v)
			if err != nil {
				return nil, err
			}

			keep = append(keep, func(n *record.Node) bool { return get(n) == want })
		}
	}

	// A node that has a parent is a child and not listed unless asked for: with a defect of
	// 29.0.5-0+deb13u3 that made every patched node its own parent, hosts vanished from lists.
	if q.Get("include_children") == "" && q.Get("parent_node") == "" {
		keep = append(keep, func(n *record.Node) bool { return n.ParentNode == "" })
	}

	if name := q.Get("provision_state"); name != "" && !state.IsState(name) {
		return nil, fault.Invalid(`Provision state "%s" is not valid`, name)
	}

	return keep, nil
}
