// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

func TestOGPU14_endpointSpellings(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"fabric.example.com":                   "https://fabric.example.com",
		" fabric.example.com \n":               "https://fabric.example.com",
		"fabric.example.com:443":               "https://fabric.example.com:443",
		"fabric.example.com/cdi/":              "https://fabric.example.com/cdi",
		"https://fabric.example.com/":          "https://fabric.example.com",
		"HTTPS://Fabric.Example.com":           "https://fabric.example.com",
		"https://fabric.example.com:8443/cdi":  "https://fabric.example.com:8443/cdi",
		"https://fabric.example.com/a%2Fb/c//": "",
		"https://fabric.example.com/a%2Fb/c/":  "https://fabric.example.com/a%2Fb/c",
		"[2001:db8::20]:443":                   "https://[2001:db8::20]:443",
		"2001:db8::20":                         "https://[2001:db8::20]",
		"192.0.2.1:8443":                       "https://192.0.2.1:8443",
		"http://fabric.example.com":            "", // without the opt-in
		"":                                     "",
		"  ":                                   "",
		"https://":                             "",
		"https:///path":                        "",
		"https://h:":                           "",
		"https://h:0":                          "",
		"https://h:70000":                      "",
		"https://h:port":                       "",
		"https://h/?q=1":                       "",
		"https://h/#f":                         "",
		"ftp://h":                              "",
		"two words":                            "",
		"https://user:hunter2@h":               "",
		"user:hunter2@h":                       "",
		"https://hunter2@h/%zz":                "",
	} {
		got, err := fabric.NormalEndpoint(given, false)
		if got != want || (err != nil) != (want == "") {
			t.Errorf("%q is %q, %v; want %q", given, got, err, want)
		}

		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error tells: %v", given, err)
		}

		if got != "" {
			if again, err := fabric.NormalEndpoint(got, false); again != got || err != nil {
				t.Errorf("%q is not normal: %q, %v", got, again, err)
			}
		}
	}

	if got, err := fabric.NormalEndpoint("http://h:80/x/", true); got != "http://h:80/x" || err != nil {
		t.Errorf("with the opt-in: %q, %v", got, err)
	}
}

func TestMachineID(t *testing.T) {
	t.Parallel()

	for given, want := range map[string]string{
		"abc": "abc", " abc ": "abc", "fsas-cdi://abc": "abc", "FSAS-CDI://abc": "abc", "": "", "fsas-cdi://": "", "other://abc": "other://abc",
	} {
		if got := fabric.MachineID(given); got != want {
			t.Errorf("%q is %q, want %q", given, got, want)
		}
	}
}

func TestScoped_saysWhoseManagerItIs(t *testing.T) {
	t.Parallel()

	for want, ids := range map[string][2]string{
		"https://h":                             {},
		"https://h#tenant=aa-1":                 {" AA-1 ", ""},
		"https://h#tenant=t&cluster=c":          {"T", "C"},
		"https://h#tenant=a%26cluster%3Db":      {"a&cluster=b", ""},
		"https://h#tenant=t&cluster=c%23x+y%3D": {"t", "c#x y="},
	} {
		got := fabric.Scoped("https://h", ids[0], ids[1])
		if got != want || fabric.Address(got) != "https://h" {
			t.Errorf("%q is %q, at %q", ids, got, fabric.Address(got))
		}
	}
}
