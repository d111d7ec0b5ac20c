// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conf_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/conf"
)

func input() conf.Input {
	return conf.Input{
		Name: "prod", FSID: "11111111-2222-4333-8444-555555555555", Dir: "/var/lib/metal3-ceph/prod",
		MonHost: "[v2:10.0.0.1:3300,v1:10.0.0.1:6789]", Public: []string{"10.0.0.0/24"},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(in *conf.Input)
		want   map[string]string // "section option": value; "-" is not there
	}{
		"every path is below the folder": {func(*conf.Input) {}, map[string]string{
			"global fsid": "11111111-2222-4333-8444-555555555555", "global mon_host": "[v2:10.0.0.1:3300,v1:10.0.0.1:6789]",
			"global keyring": "/var/lib/metal3-ceph/prod/ceph.$name.keyring", "global run_dir": "/var/lib/metal3-ceph/prod/run",
			"global pid_file": "/var/lib/metal3-ceph/prod/run/$name.pid", "global admin_socket": "/var/lib/metal3-ceph/prod/run/$name.asok",
			"global log_file": "/var/lib/metal3-ceph/prod/log/$name.log", "global crash_dir": "/var/lib/metal3-ceph/prod/crash",
			"mon mon_data": "/var/lib/metal3-ceph/prod/mon/$id", "osd keyring": "/var/lib/metal3-ceph/prod/osd/$id/keyring",
			"mds mds_data": "/var/lib/metal3-ceph/prod/mds/$id", "mgr mgr_data": "/var/lib/metal3-ceph/prod/mgr/$id",
			"client log_file": "", "client admin_socket": "", "global public_network": "10.0.0.0/24",
			"global auth_allow_insecure_global_id_reclaim": "false", "global mgr_initial_modules": "iostat nfs",
			"global osd_crush_chooseleaf_type": "-", "global cluster_network": "-", "global ms_bind_ipv6": "-", "global public_addr": "-",
			"global osd_pool_default_size": "-",
		}},
		"one host": {func(in *conf.Input) { in.FailureDomain, in.Size, in.MinSize, in.PGNum = "osd", 2, 1, 8 }, map[string]string{
			"global osd_crush_chooseleaf_type": "0", "global osd_pool_default_size": "2",
			"global osd_pool_default_min_size": "1", "global osd_pool_default_pg_num": "8",
		}},
		"IPv6 alone": {func(in *conf.Input) { in.Public = []string{"2001:db8::/64"} }, map[string]string{
			"global ms_bind_ipv6": "true", "global ms_bind_ipv4": "false",
		}},
		"IPv6 without networks": {func(in *conf.Input) { in.Public, in.MonHost = nil, "[v2:[2001:db8::1]:3300]" }, map[string]string{
			"global ms_bind_ipv6": "true", "global ms_bind_ipv4": "false",
		}},
		"both": {func(in *conf.Input) { in.Public = append(in.Public, "2001:db8::/64") }, map[string]string{
			"global ms_bind_ipv6": "true", "global ms_bind_ipv4": "-", "global public_network": "10.0.0.0/24,2001:db8::/64",
		}},
		"a host outside the networks": {func(in *conf.Input) { in.Public, in.PublicAddr = nil, "127.0.0.1" }, map[string]string{
			"global public_addr": "127.0.0.1", "global ms_bind_ipv6": "-",
		}},
		"msgr2 alone, two networks": {func(in *conf.Input) { in.RequireMsgr2, in.Cluster = true, []string{"10.0.1.0/24"} }, map[string]string{
			"global ms_bind_msgr1": "false", "global cluster_network": "10.0.1.0/24",
		}},
		"options of users, and sections of theirs": {func(in *conf.Input) {
			in.Options = map[string]map[string]string{
				"global":   {"mgr initial modules": "iostat", "fsid": "x"},
				"osd.3":    {"osd-max-backfills": "2"},
				"bad\n[x]": {"a": "b"},
			}
		}, map[string]string{
			"global mgr_initial_modules": "iostat", "global fsid": "11111111-2222-4333-8444-555555555555",
			"osd.3 osd_max_backfills": "2", "x a": "-",
		}},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := input()
			tc.change(&in)

			text := conf.Render(in)
			file := conf.Parse(text)

			for where, want := range tc.want {
				section, option, _ := strings.Cut(where, " ")

				got, there := file[section][option]
				if !there {
					got = "-"
				}

				if got != want {
					t.Errorf("%s: %q, want %q", where, got, want)
				}
			}

			first, _, _ := strings.Cut(string(text), "\n")
			if !strings.HasPrefix(first, "#") || !strings.Contains(first, "terraform-provider-metal3") || !strings.Contains(first, in.FSID) {
				t.Errorf("first line %q", first)
			}

			if !bytes.HasSuffix(text, []byte("\n")) || !bytes.Equal(text, conf.Render(in)) {
				t.Error("the text is not complete, or not the same each time")
			}
		})
	}
}

// values are those that are hard to write, and how Ceph is to read them.
var values = map[string]string{
	"a hash": "a#b", "a semicolon": "a;b", "an equals sign": "a=b", "a percent sign": "50%", "nothing": "", "a backslash": `a\b`,
	"a backslash at the end": `a\`, "a backslash before a hash": `a\#b`, "quotes around": `"a"`, "a quote inside": `it's`,
	"quotes inside": `p "y" z`, "a quote at the start": `'a`, "blanks inside": "a  b", "brackets": "[v2:1.2.3.4:5]", "blank before hash": "a # b",
}

