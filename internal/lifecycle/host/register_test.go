// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package host_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
)

const another = "00000000-0000-4000-8000-000000000002"

// found is a record that a Create meets under its name.
func found(state ironic.State, change func(*host.Journal)) host.Seen {
	j := host.Journal{ManagedBy: host.ManagedBy, OwnerID: "me", Namespace: "ns", Name: "n1", Phase: host.PhaseInspecting}
	if change != nil {
		change(&j)
	}

	return host.Seen{Journal: j, Node: ironic.Node{
		UUID: id, Name: "ns~n1", ProvisionState: state, DriverInfo: map[string]any{"ipmi_address": "192.0.2.1"},
		Extra: map[string]any{host.JournalKey: plain(j.Value())},
	}}
}

func TestResumable(t *testing.T) {
	t.Parallel()

	now := time.Now()
	finished := func(ago time.Duration, fingerprint string) func(*host.Journal) {
		return func(j *host.Journal) {
			j.Phase, j.Fingerprint, j.PhaseStarted = host.PhaseProvisioned, fingerprint, now.Add(-ago).UTC().Format(time.RFC3339)
		}
	}
	unknown := func(j *host.Journal) { *j = host.Journal{} }
	same := wanted().Fingerprint()
	changed := wanted()
	changed.Image.URL = "http://images.test/b.raw"

	for name, c := range map[string]struct {
		state ironic.State
		with  func(*host.Journal)
		node  func(*ironic.Node)
		why   string // a part; empty: it may be resumed
	}{
		"an unfinished create of the same owner":        {ironic.InspectWait, nil, nil, ""},
		"one that failed to deploy":                     {ironic.DeployFailed, func(j *host.Journal) { j.Phase = host.PhaseProvisioning }, nil, ""},
		"another owner's":                               {ironic.Enroll, func(j *host.Journal) { j.OwnerID = "b" }, nil, `owner_id "b"`},
		"a finished host":                               {ironic.Active, finished(time.Hour, same), nil, "finished"},
		"one that was finished a moment ago":            {ironic.Active, finished(time.Minute, same), nil, ""},
		"by another configuration":                      {ironic.Active, finished(time.Minute, changed.Fingerprint()), nil, "finished"},
		"one that says no time":                         {ironic.Active, func(j *host.Journal) { j.Phase, j.Fingerprint = host.PhaseAvailable, same }, nil, "finished"},
		"a bare record that nobody used":                {ironic.Manageable, unknown, nil, ""},
		"a bare record that is claimed":                 {ironic.Manageable, unknown, func(n *ironic.Node) { n.InstanceUUID = "c" }, "was not made by this provider"},
		"a bare record that is further":                 {ironic.Available, unknown, nil, "was not made by this provider"},
		"a machine that runs":                           {ironic.Active, unknown, nil, "was not made by this provider"},
		"another machine":                               {ironic.Enroll, nil, func(n *ironic.Node) { n.DriverInfo["ipmi_address"] = "192.0.2.9" }, "another BMC address"},
		"a record without an address":                   {ironic.Enroll, unknown, func(n *ironic.Node) { n.DriverInfo = nil }, "another BMC address"},
		"a foreign journal counts before the address":   {ironic.Enroll, func(j *host.Journal) { j.OwnerID = "b" }, func(n *ironic.Node) { n.DriverInfo = nil }, "owner_id"},
		"a machine of another manager is not a journal": {ironic.Enroll, func(j *host.Journal) { j.ManagedBy = "other" }, nil, "owner_id"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := found(c.state, c.with)
			if c.node != nil {
				c.node(&s.Node)
			}

			why := host.Resumable(s, wanted(), now)
			if (why == "") != (c.why == "") || !strings.Contains(why, c.why) {
				t.Errorf("got %q, want %q", why, c.why)
			}
		})
	}
}

func TestFingerprint_hasNoSecretsAndNoAccidents(t *testing.T) {
	t.Parallel()

	a, b := wanted(), wanted()
	b.ID, b.BMC.Password, b.BMC.Username, b.ProvisionAttempts, b.PullSecret = another, "two", "other", 1, "secret"

	if a.Fingerprint() != b.Fingerprint() {
		t.Error("the same host has two fingerprints")
	}

	for name, change := range map[string]func(*host.Wanted){
		"name": func(w *host.Wanted) { w.Name = "n2" }, "address": func(w *host.Wanted) { w.BMC.Access.Address = "ipmi://x" },
		"user data": func(w *host.Wanted) { w.Config.UserData = "x" }, "labels": func(w *host.Wanted) { w.Labels = map[string]string{"a": "b"} },
		"triggers": func(w *host.Wanted) { w.Reprovision.TriggersSHA256 = "x" }, "MAC": func(w *host.Wanted) { w.BootMAC = "" },
	} {
		if b = wanted(); true {
			change(&b)
		}

		if a.Fingerprint() == b.Fingerprint() {
			t.Errorf("another %s is not seen", name)
		}
	}
}

// put places a record on the far side.
func (b *far) put(s host.Seen, macs ...string) {
	r := &record{node: s.Node}
	for _, mac := range macs {
		r.ports = append(r.ports, ironic.Port{NodeUUID: s.Node.UUID, Address: mac})
	}

	b.records[s.Node.UUID] = r
}

