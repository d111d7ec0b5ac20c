// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package addresses_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

func TestCompiled_AsLargeAsIPv6(t *testing.T) {
	t.Parallel()

	c := compile(t, pool{Ranges: []rng{{Subnet: "2001:db8::/32"}}, Gateway: "2001:db8::1"})
	if got, want := c.Count().String(), "79228162514264337593543950335"; got != want {
		t.Errorf("it counts %s, want %s", got, want)
	}

	if a, err := c.At(1 << 40); err != nil || a.Address != "2001:db8::100:0:1" || a.Prefix != 32 {
		t.Errorf("element 2^40 is %v, %v", a, err)
	}

	rnd := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}

	for range 100 {
		a, err := c.Random(func(a netip.Addr) bool { return seen[a.String()] }, rnd)
		if err != nil || seen[a.Address] {
			t.Fatalf("%v, %v", a, err)
		}

		seen[a.Address] = true
	}
}

func TestCompiled_AtBeyond(t *testing.T) {
	t.Parallel()

	c := compile(t, pool{Ranges: []rng{{Start: "10.0.0.1", End: "10.0.0.3"}}, Prefix: 24, Step: 2})

	for name, ask := range map[string]func() (addresses.Address, error){
		"a negative element":   func() (addresses.Address, error) { return c.At(-1) },
		"the element after":    func() (addresses.Address, error) { return c.At(3) },
		"a negative index":     func() (addresses.Address, error) { return c.AtIndex(0, -1) },
		"a negative offset":    func() (addresses.Address, error) { return c.AtIndex(-1, 1) },
		"an index beyond":      func() (addresses.Address, error) { return c.AtIndex(0, 2) },
		"an index beyond all":  func() (addresses.Address, error) { return c.AtIndex(1, 1<<62) },
		"an offset beyond all": func() (addresses.Address, error) { return c.AtIndex(1<<62, 1<<62) },
		"nothing":              func() (addresses.Address, error) { return addresses.Compiled{}.At(0) },
		"nothing, in sequence": func() (addresses.Address, error) { return addresses.Compiled{}.Sequential(nil) },
		"nothing, at random":   func() (addresses.Address, error) { return addresses.Compiled{}.Random(nil, nil) },
	} {
		if a, err := ask(); err == nil {
			t.Errorf("%s is %v", name, a)
		}
	}

	if _, err := c.At(7); err == nil || !strings.Contains(err.Error(), `ip_pools["prov"]`) || !strings.Contains(err.Error(), "3 usable") {
		t.Errorf("it does not say how many there are: %v", err)
	}
}

// exhaust takes addresses until there is none, and checks that none came twice.
func exhaust(t *testing.T, next func(used func(netip.Addr) bool) (addresses.Address, error)) []string {
	t.Helper()

	var got []string

	used := map[netip.Addr]bool{}

	for {
		a, err := next(func(a netip.Addr) bool { return used[a] })
		if err != nil {
			if !strings.Contains(err.Error(), "in use") {
				t.Errorf("it ends with %v", err)
			}

			return got
		}

		addr := netip.MustParseAddr(a.Address)
		if used[addr] {
			t.Fatalf("%s came twice", addr)
		}

		used[addr] = true
		got = append(got, a.Address)
	}
}

// some makes a random pool of IPv4 ranges, of which some are wrong.
func some(rnd *rand.Rand) pool {
	addr := func() string { return fmt.Sprintf("10.0.%d.%d", rnd.IntN(2), rnd.IntN(256)) }
	p := pool{Prefix: 22 + rnd.IntN(11), PreAllocations: map[string]string{}}

	for range 1 + rnd.IntN(3) {
		switch rnd.IntN(4) {
		case 0:
			p.Ranges = append(p.Ranges, rng{Subnet: fmt.Sprintf("%s/%d", addr(), 24+rnd.IntN(9))})
		case 1:
			p.Ranges = append(p.Ranges, rng{Start: addr(), Subnet: "10.0.0.0/23"})
		default:
			p.Ranges = append(p.Ranges, rng{Start: addr(), End: addr()})
		}
	}

	if rnd.IntN(2) == 0 {
		p.Gateway = addr()
	}

	for i := range rnd.IntN(3) {
		p.Exclude = append(p.Exclude, addr())
		p.PreAllocations[fmt.Sprint(i)] = addr()
	}

	return p
}

