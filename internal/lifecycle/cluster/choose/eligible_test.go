// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

var now = time.Unix(1_800_000_000, 0)

// free is a host that everybody may take. The changes are made to it.
func free(name string, changes ...func(*host.Seen)) host.Seen {
	s := host.Seen{
		Node: ironic.Node{
			UUID: "id-" + name, Name: host.NodeName("metal3", name), ProvisionState: ironic.Available, PowerState: ironic.PowerOff, ResourceClass: "small",
			Traits: []string{"CUSTOM_GPU"}, Properties: map[string]any{"cpus": 16, "memory_mb": "65536", "local_gb": 480.0, "cpu_arch": "x86_64"},
		},
		Ports:   []ironic.Port{{Address: "02:00:00:00:00:01"}, {Address: "02:00:00:00:00:02"}},
		Journal: host.Journal{Namespace: "metal3", Name: name, Labels: labels{"rack": "r1"}, FailureDomain: "one"},
	}
	for _, change := range changes {
		change(&s)
	}

	return s
}

func in(domain string) func(*host.Seen) {
	return func(s *host.Seen) { s.Journal.FailureDomain = domain }
}

func labelled(key, v string) func(*host.Seen) {
	return func(s *host.Seen) { s.Journal.Labels = labels{key: v} }
}

func heldFor(cluster, machine string, until time.Time) func(*host.Seen) {
	return func(s *host.Seen) {
		s.Journal.Hold = choose.Hold{Cluster: cluster, Machine: machine, Until: until}.Value()
	}
}

func claimedBy(id string) func(*host.Seen) { return func(s *host.Seen) { s.Node.InstanceUUID = id } }

