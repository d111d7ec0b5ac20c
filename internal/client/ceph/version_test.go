// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func TestOCEPH05_versionStrings(t *testing.T) {
	t.Parallel()

	const hash = "618f440892089921c3e944a991122ddc44e60516"

	for text, want := range map[string]ceph.Version{
		"ceph version 16.2.15 (" + hash + ") pacific (stable)": {Major: 16, Minor: 2, Patch: 15, Commit: hash, Release: "pacific", Stable: true},
		"16.2.15 (" + hash + ") pacific (stable)":              {Major: 16, Minor: 2, Patch: 15, Commit: hash, Release: "pacific", Stable: true},
		"ceph version 14.2.11-139.0.hotfix.bz1.el8cp (" + hash + ") nautilus (stable)": {
			Major: 14, Minor: 2, Patch: 11, Build: 139, Commit: hash, Release: "nautilus", Stable: true,
		},
		"ceph version 15.0.0-10067-g6bb36f862f (" + hash + ") octopus (dev)": {Major: 15, Build: 10067, Commit: hash, Release: "octopus"},
		"19.3.0-4444-gabc squid (rc)":                                        {Major: 19, Minor: 3, Build: 4444, Commit: "abc", Release: "squid"},
		"20.2.0 tentacle":                                                    {Major: 20, Minor: 2, Release: "tentacle"},
		"18.2.5-2":                                                           {Major: 18, Minor: 2, Patch: 5, Build: 2},
		"v18.2.5":                                                            {Major: 18, Minor: 2, Patch: 5},
		"18.2.7+ds-1":                                                        {Major: 18, Minor: 2, Patch: 7},
		"99.1.0 (0a) zebra (stable)":                                         {Major: 99, Minor: 1, Commit: "0a", Release: "zebra", Stable: true},
	} {
		got, err := ceph.ParseVersion(text)
		want.Text = text

		if err != nil || got != want {
			t.Errorf("%v\n%s", err, cmp.Diff(want, got))
		}
	}
}

func TestOCEPH05_garbageIsAnError(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "ceph", "18", "18.2", "ceph version Development (no_version) squid (stable)", "1.2.x", "-1.2.3",
		"18.2.99999999999999999999", "18.2.5-99999999999999999999", "bash: ceph: command not found", "18.2.5 what (is) this",
	} {
		if v, err := ceph.ParseVersion(text); err == nil {
			t.Errorf("%q is %+v", text, v)
		}
	}
}

func TestOCEPH05_buildsCompareAsNumbers(t *testing.T) {
	t.Parallel()

	ascending := []string{"14.2.11-139.0.el8cp", "16.2.9", "16.2.15", "18.2.5", "18.2.5-2", "18.2.5-10", "18.10.0", "20.2.0"}

	for i, a := range ascending {
		for j, b := range ascending {
			v, w := version(t, a), version(t, b)
			if got := v.Compare(w); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}

	if s := version(t, "18.2.5-10").String() + " " + version(t, "20.2.0 tentacle").String(); s != "18.2.5-10 20.2.0" {
		t.Error(s)
	}
}

func TestConstraint_allows(t *testing.T) {
	t.Parallel()

	for text, c := range map[string]struct{ yes, no []string }{
		"":                   {yes: []string{"0.0.0", "99.0.0"}},
		">= 16.2, < 21":      {yes: []string{"16.2.0", "16.2.15", "20.99.0"}, no: []string{"16.1.9", "21.0.0"}},
		">=16.2.15":          {yes: []string{"16.2.15", "16.2.15-1"}, no: []string{"16.2.14-9"}},
		"~> 18.2":            {yes: []string{"18.2.0", "18.9.0"}, no: []string{"19.0.0", "18.1.0"}},
		"~> 18.2.4":          {yes: []string{"18.2.4", "18.2.9"}, no: []string{"18.3.0", "18.2.3"}},
		"18.2":               {yes: []string{"18.2.0", "18.2.9"}, no: []string{"18.3.0"}},
		"= 18.2.5":           {yes: []string{"18.2.5", "18.2.5-3"}, no: []string{"18.2.6"}},
		"!= 18.2.5, >= 18":   {yes: []string{"18.2.6"}, no: []string{"18.2.5", "18.2.5-3", "17.0.0"}},
		"> 18.2.5-2":         {yes: []string{"18.2.5-10"}, no: []string{"18.2.5-2", "18.2.5"}},
		"<= 18.2.5":          {yes: []string{"18.2.5"}, no: []string{"18.2.5-1"}},
		" >=  18.0 , <20.0 ": {yes: []string{"19.2.0"}, no: []string{"20.0.0"}},
	} {
		con, err := ceph.ParseConstraint(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		}

		for _, v := range c.yes {
			if !con.Allows(version(t, v)) {
				t.Errorf("%q does not allow %s", text, v)
			}
		}

		for _, v := range c.no {
			if con.Allows(version(t, v)) {
				t.Errorf("%q allows %s", text, v)
			}
		}
	}

	for _, text := range []string{",", ">= 16,", "latest", "=> 16", "~> 18", "16.x", "> 1.2.3.4", ">= 99999999999999999999"} {
		if _, err := ceph.ParseConstraint(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func version(t *testing.T, text string) ceph.Version {
	t.Helper()

	v, err := ceph.ParseVersion(text)
	if err != nil {
		t.Fatal(err)
	}

	return v
}

func FuzzParseVersion(f *testing.F) {
	f.Add("ceph version 16.2.15 (618f) pacific (stable)")
	f.Add("14.2.11-139.0.hotfix.bz1.el8cp (1) nautilus (stable)")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ceph.ParseVersion(text)
		if err != nil {
			return
		}

		again, err := ceph.ParseVersion(v.String())
		if err != nil || v.Compare(again) != 0 {
			t.Fatalf("%q is %s, which is %s, %v", text, v, again, err)
		}
	})
}

func FuzzParseConstraint(f *testing.F) {
	f.Add(">= 16.2, < 21", "18.2.5-2")
	f.Fuzz(func(_ *testing.T, text, of string) {
		c, err := ceph.ParseConstraint(text)
		if err != nil {
			return
		}

		if v, err := ceph.ParseVersion(of); err == nil {
			c.Allows(v)
		}
	})
}
