// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"errors"
	"fmt"
	"regexp"
)

// ErrField is what errors.Is finds where a template asks for something that no machine has: a name
// that is wrong, whatever the template is rendered for.
var ErrField = errors.New("no such field")

// noField reads text/template's complaint of that.
var noField = regexp.MustCompile(`can't evaluate field (\w{1,63}) in type `)

// fieldError is one that is an [ErrField].
type fieldError struct{ text string }

func (e fieldError) Error() string { return e.text }

func (e fieldError) Is(target error) bool { return target == ErrField }

const templateName = "template"

// position is how text/template begins its errors.
var position = regexp.MustCompile(`^template: ` + templateName + `:([0-9]+)`)

// phrases are the complaints of text/template that we repeat: each names a name that the
// template gives to something, or nothing at all. All others may hold its text, and so what
// Terraform put into it.
var phrases = []struct {
	has  *regexp.Regexp
	says string
}{
	{regexp.MustCompile(`map has no entry for key ("[^"\\]{1,253}")`), "there is no key %s"},
	{regexp.MustCompile(`nil data; no entry for key ("[^"\\]{1,253}")`), "there is no key %s"},
	{regexp.MustCompile(`function ("\w{1,63}") not defined`), "there is no function %s"},
	{regexp.MustCompile(`undefined variable ("\$\w{1,63}")`), "there is no variable %s"},
	{regexp.MustCompile(`template ("[\w.-]{1,63}") not defined`), "there is no template %s"},
	{regexp.MustCompile(`wrong number of args for (\w{1,63})`), "wrong number of arguments of %q"},
	{regexp.MustCompile(`unexpected (EOF)`), "the text ends too early (%s): an <<if>>, <<range>>, <<with>> or <<define>> lacks its <<end>>"},
	{regexp.MustCompile(`unexpected \{\{(end|else)\}\}`), "an <<%s>> too many"},
	{regexp.MustCompile(`(unclosed action)`), "%s: a >> is missing"},
	{regexp.MustCompile(`(unterminated (?:quoted|raw quoted|character) (?:string|constant))`), "%s"},
	{regexp.MustCompile(`(missing value for \w{1,63})`), "%s"},
	{regexp.MustCompile(`range can't iterate over()`), "<<range>> goes over lists and maps%s"},
	{regexp.MustCompile(`(nil pointer evaluating|error calling |wrong type|incompatible types|exceeded maximum template depth)`), "it cannot be carried out (%s)"},
}

// templateError says what is wrong with a template, and where, in words that hold nothing of
// its text and nothing that was rendered.
func templateError(err error) error {
	where := "the template"
	if m := position.FindStringSubmatch(err.Error()); m != nil {
		where = "line " + m[1] + " of the template"
	}

	var missing keyError

	for _, ours := range []error{errSteps, errOutput, errValue, errWidth, errIndent} {
		if errors.Is(err, ours) {
			return fmt.Errorf("%s: %w", where, ours)
		}
	}

	if errors.As(err, &missing) {
		return fmt.Errorf("%s: there is no key %s", where, missing.key)
	}

	if m := noField.FindStringSubmatch(err.Error()); m != nil {
		return fieldError{fmt.Sprintf("%s: there is no key %q", where, m[1])}
	}

	for _, p := range phrases {
		if m := p.has.FindStringSubmatch(err.Error()); m != nil {
			return fmt.Errorf("%s: "+p.says, where, m[1])
		}
	}

	return fmt.Errorf("%s: not understood; actions are written between << and >>, in the language of Go's text/template", where)
}
