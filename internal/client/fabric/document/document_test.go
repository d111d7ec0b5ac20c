// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package document_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric/document"
)

func TestParse_takesOneObjectAndNothingElse(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]bool{
		`{}`: true, ` {"a":1} ` + "\n": true, `null`: false, `[]`: false, `"x"`: false, ``: false,
		`{"a":`: false, `{} {}`: false, `<html>`: false,
	} {
		if _, ok := document.Parse([]byte(raw)); ok != want {
			t.Errorf("Parse(%q): %v, want %v", raw, ok, want)
		}
	}
}

func TestObject_readsWhatFits(t *testing.T) {
	t.Parallel()

	o, _ := document.Parse([]byte(`{"s":" a ","n":12345678901234567890,"b":true,"q":"True","z":null,"o":{"p":{"x":"y"}},
		"l":["a",1,null,{}],"i":"7","f":1.5}`))

	for key, want := range map[string]string{"s": "a", "n": "12345678901234567890", "b": "true", "z": "", "o": "", "l": "", "missing": ""} {
		if got := o.Text(key); got != want {
			t.Errorf("Text(%s) = %q, want %q", key, got, want)
		}
	}

	if !o.Bool("q", false) || !o.Bool("missing", true) || o.Bool("s", false) {
		t.Error("Bool takes quoted booleans and else what is expected")
	}

	if n, ok := o.Int("i"); !ok || n != 7 {
		t.Errorf("Int of a quoted number: %d %v", n, ok)
	}

	if _, ok := o.Int("f"); ok {
		t.Error("1.5 is no whole number")
	}

	if got := o.Object("o", "p").Text("x"); got != "y" {
		t.Errorf("Object of an object: %q", got)
	}

	if got := o.Object("s", "p").Text("x"); got != "" {
		t.Errorf("Object of a string: %q", got)
	}

	if got := o.Texts("l"); !slices.Equal(got, []string{"a", "1"}) {
		t.Errorf("Texts: %q", got)
	}
}

func TestObject_aPartialListIsAnError(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]int{
		`{}`: 0, `{"l":null,"count":0}`: 0, `{"l":[{},{}],"count":2}`: 2, `{"l":[{}],"count":"1"}`: 1, `{"l":[{}]}`: 1,
		`{"l":[{}],"count":null}`: 1, `{"l":[{}],"count":2}`: -1, `{"count":1}`: -1, `{"l":[{},1]}`: -1, `{"l":{}}`: -1, `{"l":"x"}`: -1,
	} {
		o, _ := document.Parse([]byte(raw))

		list, err := o.Counted("l", "count")
		if want < 0 && !errors.Is(err, document.ErrPartial) || want >= 0 && (err != nil || len(list) != want) {
			t.Errorf("%s: %d entries, %v", raw, len(list), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"l":[{"a":{}}],"count":1}`, `{"l":null}`, `[]`, `{"l":[1],"count":"x"}`} {
		f.Add([]byte(seed), "l")
	}

	f.Fuzz(func(t *testing.T, raw []byte, key string) {
		o, ok := document.Parse(raw)
		if !ok && o != nil {
			t.Fatal("an object that is none")
		}

		_, _ = o.Counted(key, "count")
		_, _ = o.Int(key)
		_ = o.Texts(key)
		_ = o.Object(key, key).Text(key)
	})
}
