// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package kube_test

import (
	"crypto/tls"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube/etcd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// TestEtcd holds the client of etcd against three real members.
func TestEtcd(t *testing.T) {
	t.Parallel()

	e := kube.StartEtcd(t, 3)
	client := etcdClient(t, e.Endpoints, e.CA.PEM, e.Client.TLS(t))

	members, err := client.Members(t.Context())
	if err != nil || len(members) != 3 {
		t.Fatalf("got %+v, %v", members, err)
	}

	leader, err := client.Leader(t.Context())
	if err != nil || !slices.ContainsFunc(members, func(m etcd.Member) bool { return m.ID == leader }) {
		t.Fatalf("led by %q, %v", leader, err)
	}

	heir := members[slices.IndexFunc(members, func(m etcd.Member) bool { return m.ID != leader })]
	for range 2 {
		if err := client.MoveLeader(t.Context(), heir.ID); err != nil {
			t.Fatal(err)
		}
	}

	if now, err := client.Leader(t.Context()); err != nil || now != heir.ID {
		t.Errorf("led by %s, %v, want %s", now, err, heir.ID)
	}

	if alarms, err := client.Alarms(t.Context()); err != nil || len(alarms) != 0 {
		t.Errorf("alarms %v, %v", alarms, err)
	}

	statuses, failed := client.Statuses(t.Context())
	if len(statuses) != 3 || len(failed) != 0 || statuses[0].Version == "" || statuses[0].MemberID == "" {
		t.Errorf("got %+v, %v", statuses, failed)
	}

	t.Run("refused", func(t *testing.T) { etcdRefuses(t, e, client) })
	t.Run("a member that is dead", func(t *testing.T) { etcdDead(t, e, client) })
}

var errNotTried = errors.New("not tried yet")

func etcdClient(t *testing.T, endpoints []string, ca []byte, cert tls.Certificate) *etcd.Client {
	t.Helper()

	client, err := etcd.New(etcd.Config{Endpoints: endpoints, CA: ca, Certificate: cert})
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(client.Close)

	return client
}

func etcdRefuses(t *testing.T, e *kube.Etcd, client *etcd.Client) {
	t.Helper()

	other := kube.NewCA(t, "another")

	_, err := etcdClient(t, e.Endpoints[:1], e.CA.PEM, other.Client(t, "stranger").TLS(t)).Members(t.Context())
	if err == nil || wait.IsTransient(err) || !strings.Contains(err.Error(), "does not accept our certificate") {
		t.Errorf("a certificate of another authority: %v", err)
	}

	_, err = etcdClient(t, e.Endpoints[:1], other.PEM, e.Client.TLS(t)).Members(t.Context())
	if err == nil || wait.IsTransient(err) || !strings.Contains(err.Error(), "not of this cluster's etcd authority") {
		t.Errorf("another authority: %v", err)
	}

	// after a change of the leader etcd calls itself unhealthy for five seconds
	for err = wait.Transient(errNotTried); wait.IsTransient(err); time.Sleep(100 * time.Millisecond) {
		_, err = client.AddMember(t.Context(), e.Peers[:1], false)
	}

	var refused *etcd.Error
	if !errors.As(err, &refused) || wait.IsTransient(err) || refused.Status == 0 {
		t.Errorf("a peer that is there already: %v", err)
	}
}

func etcdDead(t *testing.T, e *kube.Etcd, client *etcd.Client) {
	t.Helper()

	e.Kill(0)

	// the next answers; the majority may be choosing a leader for a moment
	members := until(t, func() ([]etcd.Member, error) { return client.Members(t.Context()) })

	i := slices.IndexFunc(members, func(m etcd.Member) bool { return m.Name == "m0" })
	if i < 0 {
		t.Fatalf("got %+v", members)
	}

	if _, failed := client.Statuses(t.Context()); len(failed) != 1 {
		t.Errorf("failed: %v", failed)
	}

	for range 2 {
		until(t, func() (bool, error) { return true, client.RemoveMember(t.Context(), members[i].ID) })
	}

	if left := until(t, func() ([]etcd.Member, error) { return client.Members(t.Context()) }); len(left) != 2 {
		t.Errorf("got %+v", left)
	}

	added := until(t, func() (etcd.Member, error) {
		return client.AddMember(t.Context(), []string{"https://127.0.0.1:1"}, true)
	})
	if !added.Learner || added.ID == "" || added.Name != "" {
		t.Errorf("got %+v", added)
	}
}

// until repeats what passes.
func until[T any](t *testing.T, try func() (T, error)) T {
	t.Helper()

	var (
		a   T
		err error
	)

	for range 100 {
		if a, err = try(); err == nil || !wait.IsTransient(err) {
			break
		}

		time.Sleep(100 * time.Millisecond)
	}

	if err != nil {
		t.Fatal(err)
	}

	return a
}
