// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// removeLimit bounds the wait for the kernel to remove a device through sysfs, lookLimit the
// question how a removal stands that ended in another way.
const (
	removeLimit = 60 * time.Second
	lookLimit   = 20 * time.Second
)

// modules are unloaded before the last GPU goes, in this order: the later ones are used by
// the earlier ones.
var modules = []string{"nvidia_drm", "nvidia_modeset", "nvidia_uvm"}

// Present implements [gpu.Ops].
func (o *ops) Present(ctx context.Context) ([]gpu.GPU, error) {
	out, err := o.script(ctx, scriptPresent)
	if err != nil {
		return nil, err
	}

	return parsePresent(out), nil
}

// PCI implements [gpu.Ops].
func (o *ops) PCI(ctx context.Context) ([]string, error) {
	out, err := o.script(ctx, scriptPCI)
	if err != nil {
		return nil, err
	}

	return parsePCI(out), nil
}

// Holders implements [gpu.Ops].
func (o *ops) Holders(ctx context.Context, g gpu.GPU) ([]gpu.Process, error) {
	if g.Minor < 0 {
		return nil, fmt.Errorf("%w: the device number of GPU %s is not known", gpu.ErrCommand, g.Label())
	}

	minor := strconv.Itoa(g.Minor)

	out, err := o.script(ctx, scriptHolders, "/dev/nvidia"+minor, minor)
	if err != nil {
		return nil, err
	}

	return parseHolders(out)
}

// Rescan implements [gpu.Ops].
func (o *ops) Rescan(ctx context.Context) error {
	_, err := o.script(ctx, hostcmd.Rescan)

	return err
}

// RemoveDeviceFile implements [gpu.Ops].
func (o *ops) RemoveDeviceFile(ctx context.Context, g gpu.GPU) error {
	if g.Minor < 0 {
		return nil
	}

	_, err := o.script(ctx, scriptDeviceFile, strconv.Itoa(g.Minor))

	return err
}

// Foreign implements [gpu.Ops].
func (o *ops) Foreign(ctx context.Context, g gpu.GPU) (string, error) {
	out, err := o.script(ctx, scriptPCI)
	if err != nil {
		return "", err
	}

	return parseForeign(out, g.BusID), nil
}

// Remove implements [gpu.Ops]. The driver's own way does not work in a virtual machine, nor
// for the last GPU, whose driver then keeps the module's other parts busy.
func (o *ops) Remove(ctx context.Context, g gpu.GPU, how gpu.Removal) ([]string, error) {
	if _, ok := gpu.NormalBusID(g.BusID); !ok {
		return nil, fmt.Errorf("%w: the PCI address of GPU %s is not known", gpu.ErrCommand, g.Label())
	}

	if how.Bare {
		return nil, o.writeRemove(ctx, g)
	}

	f, err := o.known(ctx)
	if err != nil {
		return nil, err
	}

	if f.driver() == gpu.DriverNone || f.hypervisor || how.Last {
		return o.removeThroughSysfs(ctx, g, how.Last)
	}

	_, err = o.do(ctx, "nvidia-smi", "drain", "-p", gpu.DriverBusID(g.BusID), "-r")
	if !errors.Is(err, gpu.ErrCommand) {
		return nil, err // nil as well
	}

	unloaded, again := o.removeThroughSysfs(ctx, g, how.Last)
	if again != nil {
		return nil, fmt.Errorf("%w; and before that %w", again, err)
	}

	return unloaded, nil
}

