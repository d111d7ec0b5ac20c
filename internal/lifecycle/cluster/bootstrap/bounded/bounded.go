// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package bounded renders templates that cannot go on for ever nor fill the memory, and whose
// errors say where and what is wrong in words that hold nothing of the template's text, nor of
// what was rendered: both may be secret.
//
// Templates are those of Go's text/template, with << and >> around actions. A key that is not
// there is an error.
package bounded

import (
	"bytes"
	"errors"
	"fmt"
	"text/template"
	"text/template/parse"
)

// The delimiters of templates: cloud-init's Jinja has the usual ones.
const (
	leftDelim  = "<<"
	rightDelim = ">>"
)

// What a template may cost. Whoever writes one trusts it, but a slip must not hang an apply.
const (
	maxTemplate = 1 << 20  // bytes of its text
	maxOutput   = 4 << 20  // bytes of what it renders
	maxValue    = 1 << 20  // bytes of one value that a function makes
	maxValues   = 64 << 20 // bytes of all of them
	maxSteps    = 1 << 20  // nodes that are carried out
	tickCost    = 4        // nodes, to count them once
)

var (
	errSteps  = errors.New("the template comes to no end")
	errOutput = fmt.Errorf("the template renders more than %d MiB", maxOutput>>20)
	errValue  = fmt.Errorf("a function of the template makes too long a text: at most %d MiB at once, %d MiB in all", maxValue>>20, maxValues>>20)
)

// Template is a template. It is safe for concurrent use.
type Template struct{ parsed *template.Template }

// Parse reads a template. Its errors name the line and never repeat the text.
func Parse(text string) (Template, error) {
	if len(text) > maxTemplate {
		return Template{}, fmt.Errorf("the template has %d bytes; at most %d are read", len(text), maxTemplate)
	}

	parsed, err := template.New(templateName).Delims(leftDelim, rightDelim).Option("missingkey=error").Funcs(new(meter).funcs()).Parse(text)
	if err != nil {
		return Template{}, templateError(err)
	}

	for _, t := range parsed.Templates() {
		if err := instrument(t); err != nil {
			return Template{}, err
		}
	}

	return Template{parsed}, nil
}

// Render renders the template with a value as its dot.
func (t Template) Render(v any) ([]byte, error) {
	if t.parsed == nil {
		return nil, errors.New("there is no template to render")
	}

	run, err := t.parsed.Clone()
	if err != nil {
		return nil, templateError(err)
	}

	var m meter

	if err := run.Funcs(m.funcs()).Execute(&m, v); err != nil {
		return nil, templateError(err)
	}

	return m.out.Bytes(), nil
}

// meter bounds one rendering.
type meter struct {
	out    bytes.Buffer
	steps  int
	values int
}

// Write takes what is rendered.
func (m *meter) Write(p []byte) (int, error) {
	if m.out.Len()+len(p) > maxOutput {
		return 0, errOutput
	}

	return m.out.Write(p) //nolint:wrapcheck // a buffer has no errors
}

// tick pays for the nodes that follow. Templates cannot be stopped from outside: each loop and
// each named template begins with one.
func (m *meter) tick(cost int) (string, error) {
	if m.steps += cost; m.steps > maxSteps {
		return "", errSteps
	}

	return "", nil
}

// pay pays for a value of so many bytes.
func (m *meter) pay(n int) error {
	if m.values += n; n > maxValue || m.values > maxValues {
		return errValue
	}

	return nil
}

// instrument puts a tick at the head of a template and of each loop in it.
func instrument(t *template.Template) error {
	if t.Tree == nil || t.Root == nil {
		return nil
	}

	cost, err := instrumentList(t.Root)
	if err != nil {
		return err
	}

	return prepend(t.Root, cost)
}

func instrumentList(l *parse.ListNode) (int, error) {
	if l == nil {
		return 0, nil
	}

	total := tickCost

	for _, n := range l.Nodes {
		cost, err := instrumentNode(n)
		if err != nil {
			return 0, err
		}

		total += cost
	}

	return total, nil
}

func instrumentNode(n parse.Node) (int, error) {
	switch n := n.(type) {
	case *parse.TextNode:
		return 1, nil
	case *parse.IfNode:
		return instrumentBranch(&n.BranchNode, false)
	case *parse.WithNode:
		return instrumentBranch(&n.BranchNode, false)
	case *parse.RangeNode:
		return instrumentBranch(&n.BranchNode, true)
	default:
		return nodeCost(n), nil
	}
}

// nodeCost grows with what an action does, of which its text is a fair measure.
func nodeCost(n parse.Node) int {
	const bytesPerStep = 16

	return 1 + len(n.String())/bytesPerStep
}

func instrumentBranch(b *parse.BranchNode, loop bool) (int, error) {
	cost, err := instrumentList(b.List)
	if err != nil {
		return 0, err
	}

	other, err := instrumentList(b.ElseList)
	if err != nil {
		return 0, err
	}

	if loop && b.List != nil {
		if err := prepend(b.List, cost); err != nil {
			return 0, err
		}
	}

	return cost + other + nodeCost(b.Pipe), nil
}

func prepend(l *parse.ListNode, cost int) error {
	trees, err := parse.Parse(templateName, fmt.Sprintf("%s tick %d %s", leftDelim, cost, rightDelim), leftDelim, rightDelim, map[string]any{"tick": true})
	if err != nil {
		return fmt.Errorf("count the steps of a template: %w", err)
	}

	l.Nodes = append(trees[templateName].Root.Nodes[:1:1], l.Nodes...)

	return nil
}
