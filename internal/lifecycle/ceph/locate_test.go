// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

const anFSID = "4b5c8c0a-ff60-454b-a1b4-9747aa737d19"

func TestClusterID_thereAndBack(t *testing.T) {
	t.Parallel()

	for id, want := range map[string]ceph.Location{
		anFSID + "@local/data/ceph":                           {FSID: anFSID, Hosts: []string{"local"}, Dir: "/data/ceph"},
		anFSID + "@h1.lan,h2.lan:2222,10.0.0.3/var/lib/c":     {FSID: anFSID, Hosts: []string{"h1.lan", "h2.lan:2222", "10.0.0.3"}, Dir: "/var/lib/c"},
		anFSID + "@[2001:db8::1],[2001:db8::2]:2222,h3/c d/é": {FSID: anFSID, Hosts: []string{"[2001:db8::1]", "[2001:db8::2]:2222", "h3"}, Dir: "/c d/é"},
		anFSID + "@local-1:22/x@y,z":                          {FSID: anFSID, Hosts: []string{"local-1:22"}, Dir: "/x@y,z"},
		"h1/var/lib/ceph":                                     {Hosts: []string{"h1"}, Dir: "/var/lib/ceph"},
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()

			got, err := ceph.ParseClusterID(id)
			if err != nil || !reflect.DeepEqual(got, want) || got.String() != id {
				t.Errorf("got %+v (%s), want %+v: %v", got, got, want, err)
			}
		})
	}

	if id := ceph.ClusterID(anFSID, []string{"::1", "h"}, "/d"); id != anFSID+"@[::1],h/d" {
		t.Errorf("a bare IPv6 address becomes %s", id)
	}

	upper, err := ceph.ParseClusterID(strings.ToUpper(anFSID) + "@h/d")
	if err != nil || upper.FSID != anFSID {
		t.Errorf("an fsid in capitals is %q: %v", upper.FSID, err)
	}
}

func TestClusterID_same(t *testing.T) {
	t.Parallel()

	a := ceph.Location{FSID: anFSID, Hosts: []string{"a"}, Dir: "/a"}
	if b := (ceph.Location{FSID: anFSID, Hosts: []string{"b"}, Dir: "/b"}); !a.Same(b) {
		t.Error("a cluster with another monitor's host is another one")
	}

	if b := (ceph.Location{Hosts: []string{"a"}, Dir: "/a"}); a.Same(b) || b.Same(b) {
		t.Error("a place without an fsid is the same")
	}
}

func TestParseClusterID_refusals(t *testing.T) {
	t.Parallel()

	for id, says := range map[string]string{
		"":                              "no folder",
		anFSID:                          "no folder",
		anFSID + "@h":                   "no folder",
		anFSID + "@/d":                  "no host",
		"/d":                            "no host",
		"xyz@h/d":                       "no fsid",
		"@h/d":                          "no fsid",
		anFSID + "@root@h/d":            "no host",
		anFSID + "@h,/d":                "no host",
		anFSID + "@h ,i/d":              "no host",
		anFSID + "@h:0/d":               "no port",
		anFSID + "@h:/d":                "no port",
		anFSID + "@h:022/d":             "no port",
		anFSID + "@h:65536/d":           "no port",
		anFSID + "@local:22/d":          "no port",
		anFSID + "@2001:db8::1/d":       "brackets",
		anFSID + "@[2001:db8::1/d":      "brackets",
		anFSID + "@[10.0.0.1]/d":        "brackets",
		anFSID + "@[2001:db8::1]x:22/d": "other than a port",
		anFSID + "@[2001:db8::1]:/d":    "no port",
		anFSID + "@ssh://h/d":           "no port",
		anFSID + "@h/":                  "absolute path",
		anFSID + "@h//d":                "absolute path",
		anFSID + "@h/d/":                "absolute path",
		anFSID + "@h/d/../e":            "absolute path",
		anFSID + "@h/d#pool":            "#",
		anFSID + "@h/d\n":               "printed",
	} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()

			if l, err := ceph.ParseClusterID(id); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "FSID@HOST") {
				t.Errorf("got %+v: %v, want words of %q", l, err, says)
			}
		})
	}
}

func TestSplitHost(t *testing.T) {
	t.Parallel()

	for host, want := range map[string]struct {
		name string
		port int
	}{"h": {"h", 0}, "h:2222": {"h", 2222}, "[::1]": {"::1", 0}, "[::1]:22": {"::1", 22}, "local": {"local", 0}} {
		if name, port := ceph.SplitHost(host); name != want.name || port != want.port {
			t.Errorf("%s is %s and %d", host, name, port)
		}
	}
}

func FuzzParseClusterID(f *testing.F) {
	for _, s := range []string{anFSID + "@h:22,[::1]:22,local/d", "h/d", "@", "//", "[", "]:/", anFSID + "@[fe80::1%e]/d"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		l, err := ceph.ParseClusterID(s)
		if err != nil {
			return
		}

		again, err := ceph.ParseClusterID(l.String())
		if err != nil || !reflect.DeepEqual(again, l) {
			t.Errorf("%q gives %+v, and that %+v: %v", s, l, again, err)
		}

		for _, h := range l.Hosts {
			if name, port := ceph.SplitHost(h); name == "" || port < 0 || port > 65535 {
				t.Errorf("%q is %q and %d", h, name, port)
			}
		}
	})
}
