// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// line is a command as the tool takes it.
type line struct {
	cmd    []byte
	format string
	words  []string // those of the prefix, then arguments
}

// formats are what the tool takes for --format; with another it explains its usage.
var formats = []string{"json", "json-pretty", "xml", "xml-pretty", "plain", "yaml"}

// places are the parameters of commands whose name is that of another command, too, or its
// beginning. The tool tries both, and takes a name that one of them lacks for a mistake (16.2.15: all
// others of its 500 commands are well), so that they are given by place.
var places = map[string][]string{
	"osd crush set": {"id", "weight", "args"},
	"osd blocklist": {"blocklistop", "addr", "expire"},
	"osd blacklist": {"blacklistop", "addr", "expire"},
	"orch":          {"action", "service_name"},
	"orch daemon":   {"action", "name"},
}

// parse makes arguments of a JSON command. The tool takes every parameter by its name, in two
// words; a list is a name that is said again. That it is a list is not seen otherwise, so that a
// list of one needs no care.
//
// The tool splits a named list's element at commas. Such lists (capabilities: "allow r, allow w")
// are given by place, as the last words.
func parse(cmd []byte) (line, error) {
	fields, err := object(cmd)
	if err != nil {
		return line{}, err
	}

	l := line{cmd: cmd}

	var (
		named  []string
		last   []string
		placed = place(fields)
	)

	for _, f := range fields {
		switch f.name {
		case "prefix":
			err = json.Unmarshal(f.value, new(string))
			l.words = strings.Fields(text(f.value))
		case "format":
			l.format = text(f.value)
			if !slices.Contains(formats, l.format) {
				err = fmt.Errorf("the format %q", l.format)
			}
		case "target":
			// ["mon-mgr",""] is how clients mark what a manager answers. The tool knows that.
			if !strings.Contains(string(f.value), "mgr") {
				err = errors.New("a target")
			}
		default:
			if slices.Contains(placed, f.name) {
				continue
			}

			named, last, err = f.add(named, last)
		}

		if err != nil {
			return line{}, fmt.Errorf("%w: the ceph tool cannot be told %w in %s", api.ErrInvalid, err, f.name)
		}
	}

	if len(l.words) == 0 {
		return line{}, fmt.Errorf("%w: a command without a prefix", api.ErrInvalid)
	}

	for _, name := range placed {
		if i := slices.IndexFunc(fields, func(f field) bool { return f.name == name }); i >= 0 {
			l.words = append(l.words, fields[i].texts()...)
		}
	}

	l.words = append(append(l.words, named...), last...)

	return l, nil
}

// place returns the parameters of a command that are given by place, if it is one of those.
func place(fields []field) []string {
	for _, f := range fields {
		if f.name == "prefix" && len(fields) > 1 {
			return places[strings.Join(strings.Fields(text(f.value)), " ")]
		}
	}

	return nil
}

// field is one field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// object returns the fields in their order, which is mostly that of the parameters.
func object(cmd []byte) ([]field, error) {
	d := json.NewDecoder(bytes.NewReader(cmd))

	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, fmt.Errorf("%w: a command that is no JSON object", api.ErrInvalid)
	}

	var fields []field

	for d.More() {
		t, err := d.Token()

		name, ok := t.(string)
		if err != nil || !ok {
			return nil, fmt.Errorf("%w: a command that is no JSON object", api.ErrInvalid)
		}

		f := field{name: name}
		if err := d.Decode(&f.value); err != nil {
			return nil, fmt.Errorf("%w: a command that is no JSON object: %w", api.ErrInvalid, err)
		}

		fields = append(fields, f)
	}

	return fields, nil
}

// values are those of a list, or the one that there is.
func (f field) values() (all []json.RawMessage, list bool) {
	if json.Unmarshal(f.value, &all) != nil || all == nil {
		return []json.RawMessage{f.value}, false
	}

	return all, true
}

// texts are the values as words.
func (f field) texts() []string {
	all, _ := f.values()
	words := make([]string, len(all))

	for i, v := range all {
		words[i] = text(v)
	}

	return words
}

// isConsent tells whether a word is one that older releases want instead of a flag. The tool takes
// it as it stands.
func isConsent(word string) bool { return strings.HasPrefix(word, "--yes-i-really-") }

// add appends the field to the words: named ones, and those that come last.
func (f field) add(named, last []string) ([]string, []string, error) {
	list, isList := f.values()

	if isList && slices.ContainsFunc(list, func(v json.RawMessage) bool { return strings.Contains(text(v), ",") }) {
		if last != nil {
			return nil, nil, errors.New("a second list with commas")
		}

		return named, f.texts(), nil
	}

	for _, v := range list {
		switch s := text(v); {
		case len(v) > 0 && (v[0] == '{' || v[0] == '['):
			return nil, nil, errors.New("an object")
		case string(v) == "null":
		case isConsent(s) && f.name != "val" && f.name != "value":
			named = append(named, s)
		case string(v) == "true", string(v) == "false":
			// A flag in two words would not be taken for one.
			named = append(named, "--"+f.name+"="+s)
		default:
			named = append(named, "--"+f.name, s)
		}
	}

	return named, last, nil
}

// text is a JSON value as a word: a string's text, all others as they are written.
func text(v json.RawMessage) string {
	var s string

	if json.Unmarshal(v, &s) == nil && string(v) != "null" {
		return s
	}

	return string(v)
}

// argv is the process of a command. Words after "--" are not taken for options of the tool or
// of Ceph, many of which have the names of parameters: id, name, key.
func (c *CLI) argv(l line, limit time.Duration, input bool) []string {
	argv := slices.Clone(c.tool)

	if c.cfg.Conf != "" {
		argv = append(argv, "--conf", c.cfg.Conf)
	}

	if c.cfg.Name != "" {
		argv = append(argv, "--name", c.cfg.Name)
	}

	if c.cfg.Keyring != "" {
		argv = append(argv, "--keyring="+c.cfg.Keyring)
	}

	// The first bounds the connection alone, the second each command.
	argv = append(argv, "--connect-timeout", command.Seconds(c.cfg.Connect), "--rados_mon_op_timeout="+command.Seconds(limit))

	if l.format != "" {
		argv = append(argv, "--format", l.format)
	}

	if input {
		argv = append(argv, "-i", "-")
	}

	return append(append(argv, "--"), l.words...)
}
