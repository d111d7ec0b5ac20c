// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bounded_test

import (
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap/bounded"
)

type peer struct {
	Name   string
	Labels map[string]string
}

// data is what the templates of these tests know.
type data struct {
	Name  string
	Peers []peer
}

func dot() data {
	return data{"edge-cp-0", []peer{{"edge-cp-0", map[string]string{"rack": "r1"}}, {"edge-cp-1", nil}}}
}

func render(t *testing.T, text string) (string, error) {
	t.Helper()

	parsed, err := bounded.Parse(text)
	if err != nil {
		return "", err
	}

	got, err := parsed.Render(dot())

	return string(got), err
}

// TestTemplate_ends holds templates that would go on for ever, or fill the memory.
func TestTemplate_ends(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"a loop that does nothing":   "<< range $i := 1000000000000 >><< end >>",
		"a loop in a loop":           "<< range $i := 1000000 >><< range $j := 1000000 >><< end >><< end >>",
		"a loop that goes on":        "<< range $i := 1000000000000 >><< continue >><< end >>",
		"a loop that writes":         "<< range $i := 1000000000000 >>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx<< end >>",
		"a template in itself":       `<< define "x" >><< template "x" >><< end >><< template "x" >>`,
		"two templates in a circle":  `<< define "x" >><< template "y" >><< end >><< define "y" >><< template "x" >><< end >><< template "x" >>`,
		"a text that doubles":        `<< $x := "aaaaaaaa" >><< range $i := 60 >><< $x = print $x $x >><< end >>`,
		"a text that doubles in JS":  `<< $x := "\\" >><< range $i := 60 >><< $x = js $x >><< end >>`,
		"a text that doubles, quote": `<< $x := "\\" >><< range $i := 60 >><< $x = quote $x >><< end >>`,
		"many long texts":            `<< range $i := 1000000 >><< $x := printf "%9999d" $i >><< end >>`,
		"an if in a loop":            `<< range $i := 1000000000000 >><< if $i >><< with $i >><< end >><< end >><< end >>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, err := render(t, text); err == nil {
				t.Errorf("it ends with %d bytes", len(got))
			}
		})
	}
}

func TestTemplate_concurrent(t *testing.T) {
	t.Parallel()

	parsed, err := bounded.Parse("<< range .Peers >><< .Name | quote >><< end >>")
	if err != nil {
		t.Fatal(err)
	}

	for range 8 {
		t.Run("one of many", func(t *testing.T) {
			t.Parallel()

			for range 100 {
				if got, err := parsed.Render(dot()); err != nil || string(got) != `"edge-cp-0""edge-cp-1"` {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		"<< .Name >>", "<< range .Peers >><< .Name >><< else >>x<< end >>", `<< define "x" >>a<< end >><< template "x" . >>`,
		"<< if", "<<- \"a\" -}}", "<< /* c */ >>", "<< with $x := .Peers >><< $x.Name >><< break >><< end >>", "<<<<>>>>", `<< index (index .Peers 0).Labels "rack" >>`,
	} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := bounded.Parse(text)
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("too long: %v", err)
			}

			return
		}

		got, err := parsed.Render(dot())
		if err == nil && len(got) > 4<<20 {
			t.Errorf("%d bytes", len(got))
		}
	})
}
