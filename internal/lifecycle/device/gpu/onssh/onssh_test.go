// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
)

var gpu1 = gpu.GPU{UUID: uuid1, BusID: "0000:1f:00.0", Minor: 3}

func TestDriver(t *testing.T) {
	t.Parallel()

	for facts, want := range map[string]gpu.Driver{
		hostDriver:                        gpu.DriverHost,
		"smi host\nmodule host":           gpu.DriverHost, // no GPU yet, so not loaded
		"smi host\nloaded":                gpu.DriverHost,
		"smi host\nsmi container\nloaded": gpu.DriverContainer,
		containerDriver:                   gpu.DriverContainer,
		"smi container\nloaded":           gpu.DriverContainer,
		"smi host":                        gpu.DriverNone, // tools without a module
		"module host\nloaded":             gpu.DriverNone, // a module without tools
		"":                                gpu.DriverNone,
		"something new\nsmi host\n\nmodule host ": gpu.DriverHost,
	} {
		got, err := onssh.New(&host{facts: facts}).Driver(t.Context())
		if err != nil || got != want {
			t.Errorf("%q: %s, error %v", facts, got, err)
		}
	}
}

func TestDriver_comesLater(t *testing.T) {
	t.Parallel()

	h := &host{answers: map[string]remote.Result{"chroot /run/nvidia/driver " + visibleQuery: said("No devices were found\n")}}
	ops := onssh.New(h)

	if _, err := ops.Visible(t.Context()); !errors.Is(err, gpu.ErrNoDriver) {
		t.Errorf("error %v", err)
	}

	h.facts = containerDriver // the driver's container starts when a GPU is there

	if _, err := ops.Visible(t.Context()); err != nil {
		t.Error(err)
	}

	h.facts, h.answers = hostDriver, map[string]remote.Result{visibleQuery: said("No devices were found\n")}

	if _, err := ops.Visible(t.Context()); !errors.Is(err, gpu.ErrCommand) {
		t.Errorf("error %v: the container is gone", err)
	}

	if _, err := ops.Visible(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()

	ops := onssh.New(&host{facts: hostDriver + "modeset Y\npersistenced\n"})

	for range 2 {
		if _, err := ops.Driver(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	got := strings.Join(ops.Warnings(), "\n")
	if strings.Count(got, "modeset=0") != 1 || strings.Count(got, "nvidia-persistenced is enabled") != 1 || len(ops.Warnings()) > 0 {
		t.Errorf("warnings %s", got)
	}
}

// TestCommands shows each operation with its commands.
func TestCommands(t *testing.T) {
	t.Parallel()

	const inContainer = "chroot /run/nvidia/driver "

	other := gpu.GPU{BusID: "0000:1f:00.0", Minor: -1}

	cases := map[string]struct {
		facts string
		do    func(context.Context, gpu.Ops) error
		want  []string
	}{
		"visible":                 {hostDriver, func(ctx context.Context, o gpu.Ops) error { _, err := o.Visible(ctx); return err }, []string{visibleQuery}},
		"visible, in a container": {containerDriver, func(ctx context.Context, o gpu.Ops) error { _, err := o.Visible(ctx); return err }, []string{inContainer + visibleQuery}},
		"drain": {
			hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.SetDrain(ctx, gpu1, true) },
			[]string{"nvidia-smi drain -p 0000:1F:00.0 -m 1"},
		},
		"end of a drain": {
			containerDriver, func(ctx context.Context, o gpu.Ops) error { return o.SetDrain(ctx, gpu1, false) },
			[]string{inContainer + "nvidia-smi drain -p 0000:1F:00.0 -m 0"},
		},
		"persistence by UUID":    {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.SetPersistence(ctx, gpu1, false) }, []string{"nvidia-smi -i " + uuid1 + " -pm 0"}},
		"persistence by address": {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.SetPersistence(ctx, other, true) }, []string{"nvidia-smi -i 0000:1F:00.0 -pm 1"}},
		"init":                   {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.Init(ctx) }, []string{"modprobe nvidia", "nvidia-smi -L"}},
		"init, in a container":   {containerDriver, func(ctx context.Context, o gpu.Ops) error { return o.Init(ctx) }, []string{inContainer + "nvidia-smi -L"}},
		"holders":                {hostDriver, func(ctx context.Context, o gpu.Ops) error { _, err := o.Holders(ctx, gpu1); return err }, []string{"gpu-holders /dev/nvidia3 3"}},
		"rescan":                 {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.Rescan(ctx) }, []string{"pci-rescan"}},
		"device file":            {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.RemoveDeviceFile(ctx, gpu1) }, []string{"device-file-remove 3"}},
		"no device file":         {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.RemoveDeviceFile(ctx, other) }, nil},
		"persistenced stops": {
			hostDriver, func(ctx context.Context, o gpu.Ops) error { _, err := o.StopPersistenced(ctx); return err },
			[]string{"systemctl is-active nvidia-persistenced", "systemctl stop nvidia-persistenced"},
		},
		"persistenced starts": {hostDriver, func(ctx context.Context, o gpu.Ops) error { return o.StartPersistenced(ctx) }, []string{"systemctl start nvidia-persistenced"}},
		"persistenced of a container stops": {
			containerDriver, func(ctx context.Context, o gpu.Ops) error { _, err := o.StopPersistenced(ctx); return err },
			[]string{"persistenced-runs /run/nvidia/driver", "persistenced-stop /run/nvidia/driver"},
		},
		"persistenced of a container starts": {
			containerDriver, func(ctx context.Context, o gpu.Ops) error { return o.StartPersistenced(ctx) },
			[]string{inContainer + "nvidia-persistenced --persistence-mode"},
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := &host{facts: c.facts, dynamic: func(line string) (remote.Result, bool) {
				if strings.HasPrefix(line, "persistenced-runs") {
					return said("running\n"), true
				}

				return said(""), line != "gpu-driver"
			}}
			if err := c.do(t.Context(), onssh.New(h)); err != nil || !slices.Equal(h.lines, c.want) {
				t.Errorf("ran %q, error %v", h.lines, err)
			}

			// And each says so when it fails.
			bad := &host{facts: c.facts, dynamic: func(line string) (remote.Result, bool) { return failed("no way"), line != "gpu-driver" }}

			err := c.do(t.Context(), onssh.New(bad))
			if len(c.want) > 0 && name != "persistenced stops" && (!errors.Is(err, gpu.ErrCommand) || !strings.Contains(err.Error(), "no way")) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestPersistenced_stopFails(t *testing.T) {
	t.Parallel()

	h := &host{
		facts: hostDriver, answers: map[string]remote.Result{"systemctl is-active nvidia-persistenced": said("active\n")},
		errs: map[string]error{"systemctl stop nvidia-persistenced": remote.ErrLost},
	}

	if was, err := onssh.New(h).StopPersistenced(t.Context()); !was || !errors.Is(err, remote.ErrLost) {
		t.Errorf("%t, error %v: it may have been stopped", was, err)
	}

	stop := "persistenced-stop /run/nvidia/driver"
	h = &host{
		facts: containerDriver, answers: map[string]remote.Result{"persistenced-runs /run/nvidia/driver": said("running\n")},
		errs: map[string]error{stop: remote.ErrLost},
	}

	if was, err := onssh.New(h).StopPersistenced(t.Context()); !was || !errors.Is(err, remote.ErrLost) {
		t.Errorf("in a container: %t, error %v: it may have been stopped", was, err)
	}

	h = &host{facts: containerDriver, answers: map[string]remote.Result{"persistenced-runs /run/nvidia/driver": said("none\n"), stop: said("stopped\n")}}
	if was, err := onssh.New(h).StopPersistenced(t.Context()); was || err != nil || len(h.lines) != 1 {
		t.Errorf("in a container: %t, error %v, ran %q: it does not run", was, err, h.lines)
	}

	none := &host{facts: hostDriver} // no systemd: 127

	if was, err := onssh.New(none).StopPersistenced(t.Context()); was || err != nil {
		t.Errorf("%t, error %v", was, err)
	}
}

func TestPersistenceAndDraining(t *testing.T) {
	t.Parallel()

	pm, drain := "nvidia-smi -i "+uuid1+" --query-gpu=persistence_mode --format=csv,noheader,nounits", "nvidia-smi drain -p 0000:1F:00.0 -q"

	for out, want := range map[string]bool{"Enabled\n": true, "Disabled\n": false, "[N/A]\n": false, "No devices were found\n": false} {
		ops := onssh.New(&host{facts: hostDriver, answers: map[string]remote.Result{
			pm: said(out), drain: said("Drain State: " + map[bool]string{true: "Draining", false: "Not Draining"}[want]),
		}})

		on, err := ops.Persistence(t.Context(), gpu1)
		drains, err2 := ops.Draining(t.Context(), gpu1)

		if err := errors.Join(err, err2); err != nil || on != want || drains != want {
			t.Errorf("%q: %t, %t, error %v", out, on, drains, err)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()

	for kind, want := range map[error]struct {
		kind error
		word string
	}{
		remote.ErrUnreachable:      {gpu.ErrUnreachable, "connection refused"},
		remote.ErrLost:             {remote.ErrLost, "counts as alive"},
		remote.ErrBastion:          {remote.ErrBastion, "bastion"},
		remote.ErrHandshake:        {remote.ErrHandshake, "sshd"},
		remote.ErrRefused:          {remote.ErrRefused, "ForceCommand"},
		remote.ErrHostKey:          {remote.ErrHostKey, "host_key"},
		remote.ErrAuth:             {remote.ErrAuth, "key"},
		remote.ErrSudo:             {remote.ErrSudo, "without a password"},
		remote.ErrTimeout:          {remote.ErrTimeout, "dmesg"},
		remote.ErrTooLong:          {gpu.ErrCommand, "output too long"},
		context.Canceled:           {context.Canceled, "root@node-0:22"},
		fmt.Errorf("ssh: strange"): {nil, "strange"},
	} {
		cause := fmt.Errorf("%w: connection refused", kind)
		h := &host{facts: hostDriver, errs: map[string]error{visibleQuery: cause, "gpu-pci": cause}}
		ops := onssh.New(h)

		_, err := ops.Visible(t.Context())
		_, err2 := ops.PCI(t.Context())

		for _, err := range []error{err, err2} {
			if err == nil || !errors.Is(err, kind) || !strings.Contains(err.Error(), want.word) || (want.kind != nil && !errors.Is(err, want.kind)) {
				t.Errorf("%v: error %v", kind, err)
			}

			if errors.Is(err, gpu.ErrUnreachable) != errors.Is(want.kind, gpu.ErrUnreachable) {
				t.Errorf("%v: error %v", kind, err)
			}
		}
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()

	const (
		drainR = "nvidia-smi drain -p 0000:1F:00.0 -r"
		sysfs  = "sysfs-remove 0000:1f:00.0"
		ask    = "sysfs-removing 0000:1f:00.0"
		held   = "gpu-holders /dev/nvidia3 3"
		lsmod  = "Module Size Used by\nnvidia_drm 1 0\nnvidia_modeset 1 1 nvidia_drm\nnvidia_uvm 1 0\nnvidia 1 2\n"
	)

	unload := []string{held, "lsmod", "rmmod nvidia_drm", "rmmod nvidia_modeset", "rmmod nvidia_uvm"}
	reload := []string{"modprobe nvidia_uvm", "modprobe nvidia_modeset", "modprobe nvidia_drm"}
	through := func(more ...string) []string { return append(slices.Clone(unload), more...) }

	cases := map[string]struct {
		facts   string
		how     gpu.Removal
		left    string // modules that stay unloaded
		answers map[string]remote.Result
		errs    map[string]error
		want    []string
		fails   error
		says    string
	}{
		"the driver's way": {facts: hostDriver, want: []string{drainR}},
		"the last GPU":     {facts: hostDriver, how: gpu.Removal{Last: true}, want: through(sysfs), left: "nvidia_drm nvidia_modeset nvidia_uvm"},
		"a virtual machine": {
			facts: hostDriver + "hypervisor\n", want: append(through(sysfs), reload...),
		},
		"the driver's way fails": {
			facts: hostDriver, answers: map[string]remote.Result{drainR: failed("Unable to remove")},
			want: append(append([]string{drainR}, through(sysfs)...), reload...),
		},
		"both ways fail": {
			facts: hostDriver, answers: map[string]remote.Result{drainR: failed("Unable to remove"), sysfs: failed("cannot be written")},
			want: append(append([]string{drainR}, through(sysfs, ask)...), reload...), fails: gpu.ErrCommand, says: "Unable to remove",
		},
		"the driver's way is lost": {
			facts: hostDriver, errs: map[string]error{drainR: remote.ErrLost}, want: []string{drainR}, fails: remote.ErrLost,
		},
		"no driver": {
			facts: "smi host\n", answers: map[string]remote.Result{"lsmod": said("Module Size Used by\n")}, want: []string{held, "lsmod", sysfs},
		},
		"no driver has it": {facts: hostDriver, how: gpu.Removal{Last: true, Bare: true}, want: []string{sysfs}},
		"the last GPU, and somebody holds it": {
			facts: hostDriver, how: gpu.Removal{Last: true}, answers: map[string]remote.Result{held: said("4711 python3\n")},
			want: []string{held}, fails: gpu.ErrInUse, says: "4711 python3",
		},
		"the driver does not let go, and somebody holds it": {
			facts: hostDriver, answers: map[string]remote.Result{held: said("4711 python3\n"), drainR: failed("In use by another client")},
			want: []string{drainR, held}, fails: gpu.ErrInUse, says: "In use by another client",
		},
		"nobody knows who holds it": {
			facts: hostDriver, how: gpu.Removal{Last: true}, answers: map[string]remote.Result{held: failed("only root sees")},
			want: []string{held}, fails: gpu.ErrCommand, says: "only root sees",
		},
		"nobody hears that the kernel removes it": {
			facts: hostDriver, how: gpu.Removal{Last: true}, errs: map[string]error{sysfs: remote.ErrTimeout},
			answers: map[string]remote.Result{ask: said("gone\n")}, want: through(sysfs, ask), left: "nvidia_drm nvidia_modeset nvidia_uvm",
		},
		"nobody hears that the kernel is at it": {
			facts: hostDriver, how: gpu.Removal{Last: true}, errs: map[string]error{sysfs: remote.ErrTimeout},
			answers: map[string]remote.Result{ask: said("running\n")}, want: through(sysfs, ask), fails: gpu.ErrPending, left: "nvidia_drm nvidia_modeset nvidia_uvm",
		},
		"nobody hears that nothing was done": {
			facts: hostDriver, how: gpu.Removal{Last: true}, errs: map[string]error{sysfs: remote.ErrTimeout},
			answers: map[string]remote.Result{ask: said("idle\n")}, want: append(through(sysfs, ask), reload...), fails: remote.ErrTimeout,
		},
		"the last GPU, and a part is busy": {
			facts: hostDriver, how: gpu.Removal{Last: true}, answers: map[string]remote.Result{"rmmod nvidia_uvm": failed("rmmod: ERROR: Module nvidia_uvm is in use")},
			want: through("modprobe nvidia_modeset", "modprobe nvidia_drm"), fails: gpu.ErrInUse, says: "nvidia_uvm is in use",
		},
		"others work, and keep a part busy": {
			facts: hostDriver + "hypervisor\n", answers: map[string]remote.Result{"rmmod nvidia_uvm": failed("in use")},
			want: through(sysfs, "modprobe nvidia_modeset", "modprobe nvidia_drm"),
		},
		"the connection is lost while unloading": {
			facts: hostDriver, how: gpu.Removal{Last: true}, errs: map[string]error{"rmmod nvidia_modeset": remote.ErrLost},
			want: []string{held, "lsmod", "rmmod nvidia_drm", "rmmod nvidia_modeset", "modprobe nvidia_modeset", "modprobe nvidia_drm"}, fails: remote.ErrLost,
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := &host{facts: c.facts, answers: c.answers, errs: c.errs, dynamic: func(line string) (remote.Result, bool) {
				return map[string]remote.Result{"lsmod": said(lsmod), sysfs: said("gone\n"), ask: said("idle\n")}[line], line != "gpu-driver"
			}}

			left, err := onssh.New(h).Remove(t.Context(), gpu1, c.how)
			if got := strings.Join(left, " "); got != c.left {
				t.Errorf("unloaded stays %q", got)
			}

			if !errors.Is(err, c.fails) || (c.says != "" && !strings.Contains(fmt.Sprint(err), c.says)) {
				t.Errorf("error %v", err)
			}

			if !slices.Equal(h.lines, c.want) {
				t.Errorf("ran\n%s\nwant\n%s", strings.Join(h.lines, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestRemove_blocks(t *testing.T) {
	t.Parallel()

	for name, ends := range map[string]time.Duration{"for a while": 20 * time.Second, "for ever": time.Hour, "until it is interrupted": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), map[bool]time.Duration{true: 5 * time.Second, false: time.Hour}[ends > time.Hour])
				defer cancel()

				start := time.Now()
				h := &host{facts: hostDriver, answers: map[string]remote.Result{"lsmod": said(""), "gpu-holders /dev/nvidia3 3": said("")}, dynamic: func(line string) (remote.Result, bool) {
					if time.Since(start) < ends {
						return said("running\n"), strings.HasPrefix(line, "sysfs-remov")
					}

					return said("gone\n"), strings.HasPrefix(line, "sysfs-remov")
				}}

				_, err := onssh.New(h).Remove(ctx, gpu1, gpu.Removal{Last: true})
				if took := time.Since(start); took > 61*time.Second || (err == nil) != (ends < time.Minute) {
					t.Errorf("after %s: %v", took, err)
				}

				if err != nil && (!errors.Is(err, gpu.ErrPending) || !strings.Contains(err.Error(), "somebody still uses it")) {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}

func TestHolders_minorNotKnown(t *testing.T) {
	t.Parallel()

	if got, err := onssh.New(&host{facts: hostDriver}).Holders(t.Context(), gpu.GPU{UUID: uuid1, Minor: -1}); !errors.Is(err, gpu.ErrCommand) {
		t.Errorf("%v, error %v: it may be held", got, err)
	}
}
