// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses_test

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

type (
	pool = addresses.Pool
	rng  = addresses.Range
)

func compile(t *testing.T, p pool) addresses.Compiled {
	t.Helper()

	c, errs := addresses.Compile("prov", p)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}

	return c
}

// drain takes elements until there is none.
func drain(t *testing.T, c addresses.Compiled) []string {
	t.Helper()

	got := []string{}

	for i := 0; ; i++ {
		a, err := c.At(i)
		if err != nil {
			break
		}

		got = append(got, a.Address)
	}

	if c.Count().Int64() != int64(len(got)) {
		t.Errorf("it says that it has %s addresses, and gives %d", c.Count(), len(got))
	}

	return got
}

func TestOCL04_poolWrittenAsSubnet(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		pool pool
		want string
	}{
		"network and broadcast of a /30":           {pool{Ranges: []rng{{Subnet: "192.0.2.0/30"}}}, "192.0.2.1 192.0.2.2"},
		"host bits are masked first":               {pool{Ranges: []rng{{Subnet: "192.0.2.5/29"}}}, "192.0.2.1 192.0.2.2 192.0.2.3 192.0.2.4 192.0.2.5 192.0.2.6"},
		"a /31 is usable entirely":                 {pool{Ranges: []rng{{Subnet: "192.0.2.4/31"}}}, "192.0.2.4 192.0.2.5"},
		"a /32 is usable":                          {pool{Ranges: []rng{{Subnet: "192.0.2.9/32"}}}, "192.0.2.9"},
		"a /127 is usable entirely":                {pool{Ranges: []rng{{Subnet: "2001:db8::/127"}}}, "2001:db8:: 2001:db8::1"},
		"a /128 is usable":                         {pool{Ranges: []rng{{Subnet: "2001:DB8:0::9/128"}}}, "2001:db8::9"},
		"IPv6 has no broadcast":                    {pool{Ranges: []rng{{Subnet: "2001:db8::/126"}}}, "2001:db8:: 2001:db8::1 2001:db8::2 2001:db8::3"},
		"the gateway inside the range":             {pool{Ranges: []rng{{Subnet: "192.0.2.0/30"}}, Gateway: "192.0.2.1"}, "192.0.2.2"},
		"a gateway in other words":                 {pool{Ranges: []rng{{Subnet: "2001:db8::/126"}}, Gateway: "2001:0db8::0001"}, "2001:db8:: 2001:db8::2 2001:db8::3"},
		"the gateway of one range in another":      {pool{Ranges: []rng{{Start: "10.0.0.1", End: "10.0.0.2", Gateway: "10.0.0.9"}, {Start: "10.0.0.8", End: "10.0.0.9"}}, Prefix: 24}, "10.0.0.1 10.0.0.2 10.0.0.8"},
		"edges inside a range":                     {pool{Ranges: []rng{{Start: "10.0.0.254", End: "10.0.1.1"}}, Prefix: 24}, "10.0.0.254 10.0.1.1"},
		"a subnet that is a part of the network":   {pool{Ranges: []rng{{Subnet: "10.0.0.64/30"}}, Prefix: 24, Gateway: "10.0.0.1"}, "10.0.0.65 10.0.0.66"},
		"from a start to the end of a subnet":      {pool{Ranges: []rng{{Start: "10.0.0.4", Subnet: "10.0.0.0/29"}}}, "10.0.0.4 10.0.0.5 10.0.0.6"},
		"from the begin of a subnet to an end":     {pool{Ranges: []rng{{End: "10.0.0.2", Subnet: "10.0.0.0/29"}}}, "10.0.0.1 10.0.0.2"},
		"only a start goes to the network's end":   {pool{Ranges: []rng{{Start: "10.0.0.252"}}, Prefix: 24}, "10.0.0.252 10.0.0.253 10.0.0.254"},
		"ranges in the order that they are in":     {pool{Ranges: []rng{{Start: "10.0.0.9", End: "10.0.0.9"}, {Start: "10.0.0.4", End: "10.0.0.5"}}, Prefix: 24}, "10.0.0.9 10.0.0.4 10.0.0.5"},
		"excluded addresses and subnets":           {pool{Ranges: []rng{{Subnet: "10.0.0.0/28"}}, Exclude: []string{"10.0.0.1", "10.0.0.4/30", "10.0.0.8/29", "::/0"}}, "10.0.0.2 10.0.0.3"},
		"addresses set aside":                      {pool{Ranges: []rng{{Subnet: "10.0.0.0/29"}}, PreAllocations: map[string]string{"a": "10.0.0.3", "b": "10.0.0.6"}}, "10.0.0.1 10.0.0.2 10.0.0.4 10.0.0.5"},
		"single addresses of a routed network":     {pool{Ranges: []rng{{Start: "10.0.0.255", End: "10.0.1.1"}}, Prefix: 32, Gateway: "169.254.1.1"}, "10.0.0.255 10.0.1.0 10.0.1.1"},
		"a link-local gateway":                     {pool{Ranges: []rng{{Start: "2001:db8::1", End: "2001:db8::2"}}, Prefix: 64, Gateway: "fe80::1"}, "2001:db8::1 2001:db8::2"},
		"IPv4 in IPv6 clothes":                     {pool{Ranges: []rng{{Start: "::ffff:10.0.0.1", End: "10.0.0.2"}}, Prefix: 24}, "10.0.0.1 10.0.0.2"},
		"a pool that is set aside altogether":      {pool{Ranges: []rng{{Subnet: "10.0.0.0/30"}}, PreAllocations: map[string]string{"a": "10.0.0.1", "b": "10.0.0.2"}}, ""},
		"what is excluded may cover a whole range": {pool{Ranges: []rng{{Subnet: "10.0.0.0/30"}, {Subnet: "10.0.1.0/30"}}, Exclude: []string{"10.0.0.0/24"}}, "10.0.1.1 10.0.1.2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := strings.Join(drain(t, compile(t, c.pool)), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestOCL05_impossibleRanges(t *testing.T) {
	t.Parallel()

	one := func(r rng) pool { return pool{Ranges: []rng{r}, Prefix: 24} }
	good := rng{Start: "10.0.0.1", End: "10.0.0.9"}

	for name, c := range map[string]struct {
		pool pool
		says []string
	}{
		"start after end":                 {one(rng{Start: "10.0.0.9", End: "10.0.0.1"}), []string{`ip_pools["prov"].ranges[0]`, "10.0.0.9", "10.0.0.1"}},
		"start outside of the subnet":     {one(rng{Start: "10.0.1.9", End: "10.0.1.20", Subnet: "10.0.0.0/24"}), []string{"start 10.0.1.9", "end 10.0.1.20", "10.0.0.0/24"}},
		"IPv4 start, IPv6 end":            {one(rng{Start: "10.0.0.1", End: "2001:db8::1"}), []string{"10.0.0.1 is IPv4", "2001:db8::1 is IPv6"}},
		"IPv4 start, IPv6 subnet":         {one(rng{Start: "10.0.0.1", Subnet: "2001:db8::/64"}), []string{"10.0.0.1 is IPv4", "2001:db8:: is IPv6"}},
		"two families in one pool":        {pool{Ranges: []rng{{Subnet: "10.0.0.0/24"}, {Subnet: "2001:db8::/64"}}}, []string{"10.0.0.0-10.0.0.255", "2001:db8::-", "a pool of each"}},
		"ranges that overlap":             {pool{Ranges: []rng{good, {Start: "10.0.0.7", End: "10.0.0.20"}}, Prefix: 24}, []string{"ranges[1]", "10.0.0.7-10.0.0.20", "ranges[0]", "10.0.0.1-10.0.0.9"}},
		"the same range twice":            {pool{Ranges: []rng{good, good}, Prefix: 24}, []string{"ranges[1]", "ranges[0]"}},
		"an end only":                     {one(rng{End: "10.0.0.9"}), []string{"10.0.0.9", "neither start nor subnet"}},
		"nothing in a range":              {one(rng{}), []string{"ranges[0]", "neither start nor subnet"}},
		"no range":                        {pool{Prefix: 24}, []string{`ip_pools["prov"].ranges`, "none"}},
		"a gateway outside of the subnet": {pool{Ranges: []rng{{Subnet: "10.0.0.0/24"}}, Gateway: "10.0.1.1"}, []string{"gateway 10.0.1.1", "10.0.0.0/24"}},
		"a gateway of one of the networks": {
			pool{Ranges: []rng{{Start: "10.0.0.250", End: "10.0.1.2"}}, Prefix: 24, Gateway: "10.0.0.1"},
			[]string{"gateway 10.0.0.1", "10.0.1.0/24", "10.0.1.2"},
		},
		"a gateway of the other family":  {pool{Ranges: []rng{{Subnet: "10.0.0.0/24"}}, Gateway: "2001:db8::1"}, []string{"2001:db8::1 is IPv6", "IPv4"}},
		"a gateway at the edge":          {pool{Ranges: []rng{{Subnet: "10.0.0.0/24"}}, Gateway: "10.0.0.255"}, []string{"10.0.0.255", "10.0.0.0/24"}},
		"prefix 33":                      {pool{Ranges: []rng{good}, Prefix: 33}, []string{`ip_pools["prov"].prefix`, "33", "32"}},
		"prefix -1 of a range":           {one(rng{Start: "10.0.0.1", End: "10.0.0.2", Prefix: -1}), []string{"ranges[0].prefix", "-1"}},
		"prefix 129":                     {pool{Ranges: []rng{{Start: "2001:db8::1"}}, Prefix: 129}, []string{"129", "128"}},
		"no prefix":                      {pool{Ranges: []rng{good}}, []string{"prefix", "10.0.0.1"}},
		"an address set aside twice":     {pool{Ranges: []rng{{Subnet: "2001:db8::/64"}}, PreAllocations: map[string]string{"a": "2001:db8::5", "b": "2001:db8::0005"}}, []string{`["b"]`, `"a"`, "2001:db8::5"}},
		"one set aside out of bounds":    {pool{Ranges: []rng{good}, Prefix: 24, PreAllocations: map[string]string{"a": "10.0.0.10"}}, []string{`["a"]`, "10.0.0.10", "10.0.0.1-10.0.0.9"}},
		"the gateway set aside":          {pool{Ranges: []rng{good}, Prefix: 24, Gateway: "10.0.0.1", PreAllocations: map[string]string{"a": "10.0.0.1"}}, []string{"10.0.0.1 is the gateway"}},
		"one set aside that is excluded": {pool{Ranges: []rng{good}, Prefix: 24, Exclude: []string{"10.0.0.0/29"}, PreAllocations: map[string]string{"a": "10.0.0.1"}}, []string{"10.0.0.1 is excluded"}},
		"the broadcast address set aside": {
			pool{Ranges: []rng{{Subnet: "10.0.0.0/24"}}, PreAllocations: map[string]string{"a": "10.0.0.255"}}, []string{"10.0.0.255 is the broadcast address of 10.0.0.0/24"},
		},
		"what is no address": {
			pool{Ranges: []rng{{Start: "10.0.0", End: "10.0.0.300", Gateway: "x", DNS: []string{"y"}}}, Prefix: 24, Gateway: "z", DNSServers: []string{"fe80::1%eth0"}, Exclude: []string{"v", "10.0.0.0/33"}, PreAllocations: map[string]string{"a": ""}},
			[]string{`"10.0.0"`, `"10.0.0.300"`, `"x"`, `"y"`, `"z"`, "%eth0", `"v"`, `"10.0.0.0/33"`, `pre_allocations["a"]`},
		},
		"a subnet without a length":  {one(rng{Subnet: "10.0.0.0"}), []string{`"10.0.0.0"`, "192.0.2.0/24"}},
		"a subnet in IPv6 clothes":   {one(rng{Subnet: "::ffff:10.0.0.0/120"}), []string{"::ffff:10.0.0.0/120"}},
		"no addresses of machines":   {pool{Ranges: []rng{{Subnet: "224.0.0.0/24"}}}, []string{"224.0.0.0"}},
		"the whole of IPv6":          {pool{Ranges: []rng{{Subnet: "::/0", Prefix: 64}}}, []string{"::"}},
		"all addresses excluded":     {pool{Ranges: []rng{good}, Prefix: 24, Exclude: []string{"10.0.0.0/28"}}, []string{"no address"}},
		"too many networks":          {pool{Ranges: []rng{{Subnet: "10.0.0.0/8"}}, Prefix: 30}, []string{"/30"}},
		"words that nobody knows":    {pool{Ranges: []rng{good}, Prefix: 24, Allocation: "best", By: "rack", Step: -2}, []string{`"best"`, `"index"`, `"rack"`, `"host"`, "-2"}},
		"everything wrong at a time": {pool{Ranges: []rng{{Start: "10.0.0.9", End: "10.0.0.1"}, {End: "10.0.0.1"}}, Prefix: 24, Gateway: "q"}, []string{"ranges[0]", "ranges[1]", "gateway"}},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			t.Parallel()

			_, errs := addresses.Compile("prov", c.pool)
			text := fmt.Sprint(errors.Join(errs...))

			for _, want := range c.says {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in %q", want, text)
				}
			}
		})
	}
}

