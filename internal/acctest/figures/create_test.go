// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
)

// TestFigures_twentyHosts brings twenty hosts from nothing to active on a real Ironic whose
// steps take two seconds, in turns with a bare script.
func TestFigures_twentyHosts(t *testing.T) {
	needed(t)

	const (
		hosts = 20
		turns = 5 // a busy machine is uneven
	)

	far := acctest.IronicFake(t)
	p := newProxy(t, far.Endpoint)

	var (
		script, ours []time.Duration
		requests     []float64
		ratios       []float64
		reactions    []time.Duration
	)

	w := newWorkspace(t, hostConfig(p.URL, far.ImageURL))
	vars := fmt.Sprintf("-var=hosts=%d", hosts)

	for range turns {
		took, nodes := bareRun(t, p.URL, far.ImageURL, hosts)
		bareEnd(t, p.URL, nodes)

		script = append(script, took)

		p.behave(0, false)

		o := w.run(t, "apply", "-auto-approve", "-parallelism=20", vars)
		asked := p.seen()

		ours = append(ours, o.elapsed)
		ratios = append(ratios, o.elapsed.Seconds()/took.Seconds())
		requests = append(requests, float64(len(asked))/hosts)
		reactions = append(reactions, reacted(t, filepath.Join(filepath.Dir(far.HTTPDir), "log", "ironic.log"), asked)...)

		t.Logf("script %s, provider %s", took, o.elapsed)
		w.run(t, "destroy", "-auto-approve", "-parallelism=20", vars)
		t.Log(slices.Sorted(maps.Keys(kinds(asked))), kinds(asked))
	}

	how := fmt.Sprintf("medians of %d runs in turns; provider %s s, script %s s; real Ironic, fake hardware, 2 s delays, 20 in parallel", turns, list(ours), list(script))
	figure(t, "20 hosts from nothing to active, times what a bare script needs", median(ratios), 1.3, "x", how)
	figure(t, "requests a host, looks of waits included", median(requests), 13, "", "each host with a MAC address, an image and user data; counted by a proxy")

	slices.Sort(reactions)
	figure(t, "from Ironic's reaching a state to our next request for that host, 95 of 100", seconds(reactions[len(reactions)*95/100]), 2, "s",
		fmt.Sprintf("%d state changes of Ironic's log in the same runs; median %s s, worst %s s", len(reactions), number(seconds(median(reactions))), number(seconds(reactions[len(reactions)-1]))))
}

var moved = regexp.MustCompile(`^(\S+ \S+) .*Node ([0-9a-f-]{36}) moved to provision state "(manageable|available|active)" from`)

// reacted is how long it took from each state that a wait ends with to the next request for
// that node which is not a look of a wait.
func reacted(t *testing.T, log string, asked []request) []time.Duration {
	t.Helper()

	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	var out []time.Duration

	for lines := bufio.NewScanner(f); lines.Scan(); {
		m := moved.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}

		at, err := time.ParseInLocation("2006-01-02 15:04:05.000", m[1], time.UTC)
		if err != nil || at.Before(asked[0].at) || at.After(asked[len(asked)-1].at) {
			continue
		}

		for _, r := range asked {
			if r.at.After(at) && strings.Contains(r.uri, m[2]) && !strings.Contains(r.uri, "last_error") {
				out = append(out, r.at.Sub(at))

				break
			}
		}
	}

	if len(out) == 0 {
		t.Fatal("Ironic's log shows no state changes: is its clock another?")
	}

	return out
}
