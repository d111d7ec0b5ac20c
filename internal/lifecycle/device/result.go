// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The reasons of failures that a caller can tell apart with errors.Is.
var (
	ErrExisting    = errors.New("devices of this kind are there already")
	ErrAmbiguous   = errors.New("several devices came at once")
	ErrNoHost      = errors.New("no host fits")
	ErrNotAttached = errors.New("the device did not come")
	ErrUnhealthy   = errors.New("the device is not healthy")
	ErrNotVisible  = errors.New("the host does not show the device")
	ErrInUse       = errors.New("the device is in use")
	ErrUnreachable = errors.New("the host cannot be reached")
	ErrUnknown     = errors.New("the provider's configuration is not known yet")
)

// Failure is one step that failed on one machine.
type Failure struct {
	Host    string // as people know it; empty: the resource as a whole
	Device  string // empty: none yet
	Step    string // "attach", "wait for the host to show it", "drain", "detach", "place", …
	Elapsed time.Duration
	Advice  string // what to do about it; empty: nothing special
	Err     error

	waits bool // the device is there, and the next apply may find it usable
}

func (f *Failure) Error() string {
	var b strings.Builder

	b.WriteString(f.Step)

	if f.Device != "" {
		b.WriteString(" device " + f.Device)
	}

	if f.Host != "" {
		b.WriteString(" of " + f.Host)
	}

	fmt.Fprintf(&b, ": %v", f.Err)

	if f.Elapsed >= time.Second {
		fmt.Fprintf(&b, " (after %s)", f.Elapsed.Round(time.Second))
	}

	return b.String()
}

// Unwrap returns the reason.
func (f *Failure) Unwrap() error { return f.Err }

// Result is what a run left.
type Result struct {
	Devices   []Record // all that are ours now, in the order of attached_at, then fabric id
	Unmanaged []string // fabric ids of devices of the same kind on our machines that are not ours; nil: nobody looked
	Failures  []*Failure
	Warnings  []string
}

// Err joins the failures; nil where there are none.
func (r Result) Err() error {
	var errs []error
	for _, f := range r.Failures {
		errs = append(errs, f)
	}

	return errors.Join(errs...)
}

// State is the state of a resource that wants size devices.
func (r Result) State(size int) string {
	if len(r.Devices) != size {
		return Degraded
	}

	for _, d := range r.Devices {
		if d.State != Online {
			return Degraded
		}
	}

	return Running
}
