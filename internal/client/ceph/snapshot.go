// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"encoding/json"
	"fmt"
)

// The commands of a snapshot, in its order.
const (
	osdDump = "osd dump"
	osdTree = "osd tree"
)

// result is the answer to one of several commands.
type result struct {
	request
	reply
}

// Snapshot asks for all that a refresh needs, with one round trip where the transport can.
func (c *Cluster) Snapshot(ctx context.Context) (Snapshot, error) {
	var snap Snapshot

	a, err := c.all(ctx, "status", "quorum_status", "mgr dump", osdDump, osdTree, "config dump", "versions")
	if err != nil {
		return snap, err
	}

	status, err := readResult[statusDoc](a[0])
	if err != nil {
		return snap, err
	}

	quorum, err := readResult[quorumDoc](a[1])
	if err != nil {
		return snap, err
	}

	mgr, err := readResult[mgrDoc](a[2])
	if err != nil {
		return snap, err
	}

	osds, err := readOSDMap(a[3], a[4])
	if err != nil {
		return snap, err
	}

	options, err := readResult[optionDocs](a[5])
	if err != nil {
		return snap, err
	}

	versions, err := readResult[versionsDoc](a[6])
	if err != nil {
		return snap, err
	}

	return Snapshot{
		Status: status.status(), Quorum: quorum.quorum(), Mgr: mgr.mgr(), OSDMap: osds,
		Config: options.options(), Versions: versions.versions(),
	}, nil
}

// all asks the monitors several questions that have no arguments. It fails with the first that fails.
func (c *Cluster) all(ctx context.Context, prefixes ...string) ([]result, error) {
	results := make([]result, len(prefixes))
	for i, p := range prefixes {
		results[i].request = request{command: command{"prefix": p, "format": "json"}}
	}

	if b, ok := c.Commander.(Batcher); ok {
		return results, c.batch(ctx, b, results)
	}

	for i := range results {
		a, err := c.ask(ctx, results[i].request)
		if err != nil {
			return nil, err
		}

		results[i].reply = a
	}

	return results, nil
}

func (c *Cluster) batch(ctx context.Context, b Batcher, results []result) error {
	cmds := make([][]byte, len(results))

	for i, r := range results {
		text, err := json.Marshal(r.command)
		if err != nil {
			return fmt.Errorf("ceph %s: write the command: %w", r.prefix(), err)
		}

		cmds[i] = text
	}

	own, cancel := context.WithTimeout(ctx, monLimit)
	defer cancel()

	answers, err := b.Batch(own, cmds)
	if err == nil && len(answers) != len(cmds) {
		err = fmt.Errorf("%w: %d answers to %d commands", ErrAnswer, len(answers), len(cmds))
	}

	late := own.Err() != nil && ctx.Err() == nil

	if err != nil {
		return c.explain(ctx, results[0].request, results[0].name(err, nil, ""), late)
	}

	for i, a := range answers {
		if a.Err != nil {
			return c.explain(ctx, results[i].request, results[i].name(a.Err, a.Out, a.Status), late)
		}

		results[i].reply = reply{a.Out, a.Status}
	}

	return nil
}

func readResult[T any, P shaped[T]](r result) (T, error) { return read[T, P](r.request, r.reply) }
