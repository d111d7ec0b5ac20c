// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"text/template"

	"sigs.k8s.io/yaml"
)

// widths are the widths of a format string that would make a text of any length out of nothing.
var widths = regexp.MustCompile(`\*|[0-9]{5}`)

var (
	errWidth  = errors.New("printf: write widths and precisions of at most four digits, and not *")
	errIndent = errors.New("indent: between 0 and 1000 spaces are meant")
)

// keyError says that a key is not there.
type keyError struct{ key string }

func (e keyError) Error() string { return "no entry for key " + e.key }

// funcs are the functions of a template. Go's own that make texts are ours as well: theirs know
// no bound, and their index has no error for a key that is not there.
func (m *meter) funcs() template.FuncMap {
	return template.FuncMap{
		"tick":     m.tick,
		"b64enc":   m.text(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		"quote":    m.text(quoted),
		"html":     m.args(template.HTMLEscaper),
		"js":       m.args(template.JSEscaper),
		"urlquery": m.args(template.URLQueryEscaper),
		"print":    m.args(fmt.Sprint),
		"println":  m.args(fmt.Sprintln),
		"printf":   m.printf,
		"indent":   m.indent,
		"toJson":   m.toJSON,
		"toYaml":   m.toYAML,
		"index":    index,
	}
}

// text bounds a function of one text.
func (m *meter) text(f func(string) string) func(any) (string, error) {
	return m.bound(func(args ...any) string { return f(fmt.Sprint(args...)) })
}

func (m *meter) bound(f func(...any) string) func(any) (string, error) {
	all := m.args(f)

	return func(v any) (string, error) { return all(v) }
}

// args bounds a function of any values: what goes in first, for what comes out is a few times
// as long at most.
func (m *meter) args(f func(...any) string) func(...any) (string, error) {
	return func(args ...any) (string, error) {
		if err := m.pay(size(args)); err != nil {
			return "", err
		}

		s := f(args...)

		return s, m.pay(len(s))
	}
}

// size is how many bytes the texts among the values have.
func size(args []any) int {
	n := 0

	for _, a := range args {
		if v := reflect.ValueOf(a); v.IsValid() && v.Kind() == reflect.String {
			n += v.Len()
		}
	}

	return n
}

func (m *meter) printf(format string, args ...any) (string, error) {
	if widths.MatchString(format) {
		return "", errWidth
	}

	return m.args(func(args ...any) string { return fmt.Sprintf(format, args...) })(args...)
}

func (m *meter) indent(n int, s string) (string, error) {
	const most = 1000

	if n < 0 || n > most {
		return "", errIndent
	}

	if err := m.pay(len(s) + n*(1+strings.Count(s, "\n"))); err != nil {
		return "", err
	}

	pad := strings.Repeat(" ", n)

	return pad + strings.ReplaceAll(s, "\n", "\n"+pad), nil
}

func (m *meter) toJSON(v any) (string, error) {
	s, err := compact(v)
	if err != nil {
		return "", errors.New("toJson: this value has no JSON form")
	}

	return s, m.pay(len(s))
}

func (m *meter) toYAML(v any) (string, error) {
	b, err := yaml.Marshal(v)
	if err != nil {
		return "", errors.New("toYaml: this value has no YAML form")
	}

	return strings.TrimSuffix(string(b), "\n"), m.pay(len(b))
}

// quoted is a text in double quotes that JSON and YAML both read.
func quoted(s string) string {
	out, err := compact(s)
	if err != nil {
		return `""`
	}

	return out
}

func compact(v any) (string, error) {
	var b bytes.Buffer

	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)

	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encode: %w", err)
	}

	return strings.TrimSuffix(b.String(), "\n"), nil
}

// index is Go's own but for maps, where a key that is not there is an error.
func index(item any, keys ...any) (any, error) {
	v := reflect.ValueOf(item)

	for _, key := range keys {
		for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
			v = v.Elem()
		}

		k := reflect.ValueOf(key)
		if !v.IsValid() || !k.IsValid() {
			return nil, errors.New("index: of nothing")
		}

		var err error
		if v, err = element(v, k); err != nil {
			return nil, err
		}
	}

	if !v.IsValid() {
		return nil, errors.New("index: of nothing")
	}

	return v.Interface(), nil
}

func element(v, k reflect.Value) (reflect.Value, error) {
	switch v.Kind() {
	case reflect.Map:
		if !k.Type().AssignableTo(v.Type().Key()) {
			return v, errors.New("index: a key of the wrong kind")
		}

		e := v.MapIndex(k)
		if !e.IsValid() {
			return v, keyError{fmt.Sprintf("%q", fmt.Sprint(k.Interface()))}
		}

		return e, nil
	case reflect.Slice, reflect.Array, reflect.String:
		if !k.CanInt() || k.Int() < 0 || k.Int() >= int64(v.Len()) {
			return v, fmt.Errorf("index: no such element; there are %d", v.Len())
		}

		return v.Index(int(k.Int())), nil
	default:
		return v, errors.New("index: neither a map nor a list")
	}
}