func TestOCEPH15_hardValues(t *testing.T) {
	t.Parallel()

	for name, value := range values {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := input()
			in.Options = map[string]map[string]string{"global": {"mgr_initial_modules": value, "zz_last": "1"}}

			if err := conf.Check(in.Options); err != nil {
				t.Fatal(err)
			}

			text := conf.Render(in)
			if got := conf.Parse(text).Get("global", "mgr initial modules"); got != value {
				t.Errorf("we read %q, want %q", got, value)
			}

			if testing.Short() {
				return
			}

			if _, err := exec.LookPath("ceph-conf"); err != nil {
				acctest.Missing(t, "ceph-conf")
			}

			file := filepath.Join(t.TempDir(), "c")
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}

			for key, want := range map[string]string{"mgr_initial_modules": value, "zz_last": "1"} {
				out, err := exec.CommandContext(t.Context(), "ceph-conf", "-c", file, "-s", "global", "--lookup", key).CombinedOutput()
				if got := strings.TrimSuffix(string(out), "\n"); err != nil || got != want {
					t.Errorf("Ceph reads %s as %q (%v), want %q", key, got, err, want)
				}
			}
		})
	}
}

func TestOCEPH15_files(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"underscores":                   "[global]\nmon_max_pg_per_osd = 300\n",
		"blanks":                        "[global]\n  mon max  pg per osd=300\n",
		"dashes":                        "[global]\nmon-max-pg-per-osd = 300\n",
		"ends of lines of Windows":      "[global]\r\nmon_max_pg_per_osd = 300\r\n",
		"no end of the last line":       "[global]\nmon_max_pg_per_osd = 300",
		"a comment behind":              "[ global ] # all\nmon_max_pg_per_osd = 300 ; many\n",
		"quotes":                        "[global]\nmon_max_pg_per_osd = \"300\" # many\n",
		"a comment that ends in a mark": "[global]\n# x \\\nmon_max_pg_per_osd = 300\n",
		"a line that goes on":           "[global]\nmon_max_pg_per_osd = 3\\\n00\n",
		"noise, and no section":         "what\n\n# [osd]\n;x\nmon_max_pg_per_osd = 300\n[osd]\n=\nmon_max_pg_per_osd = 1\n",
		"twice: the last one counts":    "[global]\nmon_max_pg_per_osd = 1\n[osd]\n[global]\nmon max pg per osd = 300\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := conf.Parse([]byte(text)).Get("global", "mon-max_pg per osd"); got != "300" {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestOCEPH15_refused(t *testing.T) {
	t.Parallel()

	one := func(k, v string) map[string]map[string]string { return map[string]map[string]string{"global": {k: v}} }

	for name, tc := range map[string]struct {
		options map[string]map[string]string
		kind    error
	}{
		"fsid":                   {one("fsid", "x"), conf.ErrManaged},
		"mon_host with blanks":   {one("mon host", "x"), conf.ErrManaged},
		"a path with dashes":     {one("Log-File", "x"), nil}, // no option of Ceph has capitals: Ceph ignores it
		"a path":                 {one("log-file", "x"), conf.ErrManaged},
		"managed in osd.3":       {map[string]map[string]string{"osd.3": {"osd_data": "/x"}}, conf.ErrManaged},
		"two lines":              {one("a", "1\n[osd]\nb = 2"), conf.ErrOption},
		"the end of a line only": {one("a", "1\r\n"), nil},
		"a name with a bracket":  {one("a]", "1"), conf.ErrOption},
		"no name":                {one(" ", "1"), conf.ErrOption},
		"no section":             {map[string]map[string]string{"a b": {"c": "1"}}, conf.ErrOption},
		"two spellings of one":   {map[string]map[string]string{"osd": {"osd max backfills": "1", "osd_max_backfills": "2"}}, conf.ErrOption},
		"one that is fine":       {one("mon_max_pg_per_osd", "300"), nil},
		"nothing":                {nil, nil},
		"a module's option":      {map[string]map[string]string{"mgr": {"mgr/balancer/mode": "upmap"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if err := conf.Check(tc.options); !errors.Is(err, tc.kind) || (tc.kind == nil) != (err == nil) {
				t.Errorf("error %v, want %v", err, tc.kind)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("[global]\na = \"b\\"))
	f.Add([]byte("[\n=\n[x]]\na=#\\\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, options := range conf.Parse(text) {
			for name := range options {
				if conf.Key(name) != name {
					t.Fatalf("%q is not the one spelling", name)
				}
			}
		}
	})
}

func FuzzRender(f *testing.F) {
	for _, v := range values {
		f.Add("mon_x", v)
	}

	f.Add("a b", "x\r\n[osd]\nosd_data = /")
	f.Fuzz(func(t *testing.T, name, value string) {
		in := input()
		in.Options = map[string]map[string]string{"global": {name: value}}

		file := conf.Parse(conf.Render(in))
		if file.Get("global", "fsid") != in.FSID || file.Get("osd", "osd_data") != in.Dir+"/osd/$id" {
			t.Fatalf("%q = %q breaks the file", name, value)
		}

		if conf.Check(in.Options) == nil && file.Get("global", name) != conf.Value(value) {
			t.Fatalf("%q = %q is read as %q", name, value, file.Get("global", name))
		}
	})
}
