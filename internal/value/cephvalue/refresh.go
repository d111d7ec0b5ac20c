// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephvalue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// Away reports whether an error says that the cluster does not answer just now, and nothing
// else: its hosts are not reached, or its monitors have no quorum. A refresh that made an error
// of it would keep the apply from mending the cluster. An answer that says no, that is of
// another cluster, or that cannot be read is another matter.
func Away(err error) bool {
	for _, hard := range []error{ceph.ErrOtherCluster, api.ErrPermission, api.ErrAnswer} {
		if errors.Is(err, hard) {
			return false
		}
	}

	if unreached := (*ceph.UnreachedError)(nil); errors.As(err, &unreached) {
		for _, reason := range unreached.Reasons {
			if !Away(reason) {
				return false
			}
		}

		return len(unreached.Reasons) > 0
	}

	for _, soft := range []error{ceph.ErrUnreachable, api.ErrNoQuorum, api.ErrNoManager, api.ErrLost, api.ErrTimedOut, context.DeadlineExceeded} {
		if errors.Is(err, soft) {
			return true
		}
	}

	return false
}

// NotRead says that something in a cluster could not be refreshed: as a warning where the
// cluster is [Away], and as an error where it answers.
func NotRead(label string, err error, diags *diag.Diagnostics) {
	if Away(err) {
		diags.AddWarning(label+" is not refreshed", value.Sentence(err)+" The cluster does not answer just now. The state is kept as it is.")

		return
	}

	diags.AddError(label+" could not be read", value.Sentence(err)+" The state is kept as it is.")
}

// Refresh reaches a cluster for the refresh of something in it. What is not known before apply
// is no error there, nor is a cluster that is [Away].
func Refresh(ctx context.Context, far Far, id types.String, connection types.Object, label string, diags *diag.Diagnostics) *ceph.Reach {
	if diags.HasError() {
		return nil
	}

	r, err := away.open(ctx, far, id, connection, diags)

	switch {
	case diags.HasError():
		return nil
	case errors.Is(err, ErrPending):
		diags.AddWarning(label+" is not refreshed", value.Sentence(err)+" The state is kept as it is until apply.")
	case Away(err):
		NotRead(label, err, diags)
	case err != nil:
		diags.AddError("Ceph cluster of "+label+" cannot be reached", value.Sentence(err)+"\nThe state is kept as it is.")
	}

	return r
}

// awayTime is how long a refresh takes it for granted that a cluster is still away: many things
// in one cluster must not wait for it one after the other.
const awayTime = 30 * time.Second

// away remembers clusters that did not answer a refresh. What changes a cluster always tries.
var away = absences{all: map[absenceKey]*absence{}}

type absences struct {
	mu  sync.Mutex
	all map[absenceKey]*absence
}

// absenceKey is a way to a cluster. Each configured provider has its own memory.
type absenceKey struct {
	far            Far
	id, connection string
}

type absence struct {
	busy chan struct{} // holds a token while somebody tries
	err  error
	at   time.Time
}

func (a *absences) open(ctx context.Context, far Far, id types.String, connection types.Object, diags *diag.Diagnostics) (*ceph.Reach, error) {
	if far == nil || !reflect.TypeOf(far).Comparable() || id.IsNull() || id.IsUnknown() || connection.IsUnknown() {
		return Open(ctx, far, id, connection, diags)
	}

	one := a.of(absenceKey{far, id.ValueString(), connection.String()})

	select {
	case one.busy <- struct{}{}:
		defer func() { <-one.busy }()
	case <-ctx.Done():
		return nil, fmt.Errorf("reach the cluster: %w", context.Cause(ctx))
	}

	if one.err != nil && time.Since(one.at) < awayTime {
		return nil, one.err
	}

	r, err := Open(ctx, far, id, connection, diags)
	one.err = nil

	// Who ran out of his own time does not know about the cluster.
	if ctx.Err() == nil && Away(err) {
		one.err, one.at = err, time.Now()
	}

	return r, err
}

func (a *absences) of(key absenceKey) *absence {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.all[key] == nil {
		a.all[key] = &absence{busy: make(chan struct{}, 1)}
	}

	return a.all[key]
}
