// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

func members(names ...string) []nodes.Member {
	var all []nodes.Member
	for i, n := range names {
		all = append(all, nodes.Member{ID: fmt.Sprint(100 + i), Name: n})
	}

	return all
}

func TestControlPlanePool_Allowed(t *testing.T) {
	t.Parallel()

	healthy := nodes.ControlPlanePool{Replicas: 3, Stacked: true, Members: members("cp-0", "cp-1", "cp-2"), Unhealthy: []string{"cp-1"}}

	for name, c := range map[string]struct {
		edit    func(*nodes.ControlPlanePool)
		against []string // parts of the error; none means allowed
	}{
		"one of three is ill":           {func(*nodes.ControlPlanePool) {}, nil},
		"the only one":                  {func(p *nodes.ControlPlanePool) { *p = nodes.ControlPlanePool{Replicas: 1} }, []string{"has 1 machine"}},
		"another one is being made":     {func(p *nodes.ControlPlanePool) { p.Provisioning = []string{"cp-2"} }, []string{"cp-2: still being provisioned"}},
		"it itself is being made":       {func(p *nodes.ControlPlanePool) { p.Provisioning = []string{"cp-1"} }, nil},
		"another one is going":          {func(p *nodes.ControlPlanePool) { p.Deleting = []string{"cp-2"} }, []string{"cp-2: being deleted"}},
		"it itself is going":            {func(p *nodes.ControlPlanePool) { p.Deleting = []string{"cp-1"} }, []string{"itself is being deleted"}},
		"another one is being mended":   {func(p *nodes.ControlPlanePool) { p.Remediating = []string{"cp-0"} }, []string{"cp-0: already under remediation"}},
		"it is already being mended":    {func(p *nodes.ControlPlanePool) { p.Remediating = []string{"cp-1"} }, nil},
		"two of three are ill":          {func(p *nodes.ControlPlanePool) { p.Unhealthy = []string{"cp-0", "cp-1"} }, []string{"lose its quorum"}},
		"etcd could not be asked":       {func(p *nodes.ControlPlanePool) { p.Members = nil }, []string{"could not be read"}},
		"etcd is elsewhere":             {func(p *nodes.ControlPlanePool) { p.Members, p.Stacked = nil, false }, nil},
		"everything is told at once":    {func(p *nodes.ControlPlanePool) { p.Replicas, p.Deleting, p.Members = 1, []string{"cp-0"}, nil }, []string{"has 1 machine", "cp-0: being deleted", "could not be read"}},
		"others are named once, sorted": {func(p *nodes.ControlPlanePool) { p.Deleting = []string{"cp-2", "cp-0", "cp-2"} }, []string{"cp-0, cp-2: being deleted"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			p := healthy
			c.edit(&p)

			err := p.Allowed("cp-1")
			if len(c.against) == 0 {
				if err != nil {
					t.Errorf("got %v", err)
				}

				return
			}

			for _, part := range c.against {
				if !errors.Is(err, nodes.ErrNotAllowed) || !strings.Contains(err.Error(), part) {
					t.Errorf("got %v, without %q", err, part)
				}
			}
		})
	}
}

