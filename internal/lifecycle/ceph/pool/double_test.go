// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// mon is the part of a cluster that pools need, with a memory.
type mon struct {
	api.Commander

	mu      sync.Mutex
	pools   []*poolOf
	rules   map[string]ruleOf
	config  map[string]string // of mon
	notes   map[string]string
	objects map[string]int64
	refuse  map[string]*api.Error // prefix: answer to a change
	lag     int                   // how often a set option is not known yet
	late    int64                 // objects in p that are told of some seconds later
	wrote   time.Time
	noMgr   bool
	changes []string
}

type poolOf struct {
	id         int
	name, rule string
	set        map[string]string
	apps       []string
	creating   int // how often it is seen being created
	unlisted   bool
}

type ruleOf struct{ root, domain, class string }

func newMon() *mon {
	return &mon{
		wrote: time.Now(), rules: map[string]ruleOf{"replicated_rule": {"default", "host", ""}}, config: map[string]string{}, notes: map[string]string{}, objects: map[string]int64{}, refuse: map[string]*api.Error{},
	}
}

func (m *mon) add(name string) *poolOf {
	p := &poolOf{id: 1 + len(m.pools), name: name, rule: "replicated_rule", set: map[string]string{"size": "3", "min_size": "2", "pg_num": "32", "pg_autoscale_mode": "on"}}
	m.pools = append(m.pools, p)

	return p
}

func (m *mon) find(name any) *poolOf {
	for _, p := range m.pools {
		if p.name == name {
			return p
		}
	}

	return nil
}

func no(code int, status string) error { return &api.Error{Code: code, Status: status} }

// MonCommand implements api.Commander.
func (m *mon) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}

	var c map[string]any
	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	prefix, _ := c["prefix"].(string)
	key, _ := c["key"].(string)

	switch note, there := m.notes[key]; {
	case prefix == "config-key get" && there:
		return []byte(note), "", nil
	case prefix == "config-key get":
		return nil, "", no(-2, "no such key")
	case prefix == "config-key rm":
		delete(m.notes, key)

		return nil, "", nil
	}

	if prefix == "osd pool get" && m.find(c["pool"]) == nil {
		return nil, "", no(-2, "unrecognized pool")
	}

	if out := m.ask(prefix); out != "" {
		return []byte(out), "", nil
	}

	if e := m.refuse[prefix]; e != nil {
		return nil, e.Status, e
	}

	status, err := m.change(prefix, c)
	if err == nil {
		m.changes = append(m.changes, strings.TrimSpace(fmt.Sprint(prefix, " ", c["pool"], " ", c["var"], " ", c["val"], " ", c["name"], " ", c["app"])))
	}

	return nil, status, err
}

// MonCommandWithInputBuffer implements api.Commander.
func (m *mon) MonCommandWithInputBuffer(_ context.Context, cmd, in []byte) ([]byte, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	var c map[string]string
	if err := json.Unmarshal(cmd, &c); err != nil || c["prefix"] != "config-key set" {
		return nil, "", no(-22, "what is this?")
	}

	m.notes[c["key"]] = string(in)

	return nil, "", nil
}

func (m *mon) ask(prefix string) string {
	doc := func(v any) string {
		out, _ := json.Marshal(v)

		return string(out)
	}

	switch prefix {
	case "osd dump":
		pools := []any{}

		for _, p := range m.pools {
			if p.unlisted {
				continue
			}

			flags := "hashpspool"
			if p.creating > 0 {
				p.creating--
				flags += ",creating"
			}

			apps := map[string]any{}
			for _, a := range p.apps {
				apps[a] = map[string]any{}
			}

			pools = append(pools, map[string]any{
				"pool": p.id, "pool_name": p.name, "flags_names": flags, "size": p.set["size"], "min_size": p.set["min_size"], "pg_num": p.set["pg_num"],
				"pg_autoscale_mode": p.set["pg_autoscale_mode"], "crush_rule": m.ruleID(p.rule), "application_metadata": apps,
				"quota_max_bytes": p.set["max_bytes"], "options": map[string]any{"compression_mode": p.set["compression_mode"]},
			})
		}

		return doc(map[string]any{"epoch": 5, "osds": []any{}, "pools": pools})
	case "osd tree":
		return `{"nodes":[]}`
	case "osd crush rule dump":
		rules := []any{}

		for _, name := range slices.Sorted(maps.Keys(m.rules)) {
			r := m.rules[name]
			if r.class != "" {
				r.root += "~" + r.class
			}

			rules = append(rules, map[string]any{"rule_id": m.ruleID(name), "rule_name": name, "type": 1, "steps": []any{
				map[string]any{"op": "take", "item_name": r.root}, map[string]any{"op": "chooseleaf_firstn", "type": r.domain}, map[string]any{"op": "emit"},
			}})
		}

		return doc(rules)
	case "df":
		if m.late > 0 && time.Since(m.wrote) > 8*time.Second {
			m.objects["p"] = m.late
		}

		pools := []any{}
		for _, p := range m.pools {
			pools = append(pools, map[string]any{"name": p.name, "stats": map[string]any{"objects": m.objects[p.name], "stored": m.objects[p.name] * 10}})
		}

		return doc(map[string]any{"pools": pools})
	case "osd pool get":
		return `{"size":3}{"target_size_ratio":0.20000000298023224}`
	case "mgr dump":
		if m.noMgr {
			return `{"active_name":"","available":false,"standbys":[],"modules":[],"services":{}}`
		}

		return `{"active_name":"x","available":true,"standbys":[],"modules":[],"services":{}}`
	case "config dump":
		all := []any{}
		for name, v := range m.config {
			all = append(all, map[string]any{"section": "mon", "name": name, "value": v, "level": "advanced", "mask": ""})
		}

		return doc(all)
	default:
		return ""
	}
}

