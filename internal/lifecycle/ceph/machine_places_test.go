// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// TestNext_places: where a host stands in the CRUSH map, and where it should.
func TestNext_places(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		want, have map[string]string
		do         string
	}{
		"nothing is said":               {nil, map[string]string{"root": "default"}, "rest"},
		"it stands right":               {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1", "root": "default"}, "rest"},
		"it stands in another rack":     {map[string]string{"rack": "r1"}, map[string]string{"rack": "r2", "root": "default"}, "set settings"},
		"it stands in none":             {map[string]string{"rack": "r1"}, map[string]string{"root": "default"}, "set settings"},
		"its rack has no root":          {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1"}, "set settings"},
		"its rack is below another one": {map[string]string{"rack": "r1"}, map[string]string{"rack": "r1", "root": "ssd"}, "set settings"},
		"another root is wanted":        {map[string]string{"rack": "r1", "root": "ssd"}, map[string]string{"rack": "r1", "root": "ssd"}, "rest"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sc := settled(t)
			sc.w.Hosts[0].Place = c.want
			sc.s.Cluster.OSDMap.OSDs[0].Place = c.have

			step, _ := ceph.Next(&sc.w, &sc.s)
			if step.Do.String() != c.do || c.do != "rest" && !strings.Contains(step.Why, "crush location of h1") {
				t.Fatalf("%s: %s", step.Do, step.Why)
			}
		})
	}
}
