// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/nodes"
)

// etcdClient answers as etcd does: only members themselves say who leads.
type etcdClient struct {
	members  []etcd.Member
	statuses map[string]etcd.Status // by endpoint
	log      []string
	err      error
}

func (c *etcdClient) Members(context.Context) ([]etcd.Member, error) {
	return slices.Clone(c.members), c.err
}

func (c *etcdClient) Status(_ context.Context, endpoint string) (etcd.Status, error) {
	s, ok := c.statuses[endpoint]
	if !ok {
		return s, errBroken
	}

	return s, nil
}

func (c *etcdClient) MoveLeader(_ context.Context, id string) error {
	c.log = append(c.log, "lead "+id)

	return nil
}

func (c *etcdClient) RemoveMember(_ context.Context, id string) error {
	c.log = append(c.log, "remove "+id)

	return nil
}

// trio is an etcd of three members, of which a leads.
func trio() *etcdClient {
	c := &etcdClient{statuses: map[string]etcd.Status{}}

	for i, name := range []string{"a", "b", "c"} {
		id := string(rune('1' + i))
		url := "https://" + name + ":2379"
		c.members = append(c.members, etcd.Member{ID: id, Name: name, ClientURLs: []string{url}})
		c.statuses[url] = etcd.Status{MemberID: id, Leader: "1"}
	}

	return c
}

func TestOnEtcd(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		edit   func(*etcdClient)
		remove string
		log    []string
		quorum bool // it is at stake
	}{
		"a follower goes":             {func(*etcdClient) {}, "c", []string{"remove 3"}, false},
		"the leader goes":             {func(*etcdClient) {}, "a", []string{"lead 2", "remove 1"}, false},
		"the leader goes, b is away":  {func(c *etcdClient) { delete(c.statuses, "https://b:2379") }, "a", nil, true},
		"c goes, which is away":       {func(c *etcdClient) { delete(c.statuses, "https://c:2379") }, "c", []string{"remove 3"}, false},
		"somebody else answers for b": {func(c *etcdClient) { c.statuses["https://b:2379"] = c.statuses["https://a:2379"] }, "c", nil, true},
		"b says that it is ill": {func(c *etcdClient) {
			c.statuses["https://b:2379"] = etcd.Status{MemberID: "2", Leader: "1", Errors: []string{"NOSPACE"}}
		}, "c", nil, true},
		"b knows no leader":             {func(c *etcdClient) { c.statuses["https://b:2379"] = etcd.Status{MemberID: "2"} }, "c", nil, true},
		"b is asked over TLS only":      {func(c *etcdClient) { c.members[1].ClientURLs = []string{"http://b:2379"} }, "c", nil, true},
		"b has a second address":        {func(c *etcdClient) { c.members[1].ClientURLs = []string{"https://gone:2379", "https://b:2379"} }, "c", []string{"remove 3"}, false},
		"b has no vote yet":             {func(c *etcdClient) { c.members[1].Learner = true }, "c", nil, true},
		"a machine that is out already": {func(*etcdClient) {}, "d", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			client := trio()
			c.edit(client)

			err := nodes.RemoveMember(t.Context(), nodes.OnEtcd(client), c.remove, nil)
			if errors.Is(err, nodes.ErrQuorum) != c.quorum || (err != nil) != c.quorum || !slices.Equal(client.log, c.log) {
				t.Errorf("did %v, %v", client.log, err)
			}
		})
	}
}

func TestOnEtcd_cannotBeAsked(t *testing.T) {
	t.Parallel()

	if err := nodes.RemoveMember(t.Context(), nodes.OnEtcd(&etcdClient{err: errBroken}), "a", nil); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}
