// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ironic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/transport"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

var (
	// readRhythm repeats reads that failed for the moment: six tries within 15 s.
	readRhythm = wait.Cadence{First: 500 * time.Millisecond, Factor: 2, Max: 8 * time.Second, Jitter: 0.1, Errors: 5}

	// lockRhythm repeats writes that a lock refuses. Ironic itself tries for 3 s before it says so.
	lockRhythm = wait.Cadence{First: 500 * time.Millisecond, Factor: 1.7, Max: 5 * time.Second, Jitter: 0.2}
)

const (
	// patience ends the repetition of reads that are slow to fail.
	patience = 20 * time.Second

	// unsentTries bounds the repetition of writes that do not arrive.
	unsentTries = 6
)

// call is one request.
type call struct {
	op     string // for people: "get node 5f…"
	method string // GET where empty
	path   string // below /v1/, escaped
	query  url.Values
	body   any
	id     string // the object that is asked for
	node   string // whose lock may be in the way of a write
	plain  bool   // without a version
	who    string // answered, where it was not Ironic

	passing []string // secrets of this request only
}

type answer struct {
	header http.Header
	body   []byte
}

// read sends a request that changes nothing, and repeats it a few times.
func (c *Client) read(ctx context.Context, k call) (answer, error) {
	return transport.Repeat(ctx, readRhythm, patience, func(ctx context.Context) (answer, error) {
		a, err := c.send(ctx, k)
		if errors.Is(err, ErrBusy) {
			err = wait.Transient(err)
		}

		return a, err
	}, wait.IsTransient)
}

// write sends a request that changes something. It is repeated while a lock refuses it,
// until the context ends, and a few times where it surely did not arrive. After another
// failure of the moment the caller must look again: the work may have been done.
func (c *Client) write(ctx context.Context, k call) (answer, error) {
	lasting, passing := secretsIn(k.body)
	c.secrets.learn(lasting...)
	k.passing = passing

	if _, err := c.Version(ctx); err != nil {
		return answer{}, err
	}

	var (
		a      answer
		last   error
		unsent int
	)

	err := wait.Retry(ctx, lockRhythm, func(ctx context.Context) error {
		a, last = c.send(ctx, k)
		last = c.sortConflict(ctx, k, last)

		if isUnsentError(last) {
			unsent++
		} else {
			unsent = 0
		}

		if errors.Is(last, ErrBusy) || (unsent > 0 && unsent < unsentTries) {
			return wait.Transient(last)
		}

		return nil
	})
	if err != nil {
		return answer{}, err
	}

	return a, last
}

func isUnsentError(err error) bool {
	var e *RequestError

	return errors.As(err, &e) && e.unsent
}

// sortConflict looks at the node where the words of a 409 do not say whether a lock was
// in the way: Ironic uses the number for locks and for what will never work.
func (c *Client) sortConflict(ctx context.Context, k call, err error) error {
	var e *RequestError
	if !errors.As(err, &e) || !errors.Is(e.kind, errUnsorted) {
		return err
	}

	e.kind = ErrConflict

	if k.node == "" {
		return err
	}

	path, bad := nodePath(k.node)
	if bad != nil {
		return err
	}

	a, failed := c.read(ctx, call{op: "get node " + k.node, path: path, query: url.Values{"fields": {"uuid,reservation"}}, id: k.node})
	if failed != nil {
		return err
	}

	if seen, ok := parseObject(a.body); ok && seen.text("reservation") != "" {
		e.kind, e.Reservation = ErrBusy, seen.text("reservation")
	}

	return err
}

// send sends a request once, in the version agreed on. Where an upgrade of Ironic made
// that version impossible, it is agreed on anew.
func (c *Client) send(ctx context.Context, k call) (answer, error) {
	if k.plain {
		return c.exchange(ctx, k, 0)
	}

	for again := true; ; again = false {
		minor, err := c.Version(ctx)
		if err != nil {
			return answer{}, err
		}

		a, err := c.exchange(ctx, k, minor)

		var e *RequestError
		if !again || !errors.As(err, &e) || e.Status != versionNotAllowed {
			return a, err
		}

		c.versions.forget()
	}
}

func (c *Client) exchange(ctx context.Context, k call, minor int) (answer, error) {
	sc, err := c.session(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return answer{}, fmt.Errorf("%s: %w", k.op, context.Cause(ctx))
		}

		return answer{}, err
	}

	free, err := c.slots.Enter(ctx)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", k.op, err)
	}
	defer free()

	opts := &gophercloud.RequestOpts{
		JSONBody:         k.body,
		KeepResponseBody: true,
		MoreHeaders:      map[string]string{},
		OkCodes:          []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNonAuthoritativeInfo, http.StatusNoContent},
	}
	if minor > 0 {
		opts.MoreHeaders[versionHeader] = "1." + strconv.Itoa(minor)
	}

	address := sc.ServiceURL(k.path)
	if len(k.query) > 0 {
		address += "?" + strings.ReplaceAll(k.query.Encode(), "%2C", ",")
	}

	method := k.method
	if method == "" {
		method = http.MethodGet
	}

	response, err := sc.Request(ctx, method, address, opts)
	if err != nil {
		return answer{}, c.failure(ctx, k, err)
	}
	defer response.Body.Close()

	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, c.failure(ctx, k, err)
	}

	return answer{response.Header, body}, nil
}

// decoded is the object in the answer of a request.
func decoded[T any](c *Client, k call, a answer, err error, decode func(raw []byte) (T, bool)) (T, error) {
	var none T

	if err != nil {
		return none, err
	}

	found, ok := decode(a.body)
	if !ok {
		return none, c.notIronic(k, a)
	}

	return found, nil
}

// notIronic is a good status with a body that Ironic would not send.
func (c *Client) notIronic(k call, a answer) error {
	text := "answered JSON of another kind, is this Ironic?"
	if body := bytes.TrimSpace(a.body); len(body) == 0 {
		text = "answered nothing, is this Ironic?"
	} else if body[0] == '<' {
		text = "answered HTML, is this Ironic? (" + title(body) + ")"
	}

	return &RequestError{Op: k.op, Status: http.StatusOK, Text: c.secrets.clean(text), kind: ErrNotIronic}
}
