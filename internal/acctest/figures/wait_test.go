// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
)

// TestFigures_manyWait brings two hundred hosts with virtual media to active at once.
func TestFigures_manyWait(t *testing.T) {
	needed(t)

	const hosts = 200

	l, err := lab.Open(lab.Options{Machines: hosts, Pace: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	far := httptest.NewServer(l.Ironic)
	defer far.Close()

	p := newProxy(t, far.URL)
	config := strings.NewReplacer(
		"fake-hardware://${var.prefix}-${count.index}", "redfish-virtualmedia+http://node-${count.index}.lab/redfish/v1/Systems/1",
		`inspection_mode         = "disabled"`, "", `automated_cleaning_mode = "disabled"`, "",
		"b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c", "http://images.lab/SHA256SUMS", `checksum_type = "sha256"`, `checksum_type = "auto"`, `format        = "raw"`, "",
	).Replace(hostConfig(p.URL, "http://images.lab/debian-12.qcow2"))
	start := strings.Index(config, "boot_mac_address")
	config = config[:start] + config[start+strings.Index(config[start:], "\n"):]

	w := newWorkspace(t, config)
	o := w.run(t, "apply", "-auto-approve", "-parallelism=200", fmt.Sprintf("-var=hosts=%d", hosts))
	asked := p.seen()
	looks := lists(asked)

	all := kinds(asked)
	t.Log(o.elapsed, all)
	how := fmt.Sprintf("lab over TCP, pace 1 s; %d lists in %s s for %d waits of each kind", len(looks), number(seconds(o.elapsed)), hosts)
	figure(t, "200 hosts wait at once: lists a second", float64(len(looks))/o.elapsed.Seconds(), 2, "", how)
	figure(t, "200 hosts wait at once: looks at single hosts", float64(all["GET /v1/nodes/ID (glance)"])/hosts, 1, "a host", "of the whole apply")
	figure(t, "200 hosts with virtual media from nothing to active: requests a host", float64(len(asked))/hosts, 16, "", "with inspection and its inventory; no limit was set, the one here guards against more")
}