func Test11_1_poolGivesWhatItCounts(t *testing.T) {
	t.Parallel()

	rnd := rand.New(rand.NewPCG(7, 7))

	for tried := 0; tried < 300; {
		p := some(rnd)

		c, errs := addresses.Compile("prov", p)
		if len(errs) > 0 {
			continue
		}

		tried++

		all := drain(t, c)
		check(t, p, all)

		// Random takes a moment for each address.
		if len(all) > 64 {
			continue
		}

		inOrder := exhaust(t, c.Sequential)
		if strings.Join(all, " ") != strings.Join(inOrder, " ") {
			t.Fatalf("%+v: in sequence %v, by element %v", p, inOrder, all)
		}

		byChance := exhaust(t, func(used func(netip.Addr) bool) (addresses.Address, error) { return c.Random(used, rnd) })
		if len(byChance) != len(all) {
			t.Fatalf("%+v: at random %d, by element %d", p, len(byChance), len(all))
		}
	}
}

// check holds addresses against the rules, written the slow way.
func check(t *testing.T, p pool, all []string) {
	t.Helper()

	never := map[string]bool{p.Gateway: true}
	for _, a := range p.Exclude {
		never[a] = true
	}

	for _, a := range p.PreAllocations {
		never[a] = true
	}

	seen := map[string]bool{}

	for _, s := range all {
		a := netip.MustParseAddr(s)
		network := netip.PrefixFrom(a, p.Prefix).Masked()

		switch {
		case seen[s]:
			t.Fatalf("%+v: %s came twice", p, s)
		case never[s]:
			t.Fatalf("%+v: %s is not to be given", p, s)
		case p.Prefix <= 30 && (network.Addr() == a || !network.Contains(a.Next())):
			t.Fatalf("%+v: %s is an edge of %s", p, s, network)
		}

		seen[s] = true
	}
}

func FuzzCompile(f *testing.F) {
	f.Add([]byte(`{"ranges": [{"subnet": "192.0.2.5/29"}], "gateway": "192.0.2.1"}`), 3)
	f.Add([]byte(`{"ranges": [{"start": "2001:db8::1", "subnet": "2001:db8::/64"}, {"start": "2001:db8:1::"}], "prefix": 64, "step": 3}`), 1<<40)
	f.Add([]byte(`{"ranges": [{"start": "10.0.0.250", "end": "10.0.1.2"}], "prefix": 24, "pre_allocations": {"a": "10.0.0.251"}, "exclude": ["10.0.0.252/31", "::/0", "0.0.0.0/0"]}`), 0)
	f.Add([]byte(`{"ranges": [{"end": "255.255.255.255", "subnet": "0.0.0.0/0"}, {"subnet": "::/1"}], "prefix": 1}`), -1)

	f.Fuzz(func(t *testing.T, document []byte, i int) {
		p, err := addresses.Parse(document)
		if err != nil {
			return
		}

		c, errs := addresses.Compile("p", p)
		if len(errs) > 0 {
			return
		}

		a, err := c.At(i)
		if (err == nil) != (i >= 0 && c.Count().Cmp(c.Count().SetInt64(int64(i))) > 0) {
			t.Fatalf("element %d of %s: %v, %v", i, c.Count(), a, err)
		}

		if err != nil {
			return
		}

		if addr, err := addresses.ParseAddress(a.Address); err != nil || !c.Contains(addr) || !c.Usable(addr) || addr.String() != a.Address {
			t.Fatalf("element %d is %v: %v", i, a, err)
		}

		if i > 0 {
			if before, err := c.At(i - 1); err != nil || before.Address == a.Address {
				t.Fatalf("elements %d and %d: %v, %v", i-1, i, before, err)
			}
		}
	})
}
