// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"sync"
)

// capped keeps what is written to it up to a limit; what is beyond is dropped, and told once.
type capped struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	max   int
	full  chan struct{} // closed at the first byte that is too many
	isOut bool
}

func newCapped(limit int) *capped { return &capped{max: limit, full: make(chan struct{})} }

// Write never fails: a command whose output is dropped ends by being ended.
func (c *capped) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()

	room := c.max - c.buf.Len()
	if len(p) <= room {
		return c.buf.Write(p)
	}

	if room > 0 {
		_, _ = c.buf.Write(p[:room])
	}

	if !c.isOut {
		c.isOut = true
		close(c.full)
	}

	return len(p), nil
}

func (c *capped) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()

	return bytes.Clone(c.buf.Bytes())
}

// cut tells whether something was dropped.
func (c *capped) cut() bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.isOut
}

// tail keeps the last part of what is written to it.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	n := len(p)
	p = p[max(0, n-keptStderr):]
	t.buf = append(t.buf[max(0, len(t.buf)+len(p)-keptStderr):], p...)

	return n, nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()

	return string(t.buf)
}
