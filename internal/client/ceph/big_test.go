// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/cputime"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// big are the answers of a cluster with as many OSDs, twenty on a host, ten hosts in a rack,
// as wordy as those of 16.2.15.
func big(osds int) map[string]says {
	var list, nodes, racks strings.Builder

	vector := func(port int) string {
		return fmt.Sprintf(`{"addrvec":[{"type":"v2","addr":"192.0.2.11:%d","nonce":29985},{"type":"v1","addr":"192.0.2.11:%d","nonce":29985}]}`, port, port+1)
	}

	for i := range osds {
		fmt.Fprintf(&list, `,{"osd":%d,"uuid":"11111111-2222-4333-8444-%012d","up":1,"in":1,"weight":1,"primary_affinity":1,`+
			`"last_clean_begin":0,"last_clean_end":0,"up_from":7,"up_thru":49,"down_at":0,"lost_at":0,"public_addrs":%s,`+
			`"cluster_addrs":%s,"heartbeat_back_addrs":%s,"heartbeat_front_addrs":%s,"public_addr":"192.0.2.11:6819/29985",`+
			`"cluster_addr":"192.0.2.11:6821/29985","heartbeat_back_addr":"192.0.2.11:6825/29985",`+
			`"heartbeat_front_addr":"192.0.2.11:6823/29985","state":["exists","up"]}`, i, i, vector(6800), vector(6802), vector(6804), vector(6806))
		fmt.Fprintf(&nodes, `,{"id":%d,"device_class":"hdd","name":"osd.%d","type":"osd","type_id":0,"crush_weight":3.6380615234375,`+
			`"depth":3,"pool_weights":{},"exists":1,"status":"up","reweight":1,"primary_affinity":1}`, i, i)
	}

	for h := range osds / 20 {
		children := make([]string, 20)
		for i := range children {
			children[i] = fmt.Sprint(h*20 + i)
		}

		fmt.Fprintf(&nodes, `,{"id":%d,"name":"h%d","type":"host","type_id":1,"pool_weights":{},"children":[%s]}`, -1000-h, h, strings.Join(children, ","))
	}

	rackIDs := make([]string, 0, osds/200)

	for r := range osds / 200 {
		children := make([]string, 10)
		for i := range children {
			children[i] = fmt.Sprint(-1000 - r*10 - i)
		}

		rackIDs = append(rackIDs, fmt.Sprint(-10-r))
		fmt.Fprintf(&racks, `,{"id":%d,"name":"r%d","type":"rack","type_id":3,"children":[%s]}`, -10-r, r, strings.Join(children, ","))
	}

	return map[string]says{
		"osd dump": {out: "\n" + `{"epoch":9,"full_ratio":0.95,"flags_set":["sortbitwise"],"pools":[],"osds":[` + list.String()[1:] + `],"crush_node_flags":{}}`},
		"osd tree": {out: "\n" + `{"nodes":[{"id":-1,"name":"default","type":"root","children":[` + strings.Join(rackIDs, ",") + `]}` +
			racks.String() + nodes.String() + `],"stray":[]}`},
	}
}

func TestOSDMap_ofAThousandOSDs(t *testing.T) {
	t.Parallel()

	c := cluster(big(1000))
	best := time.Hour

	for range 5 { // the best of some: the first pays for growing
		var (
			m   ceph.OSDMap
			err error
		)

		best = min(best, cputime.Of(t, func() { m, err = c.OSDMap(t.Context()) }))

		if err != nil {
			t.Fatal(err)
		}

		last := m.OSDs[999]
		if len(m.OSDs) != 1000 || len(m.Hosts) != 50 || len(m.Strays) != 0 || last.Host != "h49" || last.Place["rack"] != "r4" {
			t.Fatalf("%d OSDs, %d hosts, strays %v, the last is %+v", len(m.OSDs), len(m.Hosts), m.Strays, last)
		}
	}

	if limit := 50 * time.Millisecond * slower; best > limit {
		t.Errorf("it took %s, more than %s", best, limit)
	}

	t.Logf("a thousand OSDs: %s", best)
}

// TestDecode_garbageCostsItsSize: nothing that a host may print keeps us busy for long.
func TestDecode_garbageCostsItsSize(t *testing.T) {
	t.Parallel()

	for name, out := range map[string]string{
		"open brackets":         strings.Repeat("[", 1<<20),
		"open brackets, lines":  strings.Repeat("{\n", 1<<19),
		"lines of half objects": strings.Repeat("{\"a\":[\n", 1<<17) + "?",
		"small documents":       strings.Repeat("{}\n", 1<<18),
		"one broken at its end": "{\"a\":[" + strings.Repeat("\n{\"b\":1},", 1<<17) + "?]}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			took := cputime.Of(t, func() {
				if _, err := always(out).Status(t.Context()); err == nil {
					t.Error("it is taken for a status")
				}
			})

			if took > slower*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func BenchmarkOSDMap(b *testing.B) {
	for _, n := range []int{200, 1000, 5000} {
		answers := big(n)

		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(answers["osd dump"].out) + len(answers["osd tree"].out)))

			for b.Loop() {
				if _, err := ceph.New(&script{says: answers}).OSDMap(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
