// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestFigures_fleet plans 500 and 1,000 hosts that a real Ironic has.
func TestFigures_fleet(t *testing.T) {
	needed(t)

	far := acctest.IronicFake(t)
	p := newProxy(t, far.Endpoint)
	w := newWorkspace(t, hostConfig(p.URL, far.ImageURL))

	// One host is really made; the others are copies of its record and of its state.
	w.run(t, "apply", "-auto-approve", "-var=hosts=1")
	defer grow(t, w, far, 0)

	grow(t, w, far, 500)
	fiveHundred(t, w, p, 1, "whose records changed")
	settle(t, w, 500)
	fiveHundred(t, w, p, rounds, "that nothing happened to")
	grow(t, w, far, 1000)
	thousand(t, w, p, 1, "whose records changed")
	settle(t, w, 1000)
	thousand(t, w, p, rounds, "that nothing happened to")
}

// grow makes copies of the first host until there are as many; 0 removes all but the first.
func grow(t *testing.T, w *workspace, far acctest.Real, hosts int) {
	t.Helper()

	root, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}

	script := filepath.Join(filepath.Dir(string(root)), "scripts", "lab", "copy-hosts.py")
	database := filepath.Join(filepath.Dir(far.HTTPDir), "ironic.sqlite")

	cmd := exec.CommandContext(t.Context(), "python3", script, database, filepath.Join(w.dir, "terraform.tfstate"), strconv.Itoa(hosts))
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// settle lets the provider note in the state that nothing happens to the hosts.
func settle(t *testing.T, w *workspace, hosts int) {
	t.Helper()

	w.run(t, "apply", "-auto-approve", fmt.Sprintf("-var=hosts=%d", hosts))
}

// plan refreshes and plans, wants no change, and says what that took.
func plan(t *testing.T, w *workspace, hosts int) outcome {
	t.Helper()

	return w.run(t, "plan", "-detailed-exitcode", fmt.Sprintf("-var=hosts=%d", hosts))
}

func fiveHundred(t *testing.T, w *workspace, p *proxy, turns int, which string) {
	t.Helper()

	const latency = 50 * time.Millisecond

	var (
		cpu, near, far, late []time.Duration
		memory               []int64
	)

	for range turns {
		p.behave(0, false)

		o := plan(t, w, 500)
		cpu, memory, near = append(cpu, o.most().CPU), append(memory, o.most().MaxKB), append(near, o.elapsed)

		p.behave(latency, false)

		o = plan(t, w, 500)
		far = append(far, o.elapsed)
		late = append(late, far[len(far)-1]-near[len(near)-1])
	}

	figure(t, "500 hosts "+which+", planned: CPU time of the provider", seconds(median(cpu)), 7, "s", fmt.Sprintf("runs: %s s; user and system time of the process", list(cpu)))
	figure(t, "500 hosts "+which+", planned: memory of the provider", float64(median(memory))/1000, 80, "MB", "most that was resident")
	// Terraform's own time differs by seconds from run to run: TestHost_latencyOfARefresh is the exact figure.
	t.Logf("50 ms of latency add %s: plan %s s without, %s s with it, in turns", median(late), list(near), list(far))
}

func thousand(t *testing.T, w *workspace, p *proxy, turns int, which string) {
	t.Helper()

	var (
		live, memory []time.Duration
		resident     []int64
		ratios       []float64
		requests     int
	)

	for range turns {
		p.behave(0, false)

		o := plan(t, w, 1000)
		requests = max(requests, len(p.seen()))
		t.Log(kinds(p.seen()))

		live, resident = append(live, o.elapsed), append(resident, o.most().MaxKB)

		p.behave(0, true)

		o = plan(t, w, 1000)
		memory, resident = append(memory, o.elapsed), append(resident, o.most().MaxKB)
		ratios = append(ratios, live[len(live)-1].Seconds()/o.elapsed.Seconds())
	}

	figure(t, "1,000 hosts "+which+", refreshed: requests in all", float64(requests), 5, "", "real Ironic, pages of 1,000")
	figure(t, "1,000 hosts "+which+", planned, times the same plan with the far side answering from memory", median(ratios), 1.3, "x",
		fmt.Sprintf("real Ironic %s s, its recorded answers %s s, in turns", list(live), list(memory)))
	figure(t, "1,000 hosts "+which+", planned: memory of the provider", float64(median(resident))/1024, 100, "MiB", "most that was resident")
}
