// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// CrushRemove removes a bucket from the CRUSH tree. One that is not empty stays, one that is
// not there is gone: both are no error.
func (c *Cluster) CrushRemove(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{"prefix": "osd crush rm", "name": name}), errNotEmpty, ErrNotFound)
}

// CrushSetClass gives an OSD a device class, in place of the one it has; an empty class takes it only away.
func (c *Cluster) CrushSetClass(ctx context.Context, id int, class string) error {
	ids := osdIDs([]int{id})

	err := c.tell(ctx, command{"prefix": "osd crush rm-device-class", "ids": ids})
	if err != nil || class == "" {
		return err
	}

	return c.tell(ctx, command{"prefix": "osd crush set-device-class", "class": class, "ids": ids})
}

// CrushAddBucket makes a bucket without a place in the CRUSH tree: it stands for itself until it
// is moved. One of that name that is there stays where and what it is, and is no error.
func (c *Cluster) CrushAddBucket(ctx context.Context, name, kind string) error {
	return except(c.tell(ctx, command{"prefix": "osd crush add-bucket", "name": name, "type": kind}), ErrExists)
}

// CrushMove moves a bucket, such as a host, in the CRUSH tree, below buckets that are made where they are missing:
// type and name, such as root: default and rack: r1.
func (c *Cluster) CrushMove(ctx context.Context, name string, place map[string]string) error {
	args := make([]string, 0, len(place))
	for _, kind := range slices.Sorted(maps.Keys(place)) {
		args = append(args, kind+"="+place[kind])
	}

	return c.tell(ctx, command{"prefix": "osd crush move", "name": name, "args": args})
}

// Rule is a CRUSH rule.
type Rule struct {
	ID      int
	Name    string
	Erasure bool
	Root    string
	Domain  string // bucket type over which copies are spread: host, osd, rack
	Class   string // empty: all classes
}

// CrushRules returns the CRUSH rules.
func (c *Cluster) CrushRules(ctx context.Context) ([]Rule, error) {
	doc, err := query[ruleDocs](ctx, c, command{"prefix": "osd crush rule dump"})
	if err != nil {
		return nil, err
	}

	rules := make([]Rule, 0, len(doc))
	for _, d := range doc {
		rules = append(rules, d.rule())
	}

	return rules, nil
}

// CrushRuleCreateReplicated makes a rule for replicated pools. One of that name that is there
// is ErrExists, whatever it says; Ceph itself calls that a success.
func (c *Cluster) CrushRuleCreateReplicated(ctx context.Context, name, root, domain, class string) error {
	cmd := command{"prefix": "osd crush rule create-replicated", "name": name, "root": root, "type": domain}
	if class != "" {
		cmd["class"] = class
	}

	return c.create(ctx, cmd)
}

// CrushRuleRename renames a CRUSH rule.
func (c *Cluster) CrushRuleRename(ctx context.Context, from, to string) error {
	return c.tell(ctx, command{"prefix": "osd crush rule rename", "srcname": from, "dstname": to})
}

// CrushRuleRemove removes a rule. One that is not there is no error; one in use is ErrBusy.
func (c *Cluster) CrushRuleRemove(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{"prefix": "osd crush rule rm", "name": name}), ErrNotFound)
}

// create sends a command that makes something, and tells "it is there already" from success.
func (c *Cluster) create(ctx context.Context, cmd command) error {
	a, err := c.ask(ctx, request{command: cmd})
	if err == nil && strings.Contains(a.status, "already exists") {
		return &Error{Code: ErrExists.Code, Status: a.status, Command: cmd.prefix()}
	}

	return err
}

// erasureRule is the type of rule for erasure-coded pools; 1 is replicated.
const erasureRule = 3

type ruleDocs []ruleDoc

type ruleDoc struct {
	ID    num  `json:"rule_id"`
	Name  text `json:"rule_name"`
	Type  num  `json:"type"`
	Steps []struct {
		Op   text `json:"op"`
		Item text `json:"item_name"`
		Type text `json:"type"`
	} `json:"steps"`
}

func (d *ruleDocs) fits() bool {
	for _, r := range *d {
		if r.Name == "" {
			return false
		}
	}

	return *d != nil
}

func (d *ruleDoc) rule() Rule {
	r := Rule{ID: int(d.ID), Name: string(d.Name), Erasure: d.Type == erasureRule}

	for _, s := range d.Steps {
		switch {
		case s.Op == "take":
			r.Root, r.Class, _ = strings.Cut(string(s.Item), "~")
		case strings.HasPrefix(string(s.Op), "choose"):
			r.Domain = string(s.Type)
		}
	}

	return r
}
