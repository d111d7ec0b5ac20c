// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph/command"
)

// To whom a command goes.
const (
	mon = "mon"
	mgr = "mgr"
)

// call is a command to be sent.
type call struct {
	to      string
	cmd, in []byte
}

// request is a call on the wire. Bytes are base64 there.
type request struct {
	ID    int64  `json:"id"`
	To    string `json:"to"`
	Cmd   string `json:"cmd"`
	In    []byte `json:"in,omitempty"`
	Limit int    `json:"limit"` // in seconds
}

// reply is an answer on the wire.
type reply struct {
	ID     *int64 `json:"id"`
	Code   int    `json:"rc"`
	Status string `json:"s"`
	Out    []byte `json:"out"`
}

// hello is the first line of a session.
type hello struct {
	Bridge   int    `json:"bridge"`
	Code     int    `json:"rc"`
	Status   string `json:"s"`
	No       string `json:"no"` // what the host lacks: python, librados
	FSID     string `json:"fsid"`
	Librados string `json:"librados"`
}

// line is the call as one line.
func (c call) line(id int64, limit time.Duration) ([]byte, error) {
	line, err := json.Marshal(request{
		ID: id, To: c.to, Cmd: string(c.cmd), In: c.in, Limit: max(1, int(limit.Seconds())),
	})
	if err != nil {
		return nil, fmt.Errorf("ceph %s: %w", command.Prefix(c.cmd), err)
	}

	return append(line, '\n'), nil
}

// parseHello reads a line at the start of a session. A host may greet before, with braces, too.
func parseHello(line []byte) (h hello, ok bool) {
	ok = json.Unmarshal(bytes.TrimSpace(line), &h) == nil && h.Bridge == 1

	return h, ok
}

// parseReply reads a line that answers a call. What is no answer at all is skipped; an answer to
// something else is an error.
func (c call) parseReply(line []byte, id int64) (a api.Answer, ok bool, err error) {
	var r reply

	if json.Unmarshal(bytes.TrimSpace(line), &r) != nil || r.ID == nil {
		return a, false, nil //nolint:nilerr // noise is no answer, and no error
	}

	if *r.ID != id {
		return a, false, fmt.Errorf("%w: an answer to command %d instead of %d", api.ErrAnswer, *r.ID, id)
	}

	return api.Answer{Out: r.Out, Status: r.Status, Err: command.Failure(c.cmd, r.Code, r.Status, r.Out)}, true, nil
}

// failure is the error of a session that did not begin.
func (h hello) failure() error {
	words := command.Last(command.Words(h.Status))

	switch {
	case h.Code == 0:
		return nil
	case h.No != "":
		return fmt.Errorf("%w: %s", api.ErrNoLibrados, words)
	}

	return command.Refused(h.Code, words)
}
