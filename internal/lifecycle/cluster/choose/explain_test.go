// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package choose_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

func explained(reqs requests, hosts []host.Seen) string {
	_, refused := choose.Assign(reqs, hosts, nil, nil, now)

	return choose.Explain(refused)
}

func TestExplain(t *testing.T) {
	t.Parallel()

	deployed := func(s *host.Seen) { s.Node.ProvisionState, s.Node.InstanceUUID = ironic.Active, "i-"+s.Journal.Name }

	for name, c := range map[string]struct {
		reqs  requests
		hosts []host.Seen
		want  string
	}{
		"nobody is without a host": {requests{cp(0)}, []host.Seen{free("a")}, ""},
		"there are no hosts": {
			requests{cp(0)},
			nil,
			"1 host is missing for the control plane (edge-cp-0). There are no hosts at all: enrol some (metal3_baremetal_host), and let the cluster depend on them.",
		},
		"each host with its reason": {
			requests{cp(0), worker(0, where("gpu", "yes")), worker(1, where("gpu", "yes"))},
			[]host.Seen{free("node-10", labelled("gpu", "yes")), free("node-2"), free("node-1"), free("node-3", deployed)},
			`1 host is missing for worker pool "w" (edge-w-1). Of 4 hosts, none is left:
  - node-1: it has no label gpu (wanted is "yes")
  - node-2: it has no label gpu (wanted is "yes")
  - node-3: its provision state is "active", not "available"; instance i-node-3 is on it
  - node-10: it becomes machine edge-w-0`,
		},
		"two pools are told one after the other": {
			requests{cp(0), worker(0), worker(1)},
			[]host.Seen{free("a", deployed)},
			`1 host is missing for the control plane (edge-cp-0). Of 1 host, none is left:
  - a: its provision state is "active", not "available"; instance i-a is on it

2 hosts are missing for worker pool "w" (edge-w-0, edge-w-1). Of 1 host, none is left:
  - a: its provision state is "active", not "available"; instance i-a is on it`,
		},
		"hosts of one name in two namespaces are told apart": {
			requests{worker(0, where("x", "y"))},
			[]host.Seen{free("a"), free("a", func(s *host.Seen) { s.Node.UUID, s.Node.Name, s.Journal.Namespace = "2", "edge~a", "edge" })},
			`1 host is missing for worker pool "w" (edge-w-0). Of 2 hosts, none is left:
  - edge~a, metal3~a: it has no label x (wanted is "y")`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := explained(c.reqs, c.hosts)

			// One line for a reason that hosts share.
			want := strings.Replace(c.want, "  - node-1: it has no label gpu (wanted is \"yes\")\n  - node-2:", "  - node-1, node-2:", 1)
			if got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestExplain_staysShort tells of 2,000 hosts with many reasons, all of which differ.
func TestExplain_staysShort(t *testing.T) {
	t.Parallel()

	hosts := fleet(2000)
	for i := range hosts {
		s := &hosts[i]

		switch i % 16 {
		case 0:
			s.Node.ProvisionState, s.Node.InstanceUUID = ironic.Active, fmt.Sprint("i-", i)
		case 1:
			s.Node.Maintenance, s.Node.MaintenanceReason = true, fmt.Sprint("ticket ", i)
		case 2:
			s.Node.Fault = fmt.Sprint("fault ", i)
		case 3:
			s.Node.Retired, s.Node.RetiredReason = true, fmt.Sprint("since ", i)
		case 4:
			s.Node.InstanceUUID = fmt.Sprint("i-", i)
		case 5:
			s.Node.PowerState = ""
		case 6:
			s.Journal.Unhealthy = fmt.Sprint("why ", i)
		case 7:
			s.Journal.Hold = choose.Hold{Machine: fmt.Sprint("m", i)}.Value()
		case 8:
			s.Journal.Labels = nil
		case 9, 10, 11, 12:
			s.Node.Properties = map[string]any{"memory_mb": i, "cpus": i % 3}
		}
	}

	text := explained(requests{worker(0, where("site", "a"), func(r *choose.Request) { r.Min.CPUs, r.ResourceClass = 2, "big" })}, hosts)
	if lines := strings.Split(text, "\n"); len(lines) > 19 || len(text) > 3000 {
		t.Errorf("%d lines, %d bytes:\n%s", len(lines), len(text), text)
	}

	for _, want := range []string{"they are in maintenance", "somebody else claims them", "121 more: they are held for other machines", `resource class is "small", not "big"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// TestExplain_ofOthers explains refusals that a caller made: it lost every race.
func TestExplain_ofOthers(t *testing.T) {
	t.Parallel()

	var reasons []choose.Reason
	for i := range 40 {
		reasons = append(reasons, choose.Reason{Host: fmt.Sprint("node-", i), Text: fmt.Sprint("lost to ", i)})
	}

	text := choose.Explain([]choose.Refused{{Machine: "m", Reasons: reasons}, {Machine: "n"}})
	for _, want := range []string{"1 host is missing for machine m (m). Of 40 hosts", "node-0: lost to 0", "24 hosts more, for other reasons", "missing for machine n (n). There are no hosts"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
}

// FuzzParseHold reads holds of other writers: whatever they are, a host that is held stays
// held for all but the one who is named.
func FuzzParseHold(f *testing.F) {
	for _, seed := range []string{`null`, `true`, `"x"`, `{}`, `[]`, `{"cluster": "c", "machine": "m", "until": "2027-01-01T00:00:00Z"}`, `{"machine": 1, "until": {}}`} {
		f.Add(seed)
	}

	f.Fuzz(func(t *testing.T, doc string) {
		var found any
		if json.Unmarshal([]byte(doc), &found) != nil {
			return
		}

		h, is := choose.ParseHold(found)
		if h.String() == "" || (!is && h != choose.Hold{}) {
			t.Errorf("%+v, %v", h, is)
		}

		if again, is := choose.ParseHold(h.Value()); is && (again.Cluster != h.Cluster || again.Machine != h.Machine) {
			t.Errorf("%+v is read back as %+v", h, again)
		}

		s := free("a", func(s *host.Seen) { s.Journal.Hold = found })
		if free := choose.Refusal(choose.Request{Machine: "nobody's", Cluster: "c"}, s, now) == ""; free != (!is || h.Expired(now)) && !h.Of("c", "nobody's") {
			t.Errorf("%s: held is %v, and the host is free: %v", doc, is, free)
		}
	})
}
