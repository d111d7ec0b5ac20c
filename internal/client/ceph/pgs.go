// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"strings"
)

// unknownState is what Ceph calls a group that no OSD has told of.
const unknownState = "unknown"

// PGs asks the manager in which states the placement groups are. It does not take them from
// "status": without a manager that shows the past.
func (c *Cluster) PGs(ctx context.Context) ([]PGState, error) {
	doc, err := queryOf[pgStatDoc](ctx, c, request{to: toMgr, command: command{"prefix": "pg stat"}})
	if err != nil {
		return nil, err
	}

	states := pgStates(doc.States)
	if doc.Summary != nil {
		states = pgStates(doc.Summary.States)
	}

	if doc.Ready != nil && !bool(*doc.Ready) {
		// A manager that has just become active has not heard of all groups.
		states = append(states, PGState{State: unknownState, Count: 1})
	}

	return states, nil
}

// PGsHealthy returns those states that are a reason to wait. Groups that are active and clean
// are healthy while they are scrubbed and while snapshots are trimmed. No groups are healthy.
func PGsHealthy(states []PGState) (bad []PGState) {
	for _, s := range states {
		if s.Count > 0 && !healthyState(s.State) {
			bad = append(bad, s)
		}
	}

	return bad
}

func healthyState(state string) bool {
	var active, clean bool

	for word := range strings.SplitSeq(state, "+") {
		switch word {
		case "active":
			active = true
		case "clean":
			clean = true
		case "scrubbing", "deep", "snaptrim", "snaptrim_wait":
		default:
			return false
		}
	}

	return active && clean
}

type pgStatDoc struct {
	Ready   *flag        `json:"pg_ready"`
	States  []pgStateDoc `json:"num_pg_by_state"` // up to 13
	Summary *struct {
		States []pgStateDoc `json:"num_pg_by_state"`
	} `json:"pg_summary"`
}

// pgStateDoc is spelled in one way by "status" and in another by "pg stat".
type pgStateDoc struct {
	StateName text `json:"state_name"`
	Count     num  `json:"count"`
	Name      text `json:"name"`
	Num       num  `json:"num"`
}

func (d *pgStatDoc) fits() bool { return d.Summary != nil || d.States != nil }

func pgStates(docs []pgStateDoc) []PGState {
	states := make([]PGState, 0, len(docs))

	for _, d := range docs {
		if name := string(d.StateName + d.Name); name != "" {
			states = append(states, PGState{State: name, Count: int(d.Count + d.Num)})
		}
	}

	return states
}
