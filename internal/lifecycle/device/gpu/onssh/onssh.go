// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// containerRoot is the root of the driver container of the GPU operator, on the host.
const containerRoot = "/run/nvidia/driver"

// ops are the operations on one host. It is safe for concurrent use.
type ops struct {
	host remote.Host

	mu       sync.Mutex
	facts    *facts // of the last look that found a driver
	warnings []string
}

// New returns the operations on a host.
func New(h remote.Host) gpu.Ops { return &ops{host: h} }

// Name implements [gpu.Ops].
func (o *ops) Name() string { return o.host.Name() }

// Warnings implements [gpu.Ops].
func (o *ops) Warnings() []string {
	o.mu.Lock()
	defer o.mu.Unlock()

	out := o.warnings
	o.warnings = nil

	return out
}

func (o *ops) warn(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()

	if w := o.host.Name() + ": " + fmt.Sprintf(format, args...); !slices.Contains(o.warnings, w) {
		o.warnings = append(o.warnings, w)
	}
}

// Driver implements [gpu.Ops]. It looks anew: a driver container comes and goes.
func (o *ops) Driver(ctx context.Context) (gpu.Driver, error) {
	f, err := o.look(ctx)
	if err != nil {
		return gpu.DriverNone, err
	}

	return f.driver(), nil
}

// look asks what the host has, and remembers it.
func (o *ops) look(ctx context.Context) (facts, error) {
	out, err := o.script(ctx, scriptDriver)
	if err != nil {
		return facts{}, err
	}

	f := parseFacts(out)

	if f.modeset {
		o.warn("nvidia_drm runs with modeset=Y: it cannot be unloaded, so the last GPU cannot be removed; set nvidia-drm modeset=0")
	}

	if f.persistenced {
		o.warn("the service nvidia-persistenced is enabled: it is stopped while a GPU is removed; disable it on hosts whose GPUs come and go")
	}

	o.mu.Lock()
	defer o.mu.Unlock()

	o.facts = nil
	if f.driver() != gpu.DriverNone {
		o.facts = &f
	}

	return f, nil
}

// known returns what is remembered of the host, and looks where that is nothing.
func (o *ops) known(ctx context.Context) (facts, error) {
	o.mu.Lock()
	f := o.facts
	o.mu.Unlock()

	if f != nil {
		return *f, nil
	}

	return o.look(ctx)
}

// script runs one of the fixed scripts and returns what it printed.
func (o *ops) script(ctx context.Context, text string, params ...string) (string, error) {
	name := hostcmd.ScriptName(text)

	res, err := o.host.Run(ctx, remote.Command{Script: text, Params: params})
	if err != nil {
		return "", o.lost(name, err)
	}

	if res.Exit != 0 {
		return "", o.failed(name, res)
	}

	return string(res.Stdout), nil
}

// tool runs one of the driver's tools where the driver is, whatever its exit status.
func (o *ops) tool(ctx context.Context, args ...string) (remote.Result, error) {
	f, err := o.known(ctx)
	if err != nil {
		return remote.Result{}, err
	}

	switch f.driver() {
	case gpu.DriverNone:
		return remote.Result{}, fmt.Errorf("%w: neither nvidia-smi and the kernel module on %s, nor under %s", gpu.ErrNoDriver, o.Name(), containerRoot)
	case gpu.DriverContainer:
		args = append([]string{"chroot", containerRoot}, args...)
	case gpu.DriverHost:
	}

	res, err := o.run(ctx, args...)
	if errors.Is(err, hostcmd.ErrNoCommand) {
		// The driver went away since the last look.
		o.mu.Lock()
		o.facts = nil
		o.mu.Unlock()
	}

	return res, err
}

// do is tool for commands that must succeed.
func (o *ops) do(ctx context.Context, args ...string) (remote.Result, error) {
	res, err := o.tool(ctx, args...)
	if err == nil && res.Exit != 0 {
		err = o.failed(strings.Join(args, " "), res)
	}

	return res, err
}

// run runs a command, whatever its exit status.
func (o *ops) run(ctx context.Context, args ...string) (remote.Result, error) {
	res, err := o.host.Run(ctx, remote.Command{Args: args})
	if err != nil {
		return res, o.lost(strings.Join(args, " "), err)
	}

	if res.Exit == hostcmd.NoCommand {
		return res, fmt.Errorf("%w: %w: %s on %s", gpu.ErrCommand, hostcmd.ErrNoCommand, args[0], o.Name())
	}

	return res, nil
}

// failed is the error of a command that ran and did not work. nvidia-smi puts its words
// on standard output.
func (o *ops) failed(what string, res remote.Result) error {
	said := hostcmd.Words(res.Stderr)
	if out := hostcmd.Words(res.Stdout); said == "" || (strings.HasPrefix(what, "nvidia-smi") && out != "") {
		said = out
	}

	if said == "" {
		said = "it said nothing"
	}

	return fmt.Errorf("%w: %s on %s (exit status %d): %s", gpu.ErrCommand, what, o.Name(), res.Exit, said)
}

// advice says what to do about a connection that does not work.
var advice = []struct {
	kind error
	say  string
}{
	{remote.ErrBastion, "nothing is known of the host: correct the bastion, or bring it back"},
	{remote.ErrHandshake, "the host answers: see whether its sshd is well and speaks algorithms of today"},
	{remote.ErrRefused, "let the user run commands (ForceCommand, shell and MaxSessions on the host)"},
	{remote.ErrHostKey, "if the host was installed anew, give the new host_key or correct known_hosts_file"},
	{remote.ErrAuth, "check user, key and agent of the connection"},
	{remote.ErrSudo, "allow the user to run commands with sudo without a password, or log in as root"},
	{remote.ErrConfig, "correct the connection"},
	{remote.ErrTimeout, "see whether the driver hangs (dmesg); the command was ended"},
	{remote.ErrLost, "the host has answered before, so it counts as alive"},
}

// lost is the error of a command that left no result. Only a host that nobody reached counts
// as unreachable: skip_drain = "if_unreachable" takes the GPU from it. What was lost on the way
// or in between may work at the next try.
func (o *ops) lost(what string, err error) error {
	// The host tells its name in its own errors.
	switch {
	case errors.Is(err, remote.ErrUnreachable):
		return fmt.Errorf("%s: %w: %w", what, gpu.ErrUnreachable, err)
	case errors.Is(err, remote.ErrTooLong):
		return fmt.Errorf("%s: %w: %w", what, gpu.ErrCommand, err)
	}

	for _, a := range advice {
		if errors.Is(err, a.kind) {
			said := fmt.Errorf("%s on %s: %w (%s)", what, o.Name(), err, a.say)
			if errors.Is(err, remote.ErrLost) || errors.Is(err, remote.ErrBastion) || errors.Is(err, remote.ErrHandshake) {
				return wait.Transient(said)
			}

			return said
		}
	}

	return fmt.Errorf("%s on %s: %w", what, o.Name(), err)
}
