// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"fmt"
	"strings"
)

// startsAtMost is how often one run starts a daemon: one that ends again and again, some time
// after its start, does so for a reason that another start does not remove.
const startsAtMost = 3

// start starts a daemon.
func (w *worker) start(ctx context.Context, h Host, seen *Seen, p Placed, how StartHow) error {
	w.mu.Lock()
	w.starts[p.Daemon]++
	n := w.starts[p.Daemon]
	w.mu.Unlock()

	if n > startsAtMost {
		f, _ := (&view{s: seen}).daemon(p.Host, p.Daemon)

		return lastWords(fmt.Errorf("%w or soon after its start, %d times: see %s/%s.log", ErrDied, n-1, Layout{Dir: w.Dir}.Log(), p.Daemon), strings.ReplaceAll(f.Words, "\n", "; "))
	}

	return h.Start(ctx, w.layout(seen, p.Host), p.Daemon, how)
}
