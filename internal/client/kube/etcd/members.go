// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Member is a member of an etcd cluster.
type Member struct {
	ID         string // decimal, as etcd writes it
	Name       string // "" while it has not started
	PeerURLs   []string
	ClientURLs []string
	Learner    bool // it has no vote yet
}

type memberJSON struct {
	ID         string   `json:"ID"`
	Name       string   `json:"name"`
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	Learner    bool     `json:"isLearner"`
}

func (m memberJSON) member() Member { return Member(m) }

type membersJSON struct {
	Members []memberJSON `json:"members"`
}

// Members lists the members. The list is what the majority has agreed on.
func (c *Client) Members(ctx context.Context) ([]Member, error) {
	var answer membersJSON
	if err := c.any(ctx, "list the members", "/v3/cluster/member/list", map[string]any{"linearizable": true}, &answer); err != nil {
		return nil, err
	}

	members := make([]Member, 0, len(answer.Members))

	for _, m := range answer.Members {
		if _, err := strconv.ParseUint(m.ID, 10, 64); err != nil {
			return nil, fmt.Errorf("list the members: etcd names one without an id: %q", m.ID)
		}

		members = append(members, m.member())
	}

	return members, nil
}

// RemoveMember takes a member out. One that is not there is out.
func (c *Client) RemoveMember(ctx context.Context, id string) error {
	err := c.any(ctx, "remove the member "+id, "/v3/cluster/member/remove", map[string]any{"ID": id}, &membersJSON{})
	if errors.Is(err, ErrNotFound) {
		return nil
	}

	return err
}

// AddMember adds a member that will listen for its peers at these URLs; a learner has no vote
// until it is promoted.
func (c *Client) AddMember(ctx context.Context, peerURLs []string, learner bool) (Member, error) {
	var answer struct {
		Member memberJSON `json:"member"`
	}

	err := c.any(ctx, "add a member", "/v3/cluster/member/add", map[string]any{"peerURLs": peerURLs, "isLearner": learner}, &answer)

	return answer.Member.member(), err
}

// Status is how one member is.
type Status struct {
	Endpoint string
	MemberID string
	Leader   string // the member that it takes for the leader; "" where it knows none
	Version  string
	Learner  bool
	Errors   []string
}

// Status asks one member how it is.
func (c *Client) Status(ctx context.Context, endpoint string) (Status, error) {
	var answer struct {
		Header struct {
			MemberID string `json:"member_id"`
		} `json:"header"`
		Version string   `json:"version"`
		Leader  string   `json:"leader"`
		Learner bool     `json:"isLearner"`
		Errors  []string `json:"errors"`
	}

	if err := c.one(ctx, endpoint, "ask for the status", "/v3/maintenance/status", struct{}{}, &answer); err != nil {
		return Status{}, err
	}

	if answer.Leader == "0" {
		answer.Leader = ""
	}

	return Status{endpoint, answer.Header.MemberID, answer.Leader, answer.Version, answer.Learner, answer.Errors}, nil
}

// Statuses asks all members; the errors are of those that did not answer, by endpoint.
func (c *Client) Statuses(ctx context.Context) ([]Status, map[string]error) {
	var statuses []Status

	failed := map[string]error{}

	for _, endpoint := range c.endpoints {
		status, err := c.Status(ctx, endpoint)
		if err != nil {
			failed[endpoint] = err

			continue
		}

		statuses = append(statuses, status)
	}

	return statuses, failed
}

// Alarm is what a member raises: its disk is full, or its data are broken.
type Alarm struct {
	MemberID string
	Kind     string // "NOSPACE" or "CORRUPT"
}

// Alarms lists what all members raise.
func (c *Client) Alarms(ctx context.Context) ([]Alarm, error) {
	var answer struct {
		Alarms []struct {
			MemberID string `json:"memberID"`
			Alarm    string `json:"alarm"`
		} `json:"alarms"`
	}

	if err := c.any(ctx, "list the alarms", "/v3/maintenance/alarm", map[string]any{"action": "GET"}, &answer); err != nil {
		return nil, err
	}

	alarms := make([]Alarm, 0, len(answer.Alarms))
	for _, a := range answer.Alarms {
		alarms = append(alarms, Alarm{a.MemberID, a.Alarm})
	}

	return alarms, nil
}

// errNoLeader says that no member knows a leader: they may just be choosing one.
var errNoLeader = errors.New("no member of etcd that answers knows a leader")

// Leader says which member leads.
func (c *Client) Leader(ctx context.Context) (string, error) {
	errs := []error{errNoLeader}

	for _, endpoint := range c.endpoints {
		status, err := c.Status(ctx, endpoint)

		switch {
		case err != nil:
			errs = append(errs, err)
		case status.Leader != "":
			return status.Leader, nil
		}
	}

	return "", wait.Transient(errors.Join(errs...))
}

// MoveLeader gives the leadership to a member. Only the leader itself can do that, so it is asked
// at the addresses that the list of members has.
func (c *Client) MoveLeader(ctx context.Context, id string) error {
	leader, err := c.Leader(ctx)
	if err != nil || leader == id {
		return err
	}

	members, err := c.Members(ctx)
	if err != nil {
		return err
	}

	for _, m := range members {
		if m.ID != leader {
			continue
		}

		if len(m.ClientURLs) == 0 {
			break
		}

		return c.one(ctx, m.ClientURLs[0], "move the leadership to "+id, "/v3/maintenance/transfer-leadership", map[string]any{"targetID": id}, &struct{}{})
	}

	return wait.Transient(fmt.Errorf("move the leadership to %s: the list of members has no address of the leader %s", id, leader))
}
