// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import "context"

// Run brings the devices of one resource to what is wanted.
type Run struct {
	Desk   *Desk
	Wanted Wanted
	Log    func(ctx context.Context, words string) // progress for people; nil: nobody listens
}

// Create attaches what is wanted. It goes on from what an unfinished run of before left (journal).
func (r *Run) Create(ctx context.Context) Result { return Result{} }

// Update detaches what is too much, then attaches what is missing.
func (r *Run) Update(ctx context.Context, have []Record) Result { return Result{} }

// Delete detaches all. The result has the devices that are still there.
func (r *Run) Delete(ctx context.Context, have []Record) Result { return Result{} }