func TestOCL05_overlappingPools(t *testing.T) {
	t.Parallel()

	range3 := func(start, end string) addresses.Compiled {
		return compile(t, pool{Ranges: []rng{{Start: start, End: end}}, Prefix: 24})
	}

	errs := addresses.CheckOverlap(map[string]addresses.Compiled{
		"a": range3("10.0.0.1", "10.0.0.9"), "b": range3("10.0.0.7", "10.0.0.20"), "c": range3("10.0.0.21", "10.0.0.30"),
		"v6": compile(t, pool{Ranges: []rng{{Subnet: "2001:db8::/64"}}}),
	})
	if len(errs) != 1 {
		t.Fatalf("%d errors: %v", len(errs), errs)
	}

	for _, want := range []string{`ip_pools["a"]`, "10.0.0.1-10.0.0.9", `ip_pools["b"]`, "10.0.0.7-10.0.0.20"} {
		if !strings.Contains(errs[0].Error(), want) {
			t.Errorf("no %q in %q", want, errs[0])
		}
	}

	twice := range3("10.0.0.1", "10.0.0.9")
	if errs := addresses.CheckOverlap(map[string]addresses.Compiled{"a": twice, "b": twice}); len(errs) != 1 {
		t.Errorf("the same pool twice: %v", errs)
	}
}

