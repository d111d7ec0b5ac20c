// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"context"
	"math"
	"strconv"
	"time"
)

// What counts where a configuration says nothing.
const (
	DefaultConnect = 10 * time.Second
	DefaultLimit   = time.Minute
)

// Config says how a cluster is reached from where a transport's programs run. Paths are paths there.
type Config struct {
	Conf    string // path; empty: Ceph looks in the usual places (rados: nothing is read)
	Name    string // empty: client.admin
	Keyring string // path; empty: the one that ceph.conf names
	// Connect is how long a monitor may take to answer at the start of a session, or of a command
	// that has none.
	Connect time.Duration
	// Limit is how long a command may take.
	Limit time.Duration
}

// WithDefaults fills in the limits that are not given.
func (c Config) WithDefaults() Config {
	if c.Connect <= 0 {
		c.Connect = DefaultConnect
	}

	if c.Limit <= 0 {
		c.Limit = DefaultLimit
	}

	return c
}

// Within is the limit of a command, a little shorter than the context where that ends before
// it: then an answer comes, and the command ends by itself.
func Within(ctx context.Context, limit time.Duration) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline))
	}

	return max(limit.Truncate(time.Second), time.Second)
}

// Seconds are whole ones, and at least one: 0 means for ever.
func Seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
