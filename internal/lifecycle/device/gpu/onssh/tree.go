// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// removeLimit bounds the wait for the kernel to remove a device through sysfs.
const removeLimit = 60 * time.Second

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
	_, err := o.script(ctx, scriptRescan)

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

// Remove implements [gpu.Ops]. The driver's own way does not work in a virtual machine, nor
// for the last GPU, whose driver then keeps the module's other parts busy.
func (o *ops) Remove(ctx context.Context, g gpu.GPU, last bool) error {
	if _, ok := gpu.NormalBusID(g.BusID); !ok {
		return fmt.Errorf("%w: the PCI address of GPU %s is not known", gpu.ErrCommand, g.Label())
	}

	f, err := o.known(ctx)
	if err != nil {
		return err
	}

	if f.driver() == gpu.DriverNone || f.hypervisor || last {
		return o.removeThroughSysfs(ctx, g, last)
	}

	_, err = o.do(ctx, "nvidia-smi", "drain", "-p", gpu.DriverBusID(g.BusID), "-r")
	if !errors.Is(err, gpu.ErrCommand) {
		return err // nil as well
	}

	if again := o.removeThroughSysfs(ctx, g, last); again != nil {
		return fmt.Errorf("%w; and before that %w", again, err)
	}

	return nil
}

// removeThroughSysfs unloads what can hold the GPU and makes the kernel remove it.
func (o *ops) removeThroughSysfs(ctx context.Context, g gpu.GPU, last bool) error {
	unloaded, kept, err := o.unload(ctx)
	if err != nil {
		return err
	}

	if len(kept) > 0 && last {
		o.reload(ctx, unloaded)

		return fmt.Errorf("%w: %w", gpu.ErrInUse, kept[0])
	}

	limited, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()

	err = wait.Until(limited, wait.Quick, func(ctx context.Context) (wait.Verdict, string, error) {
		out, err := o.script(ctx, scriptRemove, g.BusID)

		switch said := strings.TrimSpace(out); {
		case err != nil:
			return wait.Again, "", err
		case said == "gone":
			return wait.Done, "", nil
		case said == "running":
			return wait.Again, "the kernel waits for the last user of the GPU, and removes it when that ends", nil
		default:
			return wait.Again, "", fmt.Errorf("%w: the removal said %q", gpu.ErrCommand, words([]byte(out)))
		}
	})

	// The parts serve the other GPUs too.
	if !last || err != nil {
		o.reload(ctx, unloaded)
	}

	if err != nil && len(kept) > 0 {
		err = fmt.Errorf("%w; and before that %w", err, kept[0])
	}

	return err
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

// reload loads again what was unloaded, the last first. It is a courtesy to the GPUs that
// stay, and a command of the driver loads them anyway: a failure is a warning.
func (o *ops) reload(ctx context.Context, unloaded []string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()

	for i := len(unloaded) - 1; i >= 0; i-- {
		if _, err := o.do(ctx, "modprobe", unloaded[i]); err != nil {
			o.warn("module %s was unloaded and could not be loaded again: %v", unloaded[i], err)
		}
	}
}
