// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
)

// Hard limits of one command, whatever the caller's context allows.
const (
	// monLimit is longer than any election: who waits longer has no quorum.
	monLimit = time.Minute
	// mgrLimit is longer than the half minute that the monitors need to notice that a manager
	// is gone (mon_mgr_beacon_grace): only then "mgr stat" tells the truth.
	mgrLimit = 40 * time.Second
	// statLimit is for the question whether there is a manager.
	statLimit = 10 * time.Second
)

// target says who answers a command. Ceph 16 takes a command of the manager from a monitor
// too, which hands it on; but it refuses "osd purge" on that way (EINVAL, tried), and a
// monitor keeps a command that no manager takes. So each goes where it belongs.
type target int

const (
	toMon target = iota
	toMgr
)

// command is a command as Ceph's clients send it.
type command map[string]any

// meant is the command that says that it is meant, for releases that ask. Those before refuse
// the word, where the command goes through the ceph tool: it is said when asked for.
func (c command) meant() command {
	sure := maps.Clone(c)
	sure["yes_i_really_mean_it"] = true

	return sure
}

// request is a command with all that belongs to it.
type request struct {
	command

	to      target
	in      []byte   // input buffer
	secrets []string // parts of the input that must not come back in words
	hidden  bool     // the answer is secret: no piece of it may be quoted
}

// reply is an answer that said yes.
type reply struct {
	out    []byte
	status string
}

func (c command) prefix() string {
	p, _ := c["prefix"].(string)

	return p
}

// ask sends one command, within its limit, and gives errors their names.
func (c *Cluster) ask(ctx context.Context, r request) (reply, error) {
	text, err := json.Marshal(r.command)
	if err != nil {
		return reply{}, fmt.Errorf("ceph %s: write the command: %w", r.prefix(), err)
	}

	limit := monLimit
	if r.to == toMgr {
		limit = mgrLimit
	}

	own, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	out, status, err := c.send(own, r, text)
	if err == nil {
		return reply{out, status}, nil
	}

	late := own.Err() != nil && ctx.Err() == nil

	return reply{}, c.explain(ctx, r, r.name(err, out, status), late)
}

// send picks the method of the commander.
func (c *Cluster) send(ctx context.Context, r request, text []byte) ([]byte, string, error) {
	switch {
	case r.to == toMgr && r.in != nil:
		return c.MgrCommandWithInputBuffer(ctx, [][]byte{text}, r.in)
	case r.to == toMgr:
		return c.MgrCommand(ctx, [][]byte{text})
	case r.in != nil:
		return c.MonCommandWithInputBuffer(ctx, text, r.in)
	default:
		return c.MonCommand(ctx, text)
	}
}

// name gives an error the name of its command, and takes the input out of Ceph's words. What the
// transport found to be behind it stays said: nobody has to ask for it again.
func (r request) name(err error, out []byte, status string) error {
	var e *Error
	if !errors.As(err, &e) {
		return fmt.Errorf("ceph %s: %w", r.prefix(), err)
	}

	named := *e
	named.Command = r.prefix()

	if named.Status == "" {
		named.Status = status
	}

	if len(named.Out) == 0 {
		named.Out = out
	}

	named.Status = redact(without(named.Status, r.secrets))
	if r.hidden {
		named.Out = nil
	}

	var told error = &named

	for _, behind := range []error{ErrLost, ErrNoManager, ErrNoQuorum} {
		if errors.Is(err, behind) {
			told = fmt.Errorf("%w: %w", behind, told)
		}
	}

	return told
}

// explain says what is behind a command that got no answer.
func (c *Cluster) explain(ctx context.Context, r request, err error, late bool) error {
	if !late && (ctx.Err() != nil || !errors.Is(err, ErrTimedOut)) {
		return err
	}

	if errors.Is(err, ErrNoQuorum) || errors.Is(err, ErrNoManager) {
		return err // the transport knows it already
	}

	if r.to == toMon {
		return fmt.Errorf("%w: %w", ErrNoQuorum, err)
	}

	if gone, ok := c.managerGone(ctx); ok && gone {
		return fmt.Errorf("%w: %w", ErrNoManager, err)
	}

	if errors.Is(err, ErrTimedOut) {
		return err
	}

	return fmt.Errorf("%w: %w", &Error{Code: ErrTimedOut.Code, Command: r.prefix()}, err)
}

// managerGone asks the monitors whether there is no active manager; ok says that they told.
func (c *Cluster) managerGone(ctx context.Context) (gone, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, statLimit)
	defer cancel()

	out, _, err := c.MonCommand(ctx, []byte(`{"format":"json","prefix":"mgr stat"}`))
	if err != nil {
		return false, false
	}

	doc, ok := decode[mgrDoc](out)

	return ok && (!bool(doc.Available) || doc.name() == ""), ok
}

// tell sends a command whose answer says nothing but yes.
func (c *Cluster) tell(ctx context.Context, cmd command) error {
	_, err := c.ask(ctx, request{command: cmd})

	return err
}

// query sends a command to the monitors and reads its answer.
func query[T any, P shaped[T]](ctx context.Context, c *Cluster, cmd command) (T, error) {
	return queryOf[T, P](ctx, c, request{command: cmd})
}

// queryOf sends a request and reads its answer.
func queryOf[T any, P shaped[T]](ctx context.Context, c *Cluster, r request) (T, error) {
	r.command["format"] = "json"

	a, err := c.ask(ctx, r)
	if err != nil {
		var none T

		return none, err
	}

	return read[T, P](r, a)
}

// read reads an answer.
func read[T any, P shaped[T]](r request, a reply) (T, error) {
	doc, ok := decode[T, P](a.out)
	if !ok {
		return doc, r.unreadable(a)
	}

	return doc, nil
}

// unreadable is the error about an answer that does not fit.
func (r request) unreadable(a reply) error {
	if r.hidden {
		return fmt.Errorf("ceph %s: %w (%d bytes, not shown)", r.prefix(), ErrAnswer, len(a.out))
	}

	said := "nothing"
	if len(strings.TrimSpace(string(a.out))) > 0 {
		said = piece(without(string(a.out), r.secrets))
	}

	if a.status != "" {
		said += ", with the words " + piece(without(a.status, r.secrets))
	}

	return fmt.Errorf("ceph %s: %w: it said %s", r.prefix(), ErrAnswer, said)
}

// except forgives an error of one of these kinds: what is to go is gone already.
func except(err error, kinds ...error) error {
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return nil
		}
	}

	return err
}
