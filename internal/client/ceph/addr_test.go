// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

func both(host string) ceph.Addrs {
	return ceph.Addrs{{Type: "v2", Host: host, Port: 3300}, {Type: "v1", Host: host, Port: 6789}}
}

func TestOCEPH14_addressesAsText(t *testing.T) {
	t.Parallel()

	for text, c := range map[string]struct {
		want ceph.Addrs
		back string
	}{
		"[v2:192.0.2.11:3300/0,v1:192.0.2.11:6789/0]":         {both("192.0.2.11"), "[v2:192.0.2.11:3300,v1:192.0.2.11:6789]"},
		"[v2:[2001:db8::11]:3300/0,v1:[2001:db8::11]:6789/0]": {both("2001:db8::11"), "[v2:[2001:db8::11]:3300,v1:[2001:db8::11]:6789]"},
		" v2:192.0.2.11:3300/7 ":                              {ceph.Addrs{{"v2", "192.0.2.11", 3300}}, "[v2:192.0.2.11:3300]"},
		"[v1:192.0.2.11:6789, v2:192.0.2.11:3300]":            {ceph.Addrs{{"v1", "192.0.2.11", 6789}, {"v2", "192.0.2.11", 3300}}, "[v2:192.0.2.11:3300,v1:192.0.2.11:6789]"},
		"192.0.2.11:6789/0":                                   {ceph.Addrs{{"any", "192.0.2.11", 6789}}, "[any:192.0.2.11:6789]"},
		"any:0.0.0.0:0/123":                                   {ceph.Addrs{{"any", "0.0.0.0", 0}}, "[any:0.0.0.0:0]"},
		"[2001:db8::11]:6789/0":                               {ceph.Addrs{{"any", "2001:db8::11", 6789}}, "[any:[2001:db8::11]:6789]"},
		"[2001:db8::11]":                                      {ceph.Addrs{{"any", "2001:db8::11", 0}}, "[any:[2001:db8::11]:0]"},
		"v2:[2001:0db8:0:0::11]:3300":                         {ceph.Addrs{{"v2", "2001:db8::11", 3300}}, "[v2:[2001:db8::11]:3300]"},
	} {
		got, err := ceph.ParseAddrs(text)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}

		if got.String() != c.back {
			t.Errorf("%q is written %q, want %q", text, got, c.back)
		}
	}

	for _, text := range []string{
		"", "[]", "(unrecognized address family 0)/0", "-", "v2:", "mon1:3300", "v2:192.0.2.11:99999", "v2:192.0.2.11:-1",
		"2001:db8::11:3300x", "[v2:192.0.2.11:3300", "v3:192.0.2.11:1", "[v2:[fe80::1%eth0]:3300]", "v1:::%00",
	} {
		if got, err := ceph.ParseAddrs(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestOCEPH14_comparisonIgnoresOrder(t *testing.T) {
	t.Parallel()

	turned := ceph.Addrs{{"v1", "2001:db8::11", 6789}, {"v2", "2001:0db8::0011", 3300}}
	if a := both("2001:db8::11"); !a.Equal(turned) || !turned.Equal(a) {
		t.Error("the same addresses differ")
	}

	if both("192.0.2.11").Equal(both("192.0.2.11")[:1]) || both("192.0.2.11").Equal(both("192.0.2.12")) {
		t.Error("other addresses are the same")
	}

	if a, ok := turned.Of("v2"); !ok || a.Port != 3300 {
		t.Errorf("v2 is %v", a)
	}

	if _, ok := turned.Of("any"); ok {
		t.Error("there is no address of any type")
	}
}

func TestOCEPH14_monHost(t *testing.T) {
	t.Parallel()

	mons := []ceph.Mon{{Name: "b", Addrs: both("2001:db8::11")}, {Name: "c"}, {Name: "a", Addrs: both("192.0.2.11")[:1]}}

	const want = "[v2:192.0.2.11:3300],[v2:[2001:db8::11]:3300,v1:[2001:db8::11]:6789]"
	if got := ceph.MonHost(mons); got != want {
		t.Errorf("%s, want %s", got, want)
	}

	if mons[0].Name != "b" {
		t.Error("the caller's list was sorted")
	}
}

func TestOCEPH14_vectorsInAnswers(t *testing.T) {
	t.Parallel()

	q, err := always(`{"quorum_names":["a"],"monmap":{"mons":[
		{"rank":0,"name":"a","public_addrs":{"addrvec":[{"type":"v1","addr":"192.0.2.11:6789","nonce":0},{"type":"v2","addr":"192.0.2.11:3300","nonce":0}]},"addr":"192.0.2.11:6789/0"},
		{"rank":1,"name":"b","public_addrs":{"addrvec":[{"type":"v2","addr":"[2001:db8::11]:3300"}]},"public_addr":"-"},
		{"rank":2,"name":"c","addr":"192.0.2.13:6789/0"},
		{"rank":3,"name":"d","public_addrs":{"addrvec":[{"type":"any","addr":"192.0.2.14:0"}]}},
		{"rank":4,"name":"e","public_addrs":{"addrvec":[]},"addr":"(unrecognized address family 0)/0"},
		{"rank":5,"name":"f","public_addrs":"?"}]}}`).Quorum(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	got := map[string]string{}
	for _, m := range q.Mons {
		got[m.Name] = m.Addrs.String()
	}

	want := map[string]string{
		"a": "[v2:192.0.2.11:3300,v1:192.0.2.11:6789]", "b": "[v2:[2001:db8::11]:3300]", "c": "[any:192.0.2.13:6789]",
		"d": "[any:192.0.2.14:0]", "e": "", "f": "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseAddrs(f *testing.F) {
	f.Add("[v2:[2001:db8::11]:3300/0,v1:[2001:db8::11]:6789/0]")
	f.Add("192.0.2.1:6789/0")
	f.Add("[::1]")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := ceph.ParseAddrs(text)
		if err != nil {
			return
		}

		again, err := ceph.ParseAddrs(a.String())
		if err != nil || !a.Equal(again) {
			t.Fatalf("%q is %v, which is %v, %v", text, a, again, err)
		}
	})
}
