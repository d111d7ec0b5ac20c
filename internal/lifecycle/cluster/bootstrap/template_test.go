// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bootstrap_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
)

func render(t *testing.T, text string) (string, error) {
	t.Helper()

	got, err := bootstrap.Source{Template: text}.Render(vars())

	return string(got), err
}

func TestTemplate(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ text, want string }{
		"names":             {"<< .Cluster.Namespace >>/<< .Cluster.Name >>/<< .Machine.Name >> on << .Host.Name >>", "default/edge/edge-cp-0 on node-0"},
		"the endpoint":      {"<< .Cluster.Endpoint.Host >> << .Cluster.Endpoint.Port >> << .Cluster.Endpoint >>", "192.0.2.10 6443 192.0.2.10:6443"},
		"the machine":       {"<< .Machine.Role >> << .Machine.Pool >> << .Machine.Index >> << .Machine.First >> << .Machine.ProviderID >>", "control_plane control_plane 0 true metal3://default/node-0/edge-cp-0"},
		"an address":        {"<< with .Addresses.prov >><< .Address >>/<< .Prefix >> << .Gateway >> << index .DNS 0 >><< end >>", "192.0.2.11/24 192.0.2.1 192.0.2.53"},
		"peers":             {"<< range .Peers >><< .Name >>=<< .Addresses.prov.Address >> << end >>", "edge-cp-0=192.0.2.11 edge-cp-1=192.0.2.12 "},
		"labels":            {`<< index .Host.Labels "metal3.io/gpu" >>`, "a100"},
		"network cards":     {"<< range .Host.NICs >><< .Name >>:<< .MAC >><< end >>", "eth0:52:54:00:00:00:01"},
		"base64":            {`<< "a&b" | b64enc >>`, "YSZi"},
		"indent":            {"x:\n<< \"a\\nb\" | indent 2 >>", "x:\n  a\n  b"},
		"json":              {"<< toJson .Host.Labels >>", `{"metal3.io/gpu":"a100","rack":"r1"}`},
		"json of HTML":      {`<< toJson "<a>" >>`, `"<a>"`},
		"yaml":              {"<< toYaml .Host.Labels >>", "metal3.io/gpu: a100\nrack: r1"},
		"quote":             {`<< quote "a\"b: #c" >>`, `"a\"b: #c"`},
		"printf":            {`<< printf "%03d" .Machine.Index >>`, "000"},
		"Jinja is not ours": {"## template: jinja\n{{ ds.meta_data.name }}", "## template: jinja\n{{ ds.meta_data.name }}"},
		"a named template":  {`<< define "x" >>[<< . >>]<< end >><< template "x" .Machine.Name >>`, "[edge-cp-0]"},
		"a loop":            {"<< range $i := 3 >><< $i >><< else >>none<< end >>", "012"},
		"nothing":           {"#cloud-config\n", "#cloud-config\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, err := render(t, c.text); err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestTemplate_refusals(t *testing.T) {
	t.Parallel()

	const secret = "s3cr3t"

	for name, c := range map[string]struct{ text, says string }{
		"no such attribute":     {"\n\n<< .Machine.Nmea >>", `line 3 of the template: there is no key "Nmea"`},
		"no such pool":          {"<< .Addresses.oob.Address >>", `line 1 of the template: there is no key "oob"`},
		"no such label":         {"\n<< index .Host.Labels \"a/b\" >>", `line 2 of the template: there is no key "a/b"`},
		"no such element":       {"<< index .Peers 2 >>", "it cannot be carried out"},
		"no such function":      {"<< nope .Machine.Name >>", `there is no function "nope"`},
		"no such variable":      {"<< $x >>", `there is no variable "$x"`},
		"no such template":      {`<< template "x" >>`, `there is no template "x"`},
		"no end":                {"<< if .Machine.First >>", "lacks its <<end>>"},
		"too many ends":         {"<< end >>", "line 1"},
		"an open action":        {"\n<< .Machine.Name \n", "line 3 of the template: unclosed action"},
		"an open text":          {"<< \"" + secret + " >>", "unterminated quoted string"},
		"a secret as a command": {"<< \"" + secret + "\" \"" + secret + "\" >>", "line 1 of the template: not understood"},
		"a secret as a number":  {"<< 12" + secret + " >>", "line 1 of the template: not understood"},
		"wrong arguments":       {"<< b64enc \"" + secret + "\" 1 >>", `wrong number of arguments of "b64enc"`},
		"a wrong kind":          {"<< indent \"" + secret + "\" \"a\" >>", "line 1"},
		"too far to the right":  {"<< indent 100000 \"a\" >>", "between 0 and 1000"},
		"a width":               {`<< printf "%1000000000d" 1 >>`, "at most four digits"},
		"too long a template":   {strings.Repeat("a", 1<<20+1), "at most"},
		"a loop over nothing":   {"<< range .Machine.First >><< end >>", "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := render(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %v, want %q", got, err, c.says)
			}

			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the template: %v", err)
			}
		})
	}
}

