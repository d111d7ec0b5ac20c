// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package real_test

import (
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// host is the configuration of one host; what is empty is left out.
type host struct {
	label, name string
	machine     acctest.Machine
	address     string // instead of the machine's own
	password    string // instead of the variable
	version     int    // of the password
	image       string // the inside of image = {…}
	extra       string // more lines
}

// hcl spells the host. The BMC's password is a variable, so that no message
// of Terraform can quote it from the configuration.
func (h host) hcl() string {
	if h.label == "" {
		h.label = "h"
	}

	if h.address == "" {
		h.address = h.machine.Address
	}

	if h.version == 0 {
		h.version = 1
	}

	if h.password == "" {
		h.password = "var.bmc_password"
	}

	image := ""
	if h.image != "" {
		image = "\n  image = {\n" + h.image + "\n  }"
	}

	return fmt.Sprintf(`
resource "metal3_baremetal_host" %q {
  name = %q
  bmc = {
    address             = %q
    username            = "admin"
    password_wo         = %s
    password_wo_version = %d
  }%s
%s
}
`, h.label, h.name, h.address, h.password, h.version, image, h.extra)
}

// configure writes the hosts as the workspace's configuration.
func (w *workspace) configure(t *testing.T, hosts ...host) {
	t.Helper()

	var b strings.Builder

	b.WriteString("variable \"bmc_password\" {\n  ephemeral = true\n  default   = \"password\"\n}\n")

	for _, h := range hosts {
		b.WriteString(h.hcl())
	}

	w.write(t, "main.tf", b.String())
}

// raw is the inside of an image block.
func raw(url, sum string) string {
	return fmt.Sprintf("    url           = %q\n    checksum      = %q\n    checksum_type = \"sha256\"\n    format        = \"raw\"", url, sum)
}

// life is a host on the main Ironic in a workspace of its own.
type life struct {
	*workspace
	far  *far
	host host
}

// someIronic is one of the two current ones, by the name of the test: they share
// the work, and both ways to log in are used.
func someIronic(t *testing.T) acctest.Real {
	t.Helper()

	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Name()))

	if h.Sum32()%2 == 0 {
		return acctest.IronicBasic(t)
	}

	return acctest.Ironic(t)
}

// newLife takes a machine and writes a configuration that deploys it.
func newLife(t *testing.T, r acctest.Real, change ...func(*host)) *life {
	t.Helper()

	l := &life{far: farSide(t, r), workspace: newWorkspace(t, r)}
	m := r.Machine(t)
	l.host = host{name: unique(t), machine: m, image: raw(r.ImageURL, r.ImageSHA256)}

	l.with(t, change...)
	l.far.sweep(t, full(l.host.name))

	return l
}

// with changes the configuration.
func (l *life) with(t *testing.T, change ...func(*host)) {
	t.Helper()

	for _, c := range change {
		c(&l.host)
	}

	l.configure(t, l.host)
}

// node is the host's record; nil where there is none.
func (l *life) node(t *testing.T) node {
	t.Helper()

	return l.far.node(t, full(l.host.name))
}

// is checks that the host has one record, in that state, which the state file knows.
func (l *life) is(t *testing.T, state string) node {
	t.Helper()

	n := l.node(t)
	if n == nil {
		t.Fatalf("host %s has no record", l.host.name)
	}

	if stateOf(n) != state {
		t.Errorf("node %s is %q, not %q: %s", l.host.name, stateOf(n), state, n.text("last_error"))
	}

	if ids := l.far.of(t, l.host.machine); len(ids) > 1 {
		t.Errorf("the machine has %d records: %v", len(ids), ids)
	}

	if in := l.state(t)[l.host.name]; in.Attributes["id"] != n.text("uuid") || in.Status != "" {
		t.Errorf("the state has id %v (%s), Ironic %s", in.Attributes["id"], in.Status, n.text("uuid"))
	}

	return n
}

// gone destroys the host and checks that nothing of it is left.
func (l *life) gone(t *testing.T) {
	t.Helper()
	l.destroy(t)

	if n := l.node(t); n != nil {
		t.Errorf("the record is still there: %v", n)
	}

	if all := l.state(t); len(all) != 0 {
		t.Errorf("the state still has %v", all)
	}
}

// resets is how often the machine was switched on or off.
func resets(t *testing.T, m acctest.Machine) float64 {
	t.Helper()

	n, ok := m.View(t)["resets"].(float64)
	if !ok {
		t.Fatal("the machine does not say how often it was reset")
	}

	return n
}

// ipmiMAC is the address of the machine behind the first IPMI simulator: the
// machines with IPMI follow those that are handed out.
func ipmiMAC(t *testing.T) string {
	t.Helper()

	var first, count int

	if _, err := fmt.Sscan(os.Getenv("METAL3_TEST_FIRST")+" "+os.Getenv("METAL3_TEST_MACHINES"), &first, &count); err != nil {
		t.Fatalf("METAL3_TEST_FIRST and METAL3_TEST_MACHINES: %v", err)
	}

	return fmt.Sprintf("52:54:00:5a:%02x:%02x", (first+count)/256, (first+count)%256)
}