func TestCompiled_tellsAll(t *testing.T) {
	t.Parallel()

	c := compile(t, pool{
		Ranges: []rng{{Start: "10.0.0.1", End: "10.0.0.3"}, {Start: "10.1.0.1", End: "10.1.0.9", Prefix: 16, Gateway: "10.1.0.254", DNS: []string{"2001:DB8::53"}}},
		Prefix: 24, Gateway: "10.0.0.254", DNSServers: []string{"10.0.0.53", "10.0.0.54"}, Step: 2, PreAllocations: map[string]string{"m": "10.1.0.2"},
	})

	first := addresses.Address{Address: "10.0.0.1", Prefix: 24, Gateway: "10.0.0.254", DNS: []string{"10.0.0.53", "10.0.0.54"}}
	if got, err := c.At(0); err != nil || !reflect.DeepEqual(got, first) {
		t.Errorf("element 0 is %v, %v", got, err)
	}

	other := addresses.Address{Address: "10.1.0.1", Prefix: 16, Gateway: "10.1.0.254", DNS: []string{"2001:db8::53"}}
	if got, err := c.AtIndex(1, 1); err != nil || !reflect.DeepEqual(got, other) {
		t.Errorf("index 1 with offset 1 is %v, %v", got, err)
	}

	other.Address = "10.1.0.2"
	if got, ok := c.PreAllocated("m"); !ok || !reflect.DeepEqual(got, other) {
		t.Errorf("what was set aside is %v, %v", got, ok)
	}

	if _, ok := c.PreAllocated("n"); ok {
		t.Error("something was set aside for n")
	}

	for address, want := range map[string][2]bool{"10.0.0.1": {true, true}, "10.1.0.2": {true, false}, "10.0.0.4": {false, false}, "2001:db8::1": {false, false}} {
		a := netip.MustParseAddr(address)
		if got := [2]bool{c.Contains(a), c.Usable(a)}; got != want {
			t.Errorf("%s is %v, want %v", address, got, want)
		}
	}

	if c.Name() != "prov" || c.Allocation() != addresses.ByIndex || c.By() != addresses.OfMachine || c.Step() != 2 {
		t.Errorf("it is %s by %s of %s, step %d", c.Name(), c.Allocation(), c.By(), c.Step())
	}

	for _, bad := range []string{"", "10.0.0.9", "x"} {
		if _, err := c.Find(bad); err == nil || !strings.Contains(err.Error(), `ip_pools["prov"]`) {
			t.Errorf("it found %q: %v", bad, err)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()

	p, err := addresses.Parse([]byte(`{"ranges": [{"start": "10.0.0.1", "end": null, "dns": ["10.0.0.2"]}], "prefix": 24, "dns_servers": null, "pre_allocations": {"a": "10.0.0.3"}, "exclude": []}`))
	if err != nil || p.Prefix != 24 || p.Ranges[0].Start != "10.0.0.1" || p.PreAllocations["a"] != "10.0.0.3" {
		t.Errorf("got %+v, %v", p, err)
	}

	for _, bad := range []string{``, `[]`, `{"subnets": []}`, `{"prefix": "24"}`, `{"prefix": 24.5}`, `{} {}`} {
		if _, err := addresses.Parse([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
