// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// joinFS is the option that ties an MDS to its file system.
const joinFS = "mds_join_fs"

// dropFormer takes the MDS from hosts that shall have none any more. A host that is dead for ever
// must not be in the way of every apply: where nobody answers and the cluster does not hear of
// its MDS, what the cluster knows of that MDS goes, and a warning says so.
func (w Wanted) dropFormer(ctx context.Context, r *ceph.Reach, servers []server) (warnings []string, err error) {
	var (
		problems, silent []error
		known            = map[string]bool{} // MDS whose host answers
	)

	for _, s := range servers {
		known[s.daemon.ID] = true
	}

	for _, h := range w.former(servers) {
		s, _, err := serverOn(ctx, r, h, w.Name, ceph.Ask{})

		switch {
		case errors.Is(err, ceph.ErrUnreachable):
			silent = append(silent, err)

			continue
		case err == nil && known[s.daemon.ID]:
			continue // it stays, by another address
		case err == nil:
			known[s.daemon.ID] = true
			err = s.remove(ctx, r)
		}

		if err != nil {
			problems = append(problems, err)
		}
	}

	if len(silent) > 0 {
		warnings, err = w.forget(ctx, r, known, errors.Join(silent...))
		problems = append(problems, err)
	}

	return warnings, errors.Join(problems...)
}

// forget removes the keys of the MDS of this file system that are on none of the hosts that
// answer, unless one of them is up.
func (w Wanted) forget(ctx context.Context, r *ceph.Reach, known map[string]bool, silent error) (warnings []string, err error) {
	options, err := r.ConfigDump(ctx)
	if err != nil {
		return nil, errors.Join(silent, fmt.Errorf("look for the MDS of file system %s: %w", w.Name, err))
	}

	status, err := r.FSStatus(ctx)
	if err != nil {
		return nil, errors.Join(silent, fmt.Errorf("look at the MDS of file system %s: %w", w.Name, err))
	}

	up := heard(status)

	var lost []string

	for _, o := range options {
		id, is := strings.CutPrefix(o.Section, ceph.RoleMDS+".")

		switch {
		case !is || o.Name != joinFS || o.Value != w.Name || known[id]:
			continue
		case up[id]:
			return nil, fmt.Errorf("the cluster still hears mds.%s, and nobody can stop it: %w", id, silent)
		default:
			lost = append(lost, id)
		}
	}

	for _, id := range lost {
		if err := forgetMDS(ctx, r, id); err != nil {
			return nil, err
		}
	}

	what := "the cluster knew no MDS there"
	if len(lost) > 0 {
		slices.Sort(lost)

		what = "the cluster does not hear mds." + strings.Join(lost, ", mds.") + ", which lost its key: it cannot serve again. Delete what is left of it, should its host come back"
	}

	return []string{fmt.Sprintf("a former host of the MDS of file system %s does not answer, and %s: %v", w.Name, what, silent)}, nil
}

// heard are all MDS that tell the monitors that they live.
func heard(m api.MDSMap) map[string]bool {
	out := map[string]bool{}

	for _, name := range m.Standbys {
		out[name] = true
	}

	for _, ranks := range m.FileSystems {
		for _, name := range slices.Concat(ranks.Active, ranks.Replay) {
			out[name] = true
		}

		for name := range ranks.Other {
			out[name] = true
		}
	}

	return out
}

// forgetMDS removes what the cluster knows of an MDS.
func forgetMDS(ctx context.Context, r *ceph.Reach, id string) error {
	entity := ceph.Daemon{Type: ceph.RoleMDS, ID: id}.String()

	if err := r.AuthRemove(ctx, entity); err != nil {
		return fmt.Errorf("remove the key of %s: %w", entity, err)
	}

	if err := r.ConfigRemove(ctx, entity, joinFS); err != nil {
		return fmt.Errorf("forget the file system of %s: %w", entity, err)
	}

	return nil
}
