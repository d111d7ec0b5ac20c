// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	waiting "github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

const (
	dashboardUser = "admin"
	dashboardRole = "administrator"
	// passwordBytes make a password of 20 characters, as Rook's.
	passwordBytes = 15
	// moduleTime is how long a module that was just enabled may take until it takes commands.
	moduleTime = 90 * time.Second
)

// reloadDashboard switches the dashboard off where its options changed: it reads them when it
// starts, and the next look finds it off.
func (w *worker) reloadDashboard(ctx context.Context, c *api.Cluster, seen *Seen, changes []OptionChange) error {
	touched := slices.ContainsFunc(changes, func(o OptionChange) bool { return strings.HasPrefix(o.Name, "mgr/dashboard/") })
	if !touched || !slices.Contains(seen.Cluster.Mgr.Modules, moduleDashboard) {
		return nil
	}

	return c.ModuleDisable(ctx, moduleDashboard)
}

// openDashboard makes a certificate and the user admin. The module takes commands only some
// seconds after it was enabled, and says that it knows none until then.
func (w *worker) openDashboard(ctx context.Context, c *api.Cluster, seen *Seen) error {
	password := w.Dashboard.Password
	if password == "" {
		password = newPassword()
	}

	limit, cancel := context.WithTimeoutCause(ctx, moduleTime, errors.New("the dashboard takes no commands"))
	defer cancel()

	err := waiting.Until(limit, upgradeRhythm, func(ctx context.Context) (waiting.Verdict, string, error) {
		if w.Dashboard.SSL {
			if _, err := c.MgrCommandRaw(ctx, map[string]any{"prefix": "dashboard create-self-signed-cert"}, nil); err != nil {
				return waiting.Again, err.Error(), early(err)
			}
		}

		if err := c.DashboardUser(ctx, dashboardUser, string(password), dashboardRole); err != nil {
			return waiting.Again, err.Error(), early(err)
		}

		return waiting.Done, "", nil
	})
	if err != nil {
		return err
	}

	return w.saveIdentity(ctx, seen, func(id *Identity) { id.Dashboard = password })
}

// early is nil for the answers of a module that is not loaded yet.
func early(err error) error {
	if errors.Is(err, api.ErrInvalid) || errors.Is(err, api.ErrNotFound) || errors.Is(err, api.ErrBusy) {
		return nil
	}

	return waiting.Transient(err)
}

func newPassword() Secret {
	var b [passwordBytes]byte

	_, _ = rand.Read(b[:]) // it never fails

	return Secret(base64.RawURLEncoding.EncodeToString(b[:]))
}
