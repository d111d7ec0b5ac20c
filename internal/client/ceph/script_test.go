// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// says is what a scripted commander answers to a command.
type says struct {
	out    string
	status string
	code   int
	err    error // of the transport
	hangs  bool
}

// sent is a command that was sent.
type sent struct {
	to  string // mon, mgr
	cmd string
	in  string
}

// script is a Commander that answers by the prefix of a command, and remembers all.
type script struct {
	says  map[string]says
	other says // to all other commands

	mu   sync.Mutex
	sent []sent
}

func (s *script) answer(ctx context.Context, to string, cmd, in []byte) ([]byte, string, error) {
	s.mu.Lock()
	s.sent = append(s.sent, sent{to, string(cmd), string(in)})
	s.mu.Unlock()

	var c struct {
		Prefix string `json:"prefix"`
	}

	if err := json.Unmarshal(cmd, &c); err != nil {
		return nil, "", err
	}

	a, ok := s.says[c.Prefix]
	if !ok {
		a = s.other
	}

	if a.hangs {
		<-ctx.Done()

		return nil, "", ctx.Err()
	}

	if a.err != nil {
		return nil, "", a.err
	}

	if a.code != 0 {
		return []byte(a.out), a.status, &ceph.Error{Code: a.code, Status: a.status, Out: []byte(a.out)}
	}

	return []byte(a.out), a.status, nil
}

func (s *script) MonCommand(ctx context.Context, cmd []byte) ([]byte, string, error) {
	return s.answer(ctx, "mon", cmd, nil)
}

func (s *script) MonCommandWithInputBuffer(ctx context.Context, cmd, in []byte) ([]byte, string, error) {
	return s.answer(ctx, "mon", cmd, in)
}

func (s *script) MgrCommand(ctx context.Context, cmd [][]byte) ([]byte, string, error) {
	return s.answer(ctx, "mgr", cmd[0], nil)
}

func (s *script) MgrCommandWithInputBuffer(ctx context.Context, cmd [][]byte, in []byte) ([]byte, string, error) {
	return s.answer(ctx, "mgr", cmd[0], in)
}

func (*script) Close() error { return nil }

// batchScript is a script that is a Batcher, too.
type batchScript struct {
	script

	batches int
	short   bool // one answer is missing
}

func (b *batchScript) Batch(ctx context.Context, cmds [][]byte) ([]ceph.Answer, error) {
	b.batches++

	answers := make([]ceph.Answer, 0, len(cmds))

	for _, cmd := range cmds {
		out, status, err := b.answer(ctx, "batch", cmd, nil)
		answers = append(answers, ceph.Answer{Out: out, Status: status, Err: err})
	}

	if b.short {
		answers = answers[1:]
	}

	return answers, nil
}

// cluster is a cluster of which only these answers are known.
func cluster(answers map[string]says) *ceph.Cluster { return ceph.New(&script{says: answers}) }

// always is a cluster that answers the same to all.
func always(out string) *ceph.Cluster { return ceph.New(&script{other: says{out: out}}) }

// recorded is an answer of a real cluster (16.2.15), shortened.
func recorded(tb testing.TB, name string) string {
	tb.Helper()

	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}

	return string(b)
}

// recordings are all recorded answers, by command.
func recordings(tb testing.TB) map[string]says {
	tb.Helper()

	all := map[string]says{}

	for prefix, file := range map[string]string{
		"status": "status", "quorum_status": "quorum_status", "mgr dump": "mgr_dump", "osd dump": "osd_dump",
		"osd tree": "osd_tree", "config dump": "config_dump", "versions": "versions",
		"fs ls": "fs_ls", "fs dump": "fs_dump", "mon metadata": "mon_metadata", "mds metadata": "mds_metadata",
		"osd metadata": "osd_metadata", "df": "df", "osd crush rule dump": "crush_rules",
		"auth ls": "auth_ls", "osd pool get": "pool_get_all",
	} {
		all[prefix] = says{out: recorded(tb, file)}
	}

	return all
}