func TestRun_register(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		seen  host.Seen
		macs  []string
		fails string // a part of the error; empty: it goes on with the record
	}{
		"goes on with an unfinished create":               {found(ironic.Enroll, nil), nil, ""},
		"also in the middle of a transition":              {found(ironic.Verifying, nil), nil, ""},
		"a finished host is not taken over":               {found(ironic.Active, func(j *host.Journal) { j.Phase = host.PhaseProvisioned }), nil, "node ns~n1 exists already"},
		"nor another owner's":                             {found(ironic.Enroll, func(j *host.Journal) { j.OwnerID = "b" }), nil, `belongs to owner_id "b"`},
		"nor a host of another name with our MAC address": {with(found(ironic.Enroll, nil), func(n *ironic.Node) { n.Name = "ns~other" }), []string{wanted().BootMAC}, "MAC address 52:54:00:00:00:01 belongs to node ns~other"},
		"a nameless one that discovery made is taken":     {with(bare(ironic.Enroll), func(n *ironic.Node) { n.Name = "" }), []string{wanted().BootMAC}, ""},
		"unless it is claimed":                            {with(bare(ironic.Available), func(n *ironic.Node) { n.Name, n.InstanceUUID = "", "c" }), []string{wanted().BootMAC}, "in use"},
		"or under way":                                    {with(bare(ironic.Inspecting), func(n *ironic.Node) { n.Name = "" }), []string{wanted().BootMAC}, "in use"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(t *testing.T, b *far) {
				t.Helper()

				if c.seen.Node.ProvisionState == ironic.Verifying {
					c.seen.Node.TargetProvisionState = ironic.Manageable
				}

				b.put(c.seen, c.macs...)

				if r := b.records[id]; c.seen.Node.ProvisionState == ironic.Verifying {
					r.later(2*time.Second, func(n *ironic.Node) { arrive(n, ironic.VerbManage, ironic.Manageable, true) })
				}

				w := wanted()
				w.ID = another

				run := &host.Run{Backend: b, Wanted: w, Goal: host.Provisioned}
				seen, err := run.To(t.Context(), host.Seen{})

				var exists *host.ExistsError
				if c.fails != "" {
					if !errors.As(err, &exists) || !strings.Contains(err.Error(), c.fails) || seen.Node.UUID != "" {
						t.Fatalf("got %v", err)
					}

					return
				}

				if err != nil || len(b.records) != 1 || seen.Node.UUID != id || seen.Node.Name != "ns~n1" || !seen.Journal.Ours("me") || len(b.records[id].ports) != 1 {
					t.Fatalf("%v; %d records; %+v", err, len(b.records), seen.Node)
				}

				// The password of the earlier run may have been the reason why it did not finish.
				if !slices.Equal(b.records[id].sent, []string{"one"}) {
					t.Errorf("passwords %v", b.records[id].sent)
				}
			})
		})
	}
}

func with(s host.Seen, change func(*ironic.Node)) host.Seen {
	change(&s.Node)

	return s
}

// bare is a record without a journal.
func bare(state ironic.State) host.Seen {
	s := found(state, nil)
	s.Journal, s.Node.Extra = host.Journal{}, map[string]any{}

	return s
}

func TestRun_aPortThatCannotBeMadeLeavesTheIdKnown(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.fail["EnsurePorts"] = []error{&host.ExistsError{Name: "other", ID: another, MAC: "52:54:00:00:00:01", Why: "x"}}

		_, seen, err := b.drive(t.Context(), wanted(), host.Provisioned)
		if err == nil || seen.Node.UUID != id {
			t.Errorf("%v, node %q", err, seen.Node.UUID)
		}
	})
}

func TestRun_theLostWindowBeginsWhenTheApplyEnds(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *far) {
		t.Helper()

		b.pace[string(ironic.WaitCallBack)] = time.Hour // a slow deployment
		b.must(wanted(), host.Provisioned)

		w := wanted()
		w.ID = another

		run := &host.Run{Backend: b, Wanted: w, Goal: host.Provisioned}
		if seen, err := run.To(t.Context(), host.Seen{}); err != nil || seen.Node.UUID != id || b.count("Start active") != 1 {
			t.Fatalf("got %v", err)
		}

		time.Sleep(20 * time.Minute)

		var exists *host.ExistsError
		if _, err := (&host.Run{Backend: b, Wanted: w, Goal: host.Provisioned}).To(t.Context(), host.Seen{}); !errors.As(err, &exists) {
			t.Errorf("a second workspace got %v", err)
		}
	})
}

func TestFind(t *testing.T) {
	t.Parallel()

	b := newFar(t)
	b.put(with(found(ironic.Active, nil), func(n *ironic.Node) { n.InstanceUUID = "aaaa" }), "52:54:00:00:00:01")
	b.put(with(bare(ironic.Active), func(n *ironic.Node) { n.UUID, n.Name = another, "plain" }))

	for ask, want := range map[string]string{
		id: id, "ns~n1": id, "ns/n1": id, "n1": id, "plain": another, "mac:52:54:00:00:00:01": id, "instance:AAAA": id,
	} {
		if got, err := host.Find(t.Context(), b, ask, "ns"); got != want || err != nil {
			t.Errorf("%s is %q, %v", ask, got, err)
		}
	}

	for ask, says := range map[string]string{
		"n12": "there are ns~n1", "other/n1": "no node other~n1; there are ns~n1", "mac:52:54:00:00:00:09": "no node has a port", "instance:bbbb": "no node is claimed",
		"xyz": "no node xyz and no node ns~xyz",
	} {
		if _, err := host.Find(t.Context(), b, ask, "ns"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", ask, err)
		}
	}

	b.fail["Look"] = []error{ironic.ErrAuth}
	if _, err := host.Find(t.Context(), b, "n1", "ns"); !errors.Is(err, ironic.ErrAuth) {
		t.Errorf("a missing right became %v", err)
	}
}