func TestUserData_for(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		of          bootstrap.UserData
		first, next string
	}{
		"one for all":            {bootstrap.UserData{Constant: "a"}, "a", "a"},
		"a template for all":     {bootstrap.UserData{Template: "<< .Machine.Name >>"}, "edge-cp-0", "edge-cp-0"},
		"its own for the first":  {bootstrap.UserData{Constant: "a", InitConstant: "i"}, "i", "a"},
		"its own for the others": {bootstrap.UserData{Template: "a", JoinTemplate: "j"}, "a", "j"},
		"a constant over both":   {bootstrap.UserData{Template: "a", InitConstant: "i", JoinTemplate: "j"}, "i", "j"},
		"none":                   {bootstrap.UserData{}, "", ""},
		"Ignition":               {bootstrap.UserData{Constant: `{"ignition":{"version":"3.4.0"}}`}, `{"ignition":{"version":"3.4.0"}}`, `{"ignition":{"version":"3.4.0"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if errs := c.of.Check(); len(errs) > 0 {
				t.Fatal(errs)
			}

			for first, want := range map[bool]string{true: c.first, false: c.next} {
				if got, err := c.of.For(first).Render(vars()); err != nil || string(got) != want {
					t.Errorf("first %v: got %q, %v, want %q", first, got, err, want)
				}
			}
		})
	}
}

func TestUserData_refusals(t *testing.T) {
	t.Parallel()

	errs := bootstrap.UserData{Constant: "a", Template: "<< x >>", InitConstant: "a", InitTemplate: "b", JoinTemplate: "<< if"}.Check()

	var text strings.Builder
	for _, err := range errs {
		text.WriteString(err.Error() + "\n")
	}

	contains(t, text.String(), "user_data and user_data_template: write one", "init_user_data and init_user_data_template: write one",
		"user_data_template: line 1", "join_user_data_template: line 1")
}

func TestSource_hash(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}
	for _, s := range []bootstrap.Source{{}, {Constant: "a"}, {Template: "a"}, {Constant: "b"}} {
		if seen[s.Hash()] || len(s.Hash()) != 64 {
			t.Errorf("%+v: %s", s, s.Hash())
		}

		seen[s.Hash()] = true
	}
}

// TestCheck_namesThatNoMachineHas: a plan tells them; what depends on the machine it does not know.
func TestCheck_namesThatNoMachineHas(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"a: << .Machine.Nam >>":                         `line 1 of the template: there is no key "Nam"`,
		"a: 1\nb: << .Machin.Name >>":                   `line 2 of the template: there is no key "Machin"`,
		"<<range .Host.NICs>><< .Mac >><<end>>":         `line 1 of the template: there is no key "Mac"`,
		"a: << .Machine.Name >> << .Host.Labels.rack>>": "",
		"a: << .Addresses.prov.Address >>":              "",
		"<<range .Host.NICs>><< .MAC >><<end>>":         "",
	} {
		tmpl, err := bootstrap.ParseTemplate(text)
		if err != nil {
			t.Fatal(err)
		}

		if err := tmpl.Check(); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