func TestRefusal(t *testing.T) {
	t.Parallel()

	type seen = func(*host.Seen)

	wants := func(change func(*choose.Request)) choose.Request {
		r := choose.Request{Machine: "edge-w-0", Cluster: "default/edge", ClaimID: "mine"}
		if change != nil {
			change(&r)
		}

		return r
	}
	node := func(change func(*ironic.Node)) seen { return func(s *host.Seen) { change(&s.Node) } }

	for name, c := range map[string]struct {
		host    seen
		request func(*choose.Request)
		want    string // empty: eligible
	}{
		"a free host":                {func(*host.Seen) {}, nil, ""},
		"manageable":                 {node(func(n *ironic.Node) { n.ProvisionState = ironic.Manageable }), nil, `provision state is "manageable", not "available"`},
		"active for somebody":        {node(func(n *ironic.Node) { n.ProvisionState, n.InstanceUUID = ironic.Active, "i-1" }), nil, "instance i-1 is on it"},
		"maintenance":                {node(func(n *ironic.Node) { n.Maintenance, n.MaintenanceReason = true, "fans" }), nil, "in maintenance (fans)"},
		"maintenance by a fault":     {node(func(n *ironic.Node) { n.Maintenance, n.Fault = true, "power failure" }), nil, "in maintenance (power failure)"},
		"a fault":                    {node(func(n *ironic.Node) { n.Fault = "clean failure" }), nil, "fault: clean failure"},
		"retired":                    {node(func(n *ironic.Node) { n.Retired, n.RetiredReason = true, "old" }), nil, "retired (old)"},
		"claimed":                    {claimedBy("theirs"), nil, "instance_uuid theirs"},
		"claimed by this machine":    {claimedBy("mine"), nil, ""},
		"power unknown":              {node(func(n *ironic.Node) { n.PowerState = "" }), nil, "power state"},
		"unhealthy":                  {func(s *host.Seen) { s.Journal.Unhealthy = "remediation failed" }, nil, "unhealthy: remediation failed"},
		"unhealthy, oddly":           {func(s *host.Seen) { s.Journal.Unhealthy = 7.0 }, nil, "unhealthy"},
		"not unhealthy":              {func(s *host.Seen) { s.Journal.Unhealthy = false }, nil, ""},
		"held for another machine":   {heldFor("default/edge", "edge-w-1", now.Add(time.Hour)), nil, "held for machine edge-w-1 of cluster default/edge until 2027"},
		"held for this machine":      {heldFor("default/edge", "edge-w-0", now.Add(time.Hour)), nil, ""},
		"a hold that is over":        {heldFor("default/edge", "edge-w-1", now), nil, ""},
		"a hold without an end":      {heldFor("default/edge", "edge-w-1", time.Time{}), nil, "held for machine edge-w-1"},
		"a hold that cannot be read": {func(s *host.Seen) { s.Journal.Hold = []any{"x"} }, nil, "cannot be read"},
		"bound to another host":      {nil, func(r *choose.Request) { r.Pinned = "id-b" }, "bound to host id-b"},
		"bound to this host":         {nil, func(r *choose.Request) { r.Pinned = "ID-a" }, ""},
		"not in the list":            {nil, func(r *choose.Request) { r.HostIDs = []string{"id-b"} }, "host pool lists"},
		"a list of none":             {nil, func(r *choose.Request) { r.HostIDs = []string{} }, "host pool lists"},
		"listed by id":               {nil, func(r *choose.Request) { r.HostIDs = []string{"ID-A"} }, ""},
		"listed by name":             {nil, func(r *choose.Request) { r.HostNames = []string{"a"} }, ""},
		"listed by node name":        {nil, func(r *choose.Request) { r.HostNames = []string{"metal3~a"} }, ""},
		"listed by id or name":       {nil, func(r *choose.Request) { r.HostIDs, r.HostNames = []string{"id-b"}, []string{"a"} }, ""},
		"of another namespace":       {nil, func(r *choose.Request) { r.HostNames = []string{"edge~a"} }, "host pool lists"},
		"the second selector": {nil, func(r *choose.Request) {
			r.Selectors = []choose.Selector{expr("rack", "exists"), expr("rack", "!=", "r1")}
		}, `rack is "r1", which is ruled out`},
		"a made label": {nil, func(r *choose.Request) { r.Selectors = []choose.Selector{expr("metal3.io/name", "in", "a")} }, ""},
		"processors":   {nil, func(r *choose.Request) { r.Min.CPUs = 17 }, "processors: it has 16, and 17 are wanted"},
		"enough of all": {nil, func(r *choose.Request) {
			r.Min = choose.Hardware{CPUs: 16, MemoryMiB: 65536, RootGiB: 480, NICs: 2, Arch: "amd64"}
		}, ""},
		"memory":                         {nil, func(r *choose.Request) { r.Min.MemoryMiB = 65537 }, "MiB of memory: it has 65536, and 65537 are wanted"},
		"memory that is not known":       {node(func(n *ironic.Node) { n.Properties = nil }), func(r *choose.Request) { r.Min.MemoryMiB = 1 }, "MiB of memory: it is not known how many"},
		"memory of an odd type":          {node(func(n *ironic.Node) { n.Properties = map[string]any{"memory_mb": []any{}} }), func(r *choose.Request) { r.Min.MemoryMiB = 1 }, "not known"},
		"disk":                           {nil, func(r *choose.Request) { r.Min.RootGiB = 481 }, "GiB of root disk: it has 480"},
		"architecture":                   {nil, func(r *choose.Request) { r.Min.Arch = "arm64" }, "architecture is x86_64, not arm64"},
		"architecture that nobody knows": {node(func(n *ironic.Node) { n.Properties = nil }), func(r *choose.Request) { r.Min.Arch = "arm64" }, "architecture is not known"},
		"network ports":                  {nil, func(r *choose.Request) { r.Min.NICs = 3 }, "network ports: it has 2, and 3"},
		"ports that nobody asked for":    {func(s *host.Seen) { s.Ports = nil }, func(r *choose.Request) { r.Min.NICs = 1 }, "network ports: it has 0"},
		"resource class":                 {nil, func(r *choose.Request) { r.ResourceClass = "big" }, `class is "small", not "big"`},
		"traits":                         {nil, func(r *choose.Request) { r.Traits = []string{"CUSTOM_GPU", "CUSTOM_FPGA"} }, "trait CUSTOM_FPGA"},
		"another domain is preferred":    {nil, func(r *choose.Request) { r.Domain = "two" }, ""},
		"another domain is required":     {nil, func(r *choose.Request) { r.Domain, r.DomainRequired = "two", true }, `domain is "one", not "two"`},
		"other domains are required":     {in("four"), func(r *choose.Request) { r.Domains, r.DomainRequired = []string{"two", "three"}, true }, `not one of "two", "three"`},
		"no domain where one must be":    {in(""), func(r *choose.Request) { r.Domain, r.DomainRequired = "two", true }, `no failure domain, and "two" is required`},
		"the first reason counts":        {node(func(n *ironic.Node) { n.Maintenance, n.Retired = true, true }), func(r *choose.Request) { r.Min.CPUs = 99 }, "maintenance"},
	} {
		t.Run("11.2 "+name, func(t *testing.T) {
			t.Parallel()

			s := free("a")
			if c.host != nil {
				c.host(&s)
			}

			got := choose.Refusal(wants(c.request), s, now)
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestRefusal_states lets only one of Ironic's states through.
func TestRefusal_states(t *testing.T) {
	t.Parallel()

	for _, state := range []ironic.State{"", ironic.Enroll, ironic.Manageable, ironic.Cleaning, ironic.CleanWait, ironic.Active, ironic.DeployFailed, ironic.Error, "of the future"} {
		s := free("a")

		s.Node.ProvisionState = state
		if choose.Refusal(choose.Request{}, s, now) == "" {
			t.Errorf("a host in state %q is eligible", state)
		}
	}
}

func TestOCL08_holdOfAnotherCluster(t *testing.T) {
	t.Parallel()

	// Two clusters of one name in two namespaces: their machines have the same names.
	mine := choose.Request{Machine: "edge-w-0", Cluster: "default/edge", ClaimID: "mine", Pool: "w"}
	other := mine
	other.Cluster, other.ClaimID = "prod/edge", "theirs"

	hosts := []host.Seen{free("a", heldFor("prod/edge", "edge-w-0", now.Add(time.Hour))), free("b")}

	if got := choose.Refusal(mine, hosts[0], now); !strings.Contains(got, "cluster prod/edge") {
		t.Errorf("the host that is held is refused with %q", got)
	}

	for want, r := range map[string]choose.Request{"id-b": mine, "id-a": other} {
		got, refused := choose.Assign([]choose.Request{r}, hosts, nil, nil, now)
		if got["edge-w-0"] != want || len(refused) != 0 {
			t.Errorf("cluster %s takes %v, want %s; refused %v", r.Cluster, got, want, refused)
		}
	}

	got, refused := choose.Assign([]choose.Request{mine}, hosts[:1], nil, nil, now)
	if len(got) != 0 || len(refused) != 1 || !strings.Contains(refused[0].Reasons[0].Text, "held") {
		t.Errorf("got %v, refused %v", got, refused)
	}

	// Not available yet: it waits for its host, and does not take it.
	hosts[0].Node.ProvisionState = ironic.Cleaning
	if got, _ := choose.Assign([]choose.Request{other}, hosts[:1], nil, nil, now); len(got) != 0 {
		t.Errorf("a host that is cleaned was taken: %v", got)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()

	s := free("a", func(s *host.Seen) {
		s.Journal.Labels = labels{"rack": "r1", "metal3.io/name": "forged", "metal3.io/failure-domain": "forged", "trait.metal3.io/CUSTOM_X": "true"}
		s.Journal.FailureDomain = ""
	})

	want := labels{
		"rack": "r1", "metal3.io/name": "a", "metal3.io/uuid": "id-a", "metal3.io/arch": "x86_64", "metal3.io/resource-class": "small",
		"trait.metal3.io/CUSTOM_GPU": "true",
	}
	if got := choose.Labels(s); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	if got := choose.Labels(host.Seen{}); len(got) != 0 {
		t.Errorf("a host of which nothing is known has labels %v", got)
	}

	for node, want := range map[string]string{"metal3~b": "b", "b": "b", "": "u", "b~": "b~"} {
		if got := choose.Name(host.Seen{Node: ironic.Node{UUID: "u", Name: node}}); got != want {
			t.Errorf("node %q is host %q, want %q", node, got, want)
		}
	}
}

func TestParseHold(t *testing.T) {
	t.Parallel()

	until := now.UTC()
	full := choose.Hold{Cluster: "default/edge", Machine: "edge-cp-0", Until: until}

	for name, c := range map[string]struct {
		found any
		want  choose.Hold
		is    bool
	}{
		"nothing":                      {nil, choose.Hold{}, false},
		"false":                        {false, choose.Hold{}, false},
		"an empty text":                {"", choose.Hold{}, false},
		"an empty object":              {map[string]any{}, choose.Hold{}, false},
		"what we write":                {full.Value(), full, true},
		"without an end":               {map[string]any{"cluster": "c", "machine": "m"}, choose.Hold{Cluster: "c", Machine: "m"}, true},
		"an end that is no time":       {map[string]any{"machine": "m", "until": "tomorrow"}, choose.Hold{Machine: "m"}, true},
		"an end of another type":       {map[string]any{"machine": "m", "until": 12.0}, choose.Hold{Machine: "m"}, true},
		"a machine of another type":    {map[string]any{"cluster": "c", "machine": 1.0}, choose.Hold{Cluster: "c"}, true},
		"a text":                       {"do not touch", choose.Hold{}, true},
		"true":                         {true, choose.Hold{}, true},
		"a list":                       {[]any{}, choose.Hold{}, true},
		"a time with an offset, split": {map[string]any{"until": until.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)}, choose.Hold{Until: until}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, is := choose.ParseHold(c.found)
			if is != c.is || got.Cluster != c.want.Cluster || got.Machine != c.want.Machine || !got.Until.Equal(c.want.Until) {
				t.Errorf("got %+v, %v", got, is)
			}
		})
	}

	for text, h := range map[string]choose.Hold{
		"held for machine m of cluster c": {Cluster: "c", Machine: "m"}, "held for machine m": {Machine: "m"}, "held for cluster c": {Cluster: "c"},
	} {
		if got := fmt.Sprint(h); got != text || h.Of("", "") || h.Expired(now) {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}
