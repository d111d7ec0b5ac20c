// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrQuorum is what the errors are that keep etcd from losing its quorum.
var ErrQuorum = errors.New("etcd would lose its quorum")

// Member is a member of an etcd cluster.
type Member struct {
	ID        string // as etcd writes it
	Name      string // the name of its machine; empty before its first start
	Learner   bool   // has no vote yet
	Leader    bool
	Unhealthy bool // it was asked, and is not well
}

// works reports whether a member does its work, as far as it says and others do.
func (m Member) works(unhealthy []string) bool {
	return m.Name != "" && !m.Unhealthy && !slices.Contains(unhealthy, m.Name)
}

// Etcd is what the removal of a member needs of an etcd cluster.
type Etcd interface {
	Members(ctx context.Context) ([]Member, error)
	MoveLeader(ctx context.Context, to Member) error
	Remove(ctx context.Context, m Member) error
}

// QuorumAfterRemoval says whether etcd keeps a majority of healthy members once a member is
// gone: Cluster API's rule. A member that is not there needs no vote; a learner anywhere
// means that somebody is joining, and nobody leaves meanwhile. The error is [ErrQuorum].
func QuorumAfterRemoval(members []Member, unhealthy []string, remove string) error {
	if len(members) == 0 {
		return fmt.Errorf("%w, for all that is known: its members could not be read", ErrQuorum)
	}

	var voters, healthy int

	var ill []string

	for _, m := range members {
		switch {
		case m.Name == remove:
		case m.Learner:
			return fmt.Errorf("%w, for all that is known: %s has not got its vote yet; wait until it has", ErrQuorum, label(m))
		case !m.works(unhealthy):
			voters++

			ill = append(ill, label(m))
		default:
			voters++
			healthy++
		}
	}

	if quorum := voters/2 + 1; healthy < quorum {
		why := "none is unhealthy"
		if len(ill) > 0 {
			why = "unhealthy: " + strings.Join(ill, ", ")
		}

		return fmt.Errorf("%w: without %s it has %d voting members, of which %d must be healthy and %d are (%s)",
			ErrQuorum, remove, voters, quorum, healthy, why)
	}

	return nil
}

// RemoveMember takes the member of a machine out of etcd, whose leadership is moved away
// first. It looks before it asks, so that it can be called again after any failure; a
// machine that has no member is done.
func RemoveMember(ctx context.Context, etcd Etcd, machine string, unhealthy []string) error {
	members, err := etcd.Members(ctx)
	if err != nil {
		return fmt.Errorf("remove %s from etcd: %w", machine, err)
	}

	leaving, err := memberOf(members, machine)
	if err != nil || leaving == nil {
		return err
	}

	if err := QuorumAfterRemoval(members, unhealthy, machine); err != nil {
		return fmt.Errorf("remove %s from etcd: %w", machine, err)
	}

	if leaving.Leader {
		heir, err := heirOf(members, unhealthy, machine)
		if err != nil {
			return err
		}

		if err := etcd.MoveLeader(ctx, heir); err != nil {
			return fmt.Errorf("remove %s from etcd: move the leadership to %s: %w", machine, label(heir), err)
		}
	}

	if err := etcd.Remove(ctx, *leaving); err != nil {
		return fmt.Errorf("remove %s from etcd: %w", machine, err)
	}

	return nil
}

// memberOf finds the member of a machine, nil where it has none.
func memberOf(members []Member, machine string) (*Member, error) {
	var found *Member

	for _, m := range members {
		if m.Name != machine {
			continue
		}

		if found != nil {
			return nil, fmt.Errorf("remove %s from etcd: its members %s and %s have that name; remove the dead one by hand", machine, found.ID, m.ID)
		}

		found = &m
	}

	return found, nil
}

// heirOf chooses who leads after a machine: the first healthy voter.
func heirOf(members []Member, unhealthy []string, machine string) (Member, error) {
	for _, m := range members {
		if m.Name != machine && !m.Learner && m.works(unhealthy) {
			return m, nil
		}
	}

	return Member{}, fmt.Errorf("remove %s from etcd: %w: it leads and there is no healthy member to lead after it", machine, ErrQuorum)
}

func label(m Member) string {
	if m.Name == "" {
		return "member " + m.ID
	}

	return m.Name
}