func TestQuorumAfterRemoval(t *testing.T) {
	t.Parallel()

	learner := append(members("a", "b", "c"), nodes.Member{ID: "9", Name: "d", Learner: true})
	unstarted := append(members("a", "b"), nodes.Member{ID: "9"})

	for name, c := range map[string]struct {
		members   []nodes.Member
		unhealthy []string
		remove    string
		kept      bool
	}{
		"one of three, all well":                  {members("a", "b", "c"), nil, "c", true},
		"the ill one of three":                    {members("a", "b", "c"), []string{"c"}, "c", true},
		"a well one of three, another is ill":     {members("a", "b", "c"), []string{"b"}, "c", false},
		"one of three, the others are ill":        {members("a", "b", "c"), []string{"a", "b"}, "c", false},
		"the ill one of five":                     {members("a", "b", "c", "d", "e"), []string{"e"}, "e", true},
		"one of two ill ones of five":             {members("a", "b", "c", "d", "e"), []string{"d", "e"}, "e", true},
		"one of three ill ones of five":           {members("a", "b", "c", "d", "e"), []string{"c", "d", "e"}, "e", false},
		"one of two":                              {members("a", "b"), nil, "b", true},
		"the ill one of two":                      {members("a", "b"), []string{"b"}, "b", true},
		"the last one":                            {members("a"), nil, "a", false},
		"a machine that is no member":             {members("a", "b", "c"), nil, "x", true},
		"somebody is joining":                     {learner, nil, "c", false},
		"the one that is joining itself":          {learner, nil, "d", true},
		"a member that never started is no help":  {unstarted, nil, "b", false},
		"nobody could be asked":                   {nil, nil, "a", false},
		"an ill name that is only part of a name": {members("a", "b1", "b10"), []string{"b1"}, "b1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := nodes.QuorumAfterRemoval(c.members, c.unhealthy, c.remove)
			if (err == nil) != c.kept || (err != nil && !errors.Is(err, nodes.ErrQuorum)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// ring is an etcd cluster in memory.
type ring struct {
	all   []nodes.Member
	log   []string
	fails map[string]error
}

func (e *ring) Members(context.Context) ([]nodes.Member, error) {
	return slices.Clone(e.all), e.fails["members"]
}

func (e *ring) MoveLeader(_ context.Context, to nodes.Member) error {
	e.log = append(e.log, "lead "+to.Name)

	for i := range e.all {
		e.all[i].Leader = e.all[i].ID == to.ID
	}

	return e.fails["lead"]
}

func (e *ring) Remove(_ context.Context, m nodes.Member) error {
	e.log = append(e.log, "remove "+m.Name)

	if err := e.fails["remove"]; err != nil {
		return err
	}

	e.all = slices.DeleteFunc(e.all, func(o nodes.Member) bool { return o.ID == m.ID })

	return nil
}

func TestRemoveMember(t *testing.T) {
	t.Parallel()

	leading := func(leader string, names ...string) []nodes.Member {
		all := members(names...)
		for i := range all {
			all[i].Leader = all[i].Name == leader
		}

		return all
	}

	for name, c := range map[string]struct {
		all       []nodes.Member
		unhealthy []string
		fails     map[string]error
		log       []string
		err       bool
	}{
		"a follower":                      {all: leading("a", "a", "b", "c"), log: []string{"remove c"}},
		"the leader hands over first":     {all: leading("c", "a", "b", "c"), log: []string{"lead a", "remove c"}},
		"not to an ill one":               {all: leading("c", "a", "b", "c", "d"), unhealthy: []string{"a"}, log: []string{"lead b", "remove c"}},
		"a machine that is out already":   {all: leading("a", "a", "b")},
		"its members cannot be read":      {all: leading("a", "a", "b", "c"), fails: map[string]error{"members": errBroken}, err: true},
		"the leadership does not move":    {all: leading("c", "a", "b", "c"), fails: map[string]error{"lead": errBroken}, log: []string{"lead a"}, err: true},
		"the removal fails":               {all: leading("a", "a", "b", "c"), fails: map[string]error{"remove": errBroken}, log: []string{"remove c"}, err: true},
		"the quorum is at stake":          {all: leading("a", "a", "b", "c"), unhealthy: []string{"b"}, err: true},
		"the last one":                    {all: leading("c", "c"), err: true},
		"two members have its name":       {all: leading("a", "a", "b", "c", "c"), err: true},
		"somebody else has not its vote":  {all: append(leading("a", "a", "b", "c"), nodes.Member{ID: "9", Learner: true}), err: true},
		"nobody says who leads, it works": {all: members("a", "b", "c"), log: []string{"remove c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			e := &ring{all: c.all, fails: c.fails}

			err := nodes.RemoveMember(t.Context(), e, "c", c.unhealthy)
			if (err != nil) != c.err || !slices.Equal(e.log, c.log) {
				t.Errorf("did %v, %v", e.log, err)
			}

			if err != nil {
				return
			}

			e.log = nil
			if err := nodes.RemoveMember(t.Context(), e, "c", c.unhealthy); err != nil || len(e.log) > 0 {
				t.Errorf("the second time it did %v, %v", e.log, err)
			}
		})
	}
}
