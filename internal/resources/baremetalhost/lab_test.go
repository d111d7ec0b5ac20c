// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package baremetalhost_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labironic "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/provider/providertest"
)

// Map is an object of a configuration.
type Map = map[string]any

const (
	image  = "http://images.lab/debian-12.qcow2"
	image2 = "http://images.lab/debian-13.qcow2"
	sums   = "http://images.lab/SHA256SUMS"

	theHost = "metal3_baremetal_host"
)

func TestMain(m *testing.M) { acctest.Main(m) }

// world is a lab, and one host of a configuration on it.
type world struct {
	*acctest.Core
	acctest.Lab

	t   *testing.T
	ctx context.Context //nolint:containedctx // of one test
}

// inLab runs a test in virtual time on a lab of its own: an hour takes no time, and nothing
// but the test moves the clock.
func inLab(t *testing.T, o lab.Options, test func(world)) {
	t.Helper()

	acctest.OneIn(t, 10)
	synctest.Test(t, func(t *testing.T) {
		if o.Machines == 0 {
			o.Machines = 4
		}

		l := acctest.NewLab(t, o)
		test(world{Core: l.Core(t, theHost), Lab: l, t: t, ctx: t.Context()})
	})
}

// node is a configuration of the lab's machine i without an image, changed by parts.
func node(i int, parts ...Map) Map {
	m := Map{
		"name": fmt.Sprintf("node-%d", i),
		"bmc": Map{
			"address": address(i), "username": "admin", "password_wo": "password", "password_wo_version": 1,
		},
	}

	for _, p := range parts {
		maps.Copy(m, p)
	}

	return m
}

// address is the BMC of the lab's machine i.
func address(i int) string {
	return fmt.Sprintf("redfish-virtualmedia+http://node-%d.lab/redfish/v1/Systems/1", i)
}

// disk is an image for the disk, changed by parts.
func disk(url string, parts ...Map) Map {
	m := Map{"url": url, "checksum": sums, "checksum_type": "auto"}
	for _, p := range parts {
		maps.Copy(m, p)
	}

	return Map{"image": m}
}

// with copies a configuration with changes on top.
func with(m Map, parts ...Map) Map {
	out := maps.Clone(m)
	for _, p := range parts {
		maps.Copy(out, p)
	}

	return out
}

// bmc copies a configuration with changes of its bmc block.
func bmc(m Map, parts Map) Map {
	b, _ := m["bmc"].(Map)

	return with(m, Map{"bmc": with(b, parts)})
}

// apply applies, wants no error, and wants the plan after it to be empty.
func (w world) apply(config Map) acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, config)
	if o.Errors != "" {
		w.t.Fatalf("apply: %s", o.Errors)
	}

	w.settled(config)

	return o
}

// settled wants an empty plan, for which nothing but reads was sent.
func (w world) settled(config Map) {
	w.t.Helper()

	sent := len(w.Sent())

	o := w.Plan(w.ctx, config)
	if o.Errors != "" || o.Action != "" {
		w.t.Errorf("the plan after it is not empty: %s %v %s", o.Action, o.Changed, o.Errors)

		for _, name := range o.Changed {
			w.t.Logf("%s: %v -> %v", name, w.Get(name), o.Planned[name])
		}
	}

	if all := w.Sent(); len(all) != sent {
		w.t.Errorf("a plan sent %v", all[sent:])
	}
}

// destroy destroys and wants no record left.
func (w world) destroy() acctest.Outcome {
	w.t.Helper()

	o := w.Apply(w.ctx, nil)
	if o.Errors != "" || w.Exists() {
		w.t.Fatalf("destroy: %s", o.Errors)
	}

	return o
}

// wants compares values of the state by their paths.
func (w world) wants(values Map) {
	w.t.Helper()

	for path, want := range values {
		if got := w.Get(path); got != want {
			w.t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
}

// says wants a text in what a command said.
func (w world) says(o acctest.Outcome, texts ...string) {
	w.t.Helper()

	for _, text := range texts {
		if !o.Says(text) {
			w.t.Errorf("nothing says %q in\n%s%s", text, o.Errors, o.Warnings)
		}
	}
}

// sent wants the verbs since the last mark.
func (w world) sent(want ...string) {
	w.t.Helper()

	if got := strings.Join(w.verbs(), ", "); got != strings.Join(want, ", ") {
		w.t.Errorf("sent %q, want %q", got, strings.Join(want, ", "))
	}
}

// verbs are the requests that do something to a machine: targets of provision and power.
func (w world) verbs() []string {
	var out []string

	for _, s := range w.Sent() {
		if _, after, ok := strings.Cut(s, "/states/provision "); ok {
			out = append(out, after)
		} else if _, after, ok := strings.Cut(s, "/states/power "); ok {
			out = append(out, after)
		}
	}

	return out
}

// edit changes the record by hand.
func (w world) edit(fields Map) {
	w.t.Helper()

	if err := w.Ironic.Edit(w.id(), fields); err != nil {
		w.t.Fatal(err)
	}
}

func (w world) id() string {
	id, _ := w.Get("id").(string)

	return id
}

// unknown is a value that is not known at plan.
type unknown = providertest.Unknown

const minute = time.Minute

// ironicNode is the record as Ironic shows it.
func (w world) ironicNode() Map {
	w.t.Helper()

	var out Map

	w.ask("/v1/nodes/"+w.id(), &out)

	return out
}

// ask reads from the lab's Ironic.
func (w world) ask(path string, into any) {
	w.t.Helper()

	req, err := http.NewRequestWithContext(w.ctx, http.MethodGet, lab.Endpoint+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}

	req.Header.Set("X-Openstack-Ironic-Api-Version", "1.96")

	resp, err := w.Transport().RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()

	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		w.t.Fatalf("%s: %s %v", path, resp.Status, err)
	}
}

// fails makes the next runs of a verb fail.
func (w world) fails(verb string, times int, f labironic.Failure) {
	w.t.Helper()

	for range times {
		if err := w.Ironic.FailNext("", verb, f); err != nil {
			w.t.Fatal(err)
		}
	}
}

// nodes are the names of all records in Ironic.
func (w world) nodes() []string {
	w.t.Helper()

	var list struct {
		Nodes []struct {
			Name string `json:"name"`
		} `json:"nodes"`
	}

	w.ask("/v1/nodes", &list)

	var out []string
	for _, n := range list.Nodes {
		out = append(out, n.Name)
	}

	return out
}

// mac is the first network card of the lab's machine i.
func (w world) mac(i int) string { return fmt.Sprintf("52:54:00:5a:00:%02x", i) }