func (m *mon) ruleID(name string) int {
	return slices.Index(slices.Sorted(maps.Keys(m.rules)), name)
}

func (m *mon) allowed(option string) bool {
	if m.config[option] != "true" {
		return false
	}

	m.lag--

	return m.lag < 0
}

func (m *mon) change(prefix string, c map[string]any) (string, error) {
	p := m.find(c["pool"])
	text := func(key string) string { return fmt.Sprint(c[key]) }

	switch prefix {
	case "osd pool create":
		if p != nil {
			return "pool '" + p.name + "' already exists", nil
		}

		if text("size") == "1" && !m.allowed("mon_allow_pool_size_one") {
			return "", no(-1, "configuring pool size as 1 is disabled by default.")
		}

		p = m.add(text("pool"))
		p.creating = 2

		for _, key := range []string{"size", "pg_num"} {
			if c[key] != nil {
				p.set[key] = text(key)
			}
		}

		if c["rule"] != nil {
			p.rule = text("rule")
		}
	case "osd pool set":
		return m.set(p, text("var"), text("val"))
	case "osd pool set-quota":
		p.set[text("field")] = text("val")
	case "osd pool application enable":
		p.apps = append(p.apps, text("app"))
	case "osd pool application disable":
		p.apps = slices.DeleteFunc(p.apps, func(a string) bool { return a == text("app") })
	case "osd pool rename":
		m.find(c["srcpool"]).name = text("destpool")
	case "osd pool delete":
		if !m.allowed("mon_allow_pool_delete") {
			return "", no(-1, "pool deletion is disabled; you must first set the mon_allow_pool_delete config option to true before you can destroy a pool")
		}

		m.pools = slices.DeleteFunc(m.pools, func(one *poolOf) bool { return one == p })
	case "osd crush rule create-replicated":
		if _, there := m.rules[text("name")]; there {
			return "rule " + text("name") + " already exists", nil
		}

		r := ruleOf{text("root"), text("type"), ""}
		if c["class"] != nil {
			r.class = text("class")
		}

		m.rules[text("name")] = r
	case "osd crush rule rm":
		for _, one := range m.pools {
			if one.rule == text("name") {
				return "", no(-16, "crush rule is in use")
			}
		}

		delete(m.rules, text("name"))
	case "osd crush rule rename":
		m.rules[text("dstname")] = m.rules[text("srcname")]
		delete(m.rules, text("srcname"))

		for _, one := range m.pools {
			if one.rule == text("srcname") {
				one.rule = text("dstname")
			}
		}
	case "config set":
		m.config[text("name")] = text("value")
	case "config rm":
		delete(m.config, text("name"))
	default:
		return "", no(-22, "what is "+prefix+"?")
	}

	return "", nil
}

func (m *mon) set(p *poolOf, key, value string) (string, error) {
	switch key {
	case "crush_rule":
		p.rule = value
	case "size":
		if value == "1" && !m.allowed("mon_allow_pool_size_one") {
			return "", no(-1, "configuring pool size as 1 is disabled by default.")
		}

		n, _ := strconv.Atoi(value)
		p.set["size"], p.set["min_size"] = value, strconv.Itoa(n-n/2)
	case "target_size_ratio":
		if value == "unset" {
			return "", no(-22, "not a number")
		}

		p.set[key] = value
	default:
		p.set[key] = value
	}

	return "", nil
}
