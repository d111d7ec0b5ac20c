// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
)

// EtcdClient is what is needed of a client of etcd: [etcd.Client] is one.
type EtcdClient interface {
	Members(ctx context.Context) ([]etcd.Member, error)
	Status(ctx context.Context, endpoint string) (etcd.Status, error)
	MoveLeader(ctx context.Context, id string) error
	RemoveMember(ctx context.Context, id string) error
}

var _ EtcdClient = (*etcd.Client)(nil)

// OnEtcd is an [Etcd] on a client. The list of members says neither who leads nor who is well,
// so each of them is asked; one that does not answer counts as unhealthy. The client's own
// endpoints must have the leader among them for the leadership to be moved.
func OnEtcd(client EtcdClient) Etcd { return onEtcd{client} }

type onEtcd struct{ client EtcdClient }

func (e onEtcd) Members(ctx context.Context) ([]Member, error) {
	listed, err := e.client.Members(ctx)
	if err != nil {
		return nil, err
	}

	var (
		all   = make([]Member, len(listed))
		leads = make([]string, len(listed)) // whom each takes for the leader
		asked sync.WaitGroup
	)

	for i, m := range listed {
		all[i] = Member{ID: m.ID, Name: m.Name, Learner: m.Learner, Unhealthy: true}

		asked.Go(func() {
			for _, endpoint := range m.ClientURLs {
				if !strings.HasPrefix(endpoint, "https://") {
					continue
				}

				// Another member may answer at an address that moved.
				s, err := e.client.Status(ctx, endpoint)
				if err == nil && s.MemberID == m.ID {
					all[i].Unhealthy, leads[i] = len(s.Errors) > 0 || s.Leader == "", s.Leader

					return
				}
			}
		})
	}

	asked.Wait()

	for i := range all {
		for _, leader := range leads {
			all[i].Leader = all[i].Leader || leader == all[i].ID
		}
	}

	return all, nil
}

func (e onEtcd) MoveLeader(ctx context.Context, to Member) error {
	return e.client.MoveLeader(ctx, to.ID)
}

func (e onEtcd) Remove(ctx context.Context, m Member) error {
	return e.client.RemoveMember(ctx, m.ID)
}
