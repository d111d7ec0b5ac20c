// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// Options of the monitors that forbid what the configuration asks for in so many words.
const (
	allowDelete  = "mon_allow_pool_delete"
	allowSizeOne = "mon_allow_pool_size_one"
)

const (
	permitTime  = 20 * time.Second // for a set option to reach the monitors
	restoreTime = 30 * time.Second
)

// errForbidden is EPERM.
var errForbidden = &api.Error{Code: -1}

// permits lets one at a time have an option of the monitors for a moment: the one that puts it
// back must not do so while another needs it.
var permits = make(wait.Places, 1)

// permitted does something that an option of the monitors may forbid. Where it does, the option
// is set for the moment, and is put back whatever happens.
func permitted(ctx context.Context, c *api.Cluster, option string, do func(ctx context.Context) error) (err error) {
	if err := do(ctx); !forbidden(err) {
		return err
	}

	leave, err := permits.Enter(ctx)
	if err != nil {
		return fmt.Errorf("wait for the option %s: %w", option, err)
	}
	defer leave()

	// A run that was killed left it as it is now.
	if err := putBack(ctx, c, option); err != nil {
		return err
	}

	was, err := noteBefore(ctx, c, option)
	if err != nil {
		return err
	}

	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreTime)
		defer cancel()

		if back := was.restore(ctx, c, option); back != nil {
			err = errors.Join(err, fmt.Errorf("the option %s of the monitors, which was set to true for the moment, could not be put back (ceph config get mon %s): %w", option, option, back))
		}
	}()

	if err := c.ConfigSet(ctx, "mon", option, "true"); err != nil {
		return fmt.Errorf("set %s for the moment: %w", option, err)
	}

	limited, cancel := context.WithTimeout(ctx, permitTime)
	defer cancel()

	var last error

	err = wait.Until(limited, wait.Quick, func(context.Context) (wait.Verdict, string, error) {
		last = do(ctx) // with the time of the verb: one that was begun goes on

		if forbidden(last) {
			return wait.Again, "the monitors still forbid it", nil
		}

		return wait.Done, "", last
	})
	if err != nil && last != nil {
		return last
	}

	return err
}

// forbidden reports whether an option forbids it. A flag of the pool itself is no option.
func forbidden(err error) bool {
	return errors.Is(err, errForbidden) && !strings.Contains(err.Error(), "nodelete")
}
