// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// What hangs on a node and has its own path: validation, inventory, traits, history.

func (c *call) validate() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	body := map[string]any{}

	for _, kind := range []string{
		"boot", "deploy", "management", "network", "power", "bios", "console", "firmware", "inspect", "raid", "rescue", "storage",
	} {
		if kind == "firmware" && c.Service.minor < 86 {
			continue
		}

		body[kind] = verdict(n, kind)
	}

	return answer{status: http.StatusOK, body: body}, nil
}

func verdict(n *node, kind string) map[string]any {
	why := ""

	switch {
	case strings.HasPrefix(n.Interfaces[kind], "no-"):
		why = unsupported(n.Driver, kind)
	case kind == "deploy":
		why = deployProblem(n)
	case kind == "power", kind == "management", kind == "boot":
		why = powerProblem(n)
	}

	if why != "" {
		return map[string]any{"result": false, "reason": why}
	}

	return map[string]any{"result": true}
}

func (c *call) showInventory() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if c.minor < 81 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	var data inventory

	ok, err := c.tx.Get(inventoryBucket, n.UUID, &data)
	if err == nil && !ok {
		err = refuse(http.StatusNotFound, "Node inventory record for node %d could not be found.", n.Seq)
	}

	return answer{status: http.StatusOK, body: data}, err
}

var traitPattern = regexp.MustCompile(`^CUSTOM_[A-Z0-9_]+$`)

// standardTrait lets through what os-traits would know, by its prefixes.
func standardTrait(t string) bool {
	return slices.ContainsFunc([]string{"HW_", "COMPUTE_", "STORAGE_", "MISC_", "OWNER_"}, func(p string) bool {
		return strings.HasPrefix(t, p)
	})
}

func checkTrait(t string) error {
	if !traitPattern.MatchString(t) && !standardTrait(t) {
		return invalid("Schema error for body: '%s' is not valid under any of the given schemas. Possible root cause: "+
			"'%s' does not match '^CUSTOM_[A-Z0-9_]+$'", t, t)
	}

	return nil
}

func (c *call) listTraits() (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	return answer{status: http.StatusOK, body: map[string]any{"traits": nonNil(n.Traits)}}, nil
}

// changeTraits is every request that changes traits.
func (c *call) changeTraits(location string, f func([]string) ([]string, error)) (answer, error) {
	n, err := c.target()
	if err != nil {
		return answer{}, err
	}

	if c.minor < 37 {
		return answer{}, refuse(http.StatusNotFound, "Not Found")
	}

	if err := c.lock(n); err != nil {
		return answer{}, err
	}

	traits, err := f(n.Traits)
	if err != nil {
		return answer{}, err
	}

	slices.Sort(traits)
	n.Traits, n.UpdatedAt = slices.Compact(traits), c.now

	return answer{status: http.StatusNoContent, location: location}, c.save(n)
}

func (c *call) setTraits() (answer, error) {
	var body struct{ Traits []string }
	if err := json.Unmarshal(c.body, &body); err != nil {
		return answer{}, invalid("Schema error for body: %s", err)
	}

	return c.changeTraits("", func([]string) ([]string, error) {
		for _, t := range body.Traits {
			if err := checkTrait(t); err != nil {
				return nil, err
			}
		}

		return body.Traits, nil
	})
}

func (c *call) clearTraits() (answer, error) {
	return c.changeTraits("", func([]string) ([]string, error) { return nil, nil })
}

func (c *call) addTrait() (answer, error) {
	t := c.r.PathValue("trait")

	return c.changeTraits("nodes/"+c.r.PathValue("node")+"/traits/"+t, func(old []string) ([]string, error) {
		return append(slices.Clone(old), t), checkTrait(t)
	})
}

func (c *call) removeTrait() (answer, error) {
	t := c.r.PathValue("trait")

	return c.changeTraits("", func(old []string) ([]string, error) {
		if !slices.Contains(old, t) {
			return nil, refuse(http.StatusNotFound, "Node %s doesn't have a trait '%s'", c.r.PathValue("node"), t)
		}

		return slices.DeleteFunc(slices.Clone(old), func(x string) bool { return x == t }), nil
	})
}

func (c *call) listHistory() (answer, error) {
	n, all, err := c.history()
	if err != nil {
		return answer{}, err
	}

	detail := c.r.URL.Query().Get("detail")
	list := make([]any, 0, len(all))

	for _, e := range all {
		list = append(list, c.eventDocument(n, e, strings.EqualFold(detail, "true")))
	}

	return answer{status: http.StatusOK, body: map[string]any{"history": list}}, nil
}

func (c *call) showHistory() (answer, error) {
	n, all, err := c.history()
	if err != nil {
		return answer{}, err
	}

	for _, e := range all {
		if e.UUID == c.r.PathValue("event") {
			return answer{status: http.StatusOK, body: c.eventDocument(n, e, true)}, nil
		}
	}

	return answer{}, notFound("Node history record", c.r.PathValue("event"))
}

func (c *call) history() (*node, []event, error) {
	n, err := c.target()
	if err != nil {
		return nil, nil, err
	}

	if c.minor < 78 {
		return nil, nil, refuse(http.StatusNotFound, "Not Found")
	}

	var all []event

	_, err = c.tx.Get(historyBucket, n.UUID, &all)

	return n, all, err
}

func (c *call) eventDocument(n *node, e event, detail bool) map[string]any {
	doc := map[string]any{
		"uuid": e.UUID, "created_at": stamp(e.At), "severity": "ERROR", "event": e.Text,
		"links": []any{map[string]any{"href": c.base() + "/v1/nodes/" + n.UUID + "/history/" + e.UUID, "rel": "self"}},
	}

	if detail {
		doc["event_type"], doc["conductor"], doc["user"] = e.Type, c.Conductor, nil
	}

	return doc
}
