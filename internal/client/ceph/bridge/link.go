// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

const (
	maxLine  = 64 << 20
	maxNoise = 1000 // lines that are no answers
)

// errUnsent says that the session broke before a command was on its way.
var errUnsent = errors.New("not sent")

// link is one session. A goroutine reads its lines, so that the end of an idle one is seen.
type link struct {
	session Session
	lines   chan []byte
	over    chan struct{} // closed when nothing more comes; why is set before
	why     error
	closed  chan struct{}
	close   func()
	next    int64
}

// newLink reads a session. It calls after once the session is closed.
func newLink(s Session, after func()) *link {
	l := &link{
		session: s, lines: make(chan []byte),
		over: make(chan struct{}), closed: make(chan struct{}),
	}

	l.close = sync.OnceFunc(func() {
		close(l.closed)

		_ = s.Close()

		after()
	})

	go l.read()

	return l
}

// read hands the lines over, until there are no more.
func (l *link) read() {
	defer close(l.over)

	r := bufio.NewReaderSize(l.session, 64<<10)

	for {
		line, err := readLine(r, maxLine)
		if err != nil {
			l.why = err

			return
		}

		select {
		case l.lines <- line:
		case <-l.closed:
			l.why = io.ErrClosedPipe

			return
		}
	}
}

// readLine reads one line of bounded length.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte

	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)

		switch {
		case len(line) > limit:
			return nil, fmt.Errorf("%w: a line of more than %d MiB", api.ErrAnswer, limit>>20)
		case err == nil:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err //nolint:wrapcheck // the caller says what it was
		}
	}
}

// broken tells whether the session is known to be over.
func (l *link) broken() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// line waits for the next line. The context bounds it; whoever bounds the link closes it.
func (l *link) line(ctx context.Context) ([]byte, error) {
	select {
	case line := <-l.lines:
		return line, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", api.ErrLost, context.Cause(ctx))
	case <-l.over:
		return nil, l.lost(l.why)
	}
}

// lost is the error of a session that broke, with the host's last words.
func (l *link) lost(why error) error {
	if errors.Is(why, io.EOF) {
		why = errors.New("its program ended")
	}

	if words := command.Last(command.Words(l.session.Stderr())); words != "" {
		return fmt.Errorf("%w: %w: %s", api.ErrLost, why, words)
	}

	return fmt.Errorf("%w: %w", api.ErrLost, why)
}

// greet reads the first line.
func (l *link) greet(ctx context.Context) (hello, error) {
	for range maxNoise {
		line, err := l.line(ctx)
		if err != nil {
			return hello{}, err
		}

		if h, ok := parseHello(line); ok {
			return h, h.failure()
		}
	}

	return hello{}, fmt.Errorf("%w: the host says much, and not how its cluster is reached", api.ErrAnswer)
}

// send writes lines. What was not sent at all may be sent again.
func (l *link) send(lines []byte, first int) error {
	n, err := l.session.Write(lines)

	switch {
	case err == nil:
		return nil
	case n < first:
		return fmt.Errorf("%w: %w", errUnsent, l.lost(err))
	}

	return l.lost(err)
}

// receive reads the answer to one call.
func (l *link) receive(ctx context.Context, c call, id int64) (api.Answer, error) {
	for range maxNoise {
		line, err := l.line(ctx)
		if err != nil {
			return api.Answer{}, err
		}

		if a, ok, err := c.parseReply(line, id); ok || err != nil {
			return a, err
		}
	}

	return api.Answer{}, fmt.Errorf("%w: no answer among %d lines", api.ErrAnswer, maxNoise)
}