// removeThroughSysfs unloads what can hold the GPU and makes the kernel remove it. Unloaded
// is what stays so, because no GPU is left for it.
func (o *ops) removeThroughSysfs(ctx context.Context, g gpu.GPU, last bool) (unloaded []string, err error) {
	// The kernel would wait for them, and could not be told to let it be.
	holders, err := o.Holders(ctx, g)

	switch {
	case err != nil:
		return nil, err
	case len(holders) > 0:
		return nil, &gpu.InUseError{GPU: g, Host: o.Name(), Processes: holders}
	}

	unloaded, kept, err := o.unload(ctx)
	if err != nil {
		return nil, err
	}

	if len(kept) > 0 && last {
		o.reload(ctx, unloaded)

		return nil, fmt.Errorf("%w: %w", gpu.ErrInUse, kept[0])
	}

	err = o.writeRemove(ctx, g)

	// The parts serve the other GPUs too. Where none is left, the kernel may still be at work
	// on the one that goes.
	if !last || (err != nil && !errors.Is(err, gpu.ErrPending)) {
		o.reload(ctx, unloaded)

		unloaded = nil
	}

	if err != nil && len(kept) > 0 {
		err = fmt.Errorf("%w; and before that %w", err, kept[0])
	}

	return unloaded, err
}

// writeRemove makes the kernel remove the device at an address. What it began it ends: a
// removal that is under way when this must return is [gpu.ErrPending].
func (o *ops) writeRemove(ctx context.Context, g gpu.GPU) error {
	limited, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()

	err := wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		out, err := o.script(ctx, scriptRemove, g.BusID)

		switch said := strings.TrimSpace(out); {
		case err != nil:
			return wait.Again, "", err
		case said == "gone":
			return wait.Done, "", nil
		case said == "running":
			return wait.Again, "somebody still uses it", nil
		default:
			return wait.Again, "", fmt.Errorf("%w: the removal said %q", gpu.ErrCommand, hostcmd.Words([]byte(out)))
		}
	})
	if err == nil {
		return nil
	}

	switch o.removing(ctx, g) {
	case "gone":
		return nil
	case "running":
		return fmt.Errorf("%w, also after this (end what uses GPU %s, or restart the host): %w", gpu.ErrPending, g.Label(), err)
	default:
		return err
	}
}

// removing asks how a removal stands, also when the caller's time is over or its connection
// was lost; empty: nobody says.
func (o *ops) removing(ctx context.Context, g gpu.GPU) (said string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()

	err := wait.Retry(ctx, wait.Quick, func(ctx context.Context) error {
		out, err := o.script(ctx, scriptRemoving, g.BusID)
		said = strings.TrimSpace(out)

		return hostcmd.Passing(err, gpu.ErrUnreachable)
	})
	if err != nil {
		return ""
	}

	return said
}

// unload unloads the parts of the driver that can hold a GPU. Kept are the reasons of the
// ones that stay, in use by something.
func (o *ops) unload(ctx context.Context) (unloaded []string, kept []error, err error) {
	res, err := o.run(ctx, "lsmod")
	if err != nil {
		return nil, nil, err
	}

	if res.Exit != 0 {
		return nil, nil, o.failed("lsmod", res)
	}

	loaded := parseModules(string(res.Stdout))

	for _, m := range modules {
		if !loaded[m] {
			continue
		}

		// Not modprobe -r: that would take nvidia itself along, and all GPUs with it.
		res, err := o.run(ctx, "rmmod", m)

		switch {
		case err != nil:
			o.reload(ctx, append(unloaded, m)) // it may have worked

			return nil, nil, err
		case res.Exit != 0:
			kept = append(kept, o.failed("rmmod "+m, res))
		default:
			unloaded = append(unloaded, m)
		}
	}

	return unloaded, kept, nil
}

// Load implements [gpu.Ops].
func (o *ops) Load(ctx context.Context, modules []string) error {
	var failed []error

	for _, m := range slices.Backward(modules) {
		if _, err := o.do(ctx, "modprobe", m); err != nil {
			failed = append(failed, err)
		}
	}

	return errors.Join(failed...)
}

// reload loads again what was unloaded. It is a courtesy to the GPUs that stay, and a command
// of the driver loads them anyway: a failure is a warning.
func (o *ops) reload(ctx context.Context, unloaded []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()

	if err := o.Load(ctx, unloaded); err != nil {
		o.warn("modules were unloaded and could not be loaded again: %v", err)
	}
}
