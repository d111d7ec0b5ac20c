// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// reachTime bounds what one host is tried for: to connect, and to hear from a monitor.
const reachTime = 90 * time.Second

// ErrOtherCluster says that a host answered, and has another cluster.
var ErrOtherCluster = errors.New("another cluster is there")

// Reach is a running cluster, reached through one of the hosts of its monitors.
type Reach struct {
	*api.Cluster

	// Session is what the commands of Cluster go through. It may be shared: whoever opened it closes it.
	Session  *Session
	Location Location // with the fsid that answered
	Layout   Layout   // with folder and fsid alone
	Hosts    []Host   // of the location, in its order
}

// UnreachedError says why each host of a cluster did not lead to it.
type UnreachedError struct {
	Location Location
	Reasons  []error // one a host
}

// Error implements error.
func (e *UnreachedError) Error() string {
	which := "the cluster in " + e.Location.Dir
	if e.Location.FSID != "" {
		which = "cluster " + e.Location.FSID
	}

	switch len(e.Reasons) {
	case 0:
		return which + " cannot be reached: no host of it is known"
	case 1:
		return which + " cannot be reached: " + e.Reasons[0].Error()
	}

	var b strings.Builder

	fmt.Fprintf(&b, "%s cannot be reached through any of its %d hosts:", which, len(e.Reasons))

	for _, r := range e.Reasons {
		b.WriteString("\n- " + r.Error())
	}

	return b.String()
}

// Unwrap gives all reasons.
func (e *UnreachedError) Unwrap() []error { return e.Reasons }

// Open opens a session with a cluster through the first host that leads to it, and makes sure
// that it is the cluster that is meant. The context bounds the opening; the session goes on
// until it is closed.
func Open(ctx context.Context, loc Location, hosts []Host) (*Reach, error) {
	failed := &UnreachedError{Location: loc}

	for _, h := range hosts {
		s, fsid, err := openAt(ctx, loc, h)

		switch {
		case err == nil:
			loc.FSID = fsid

			return s.Reach(loc, hosts), nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("reach the cluster in %s through %s: %w", loc.Dir, h.Name(), context.Cause(ctx))
		case strings.Contains(err.Error(), h.Name()):
			failed.Reasons = append(failed.Reasons, err)
		default:
			failed.Reasons = append(failed.Reasons, fmt.Errorf("%s: %w", h.Name(), err))
		}
	}

	return nil, failed
}

// Reach is a cluster through this session.
func (s *Session) Reach(loc Location, hosts []Host) *Reach {
	return &Reach{Cluster: api.New(s), Session: s, Location: loc, Layout: loc.layout(), Hosts: hosts}
}

func (l Location) layout() Layout { return Layout{FSID: l.FSID, Dir: l.Dir} }

// openAt tries one host.
func openAt(ctx context.Context, loc Location, h Host) (*Session, string, error) {
	// The session outlives the verb that opens it, and the opening does not.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	late := time.AfterFunc(reachTime, func() { end(fmt.Errorf("%w: no answer within %s", api.ErrNoQuorum, reachTime)) })
	release := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })

	c, err := h.Connect(life, loc.layout())
	if err != nil {
		err = because(life, err)
		end(nil)

		return nil, "", err
	}

	s := &Session{inner: c, end: func() { end(nil) }}

	fsid, err := askFSID(life, s)
	if err == nil && loc.FSID != "" && fsid != loc.FSID {
		err = fmt.Errorf("%w: the cluster in %s is %s, and %s is meant", ErrOtherCluster, loc.Dir, fsid, loc.FSID)
	}

	if err == nil && late.Stop() && release() {
		return s, fsid, nil
	}

	err = because(life, err)
	_ = s.Close()

	return nil, "", err
}

// because adds why the context ended, where it did.
func because(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}

	if cause := context.Cause(ctx); err == nil || !errors.Is(err, cause) {
		return errors.Join(cause, err)
	}

	return err
}

// askFSID asks the monitors which cluster they are.
func askFSID(ctx context.Context, c api.Commander) (string, error) {
	out, status, err := c.MonCommand(ctx, []byte(`{"prefix":"fsid"}`))
	if err != nil {
		return "", fmt.Errorf("ask for the fsid: %w", err)
	}

	fsid := strings.ToLower(strings.TrimSpace(string(out)))
	if !fsidPattern.MatchString(fsid) {
		return "", fmt.Errorf("%w: %q as fsid (%s)", api.ErrAnswer, fsid, status)
	}

	return fsid, nil
}
