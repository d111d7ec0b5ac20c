// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh

import (
	"context"
	"errors"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
)

const csvFormat = "--format=csv,noheader,nounits"

// query asks nvidia-smi; "no devices" is an answer whatever the exit status.
func (o *ops) query(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"nvidia-smi"}, args...)

	res, err := o.tool(ctx, args...)
	if err != nil {
		return "", err
	}

	out := string(res.Stdout)
	if res.Exit != 0 && !isNone(out) {
		return "", o.failed(strings.Join(args, " "), res)
	}

	return out, nil
}

// Visible implements [gpu.Ops].
func (o *ops) Visible(ctx context.Context) ([]gpu.GPU, error) {
	out, err := o.query(ctx, "--query-gpu=gpu_uuid,pci.bus_id", csvFormat)
	if err != nil {
		return nil, err
	}

	return parseVisible(out)
}

// Apps implements [gpu.Ops].
func (o *ops) Apps(ctx context.Context) ([]gpu.App, error) {
	out, err := o.query(ctx, "--query-compute-apps=gpu_uuid,process_name", csvFormat)
	if err != nil {
		return nil, err
	}

	return parseApps(out)
}

// index names a GPU for nvidia-smi -i.
func index(g gpu.GPU) string {
	if g.UUID != "" {
		return g.UUID
	}

	return gpu.DriverBusID(g.BusID)
}

// Persistence implements [gpu.Ops].
func (o *ops) Persistence(ctx context.Context, g gpu.GPU) (bool, error) {
	out, err := o.query(ctx, "-i", index(g), "--query-gpu=persistence_mode", csvFormat)
	if err != nil {
		return false, err
	}

	return strings.EqualFold(value(out), "enabled"), nil
}

// SetPersistence implements [gpu.Ops].
func (o *ops) SetPersistence(ctx context.Context, g gpu.GPU, on bool) error {
	_, err := o.query(ctx, "-i", index(g), "-pm", digit(on))

	return err
}

func digit(on bool) string {
	if on {
		return "1"
	}

	return "0"
}

// Draining implements [gpu.Ops].
func (o *ops) Draining(ctx context.Context, g gpu.GPU) (bool, error) {
	res, err := o.do(ctx, "nvidia-smi", "drain", "-p", gpu.DriverBusID(g.BusID), "-q")
	if err != nil {
		return false, err
	}

	return parseDrain(string(res.Stdout))
}

// SetDrain implements [gpu.Ops].
func (o *ops) SetDrain(ctx context.Context, g gpu.GPU, on bool) error {
	_, err := o.do(ctx, "nvidia-smi", "drain", "-p", gpu.DriverBusID(g.BusID), "-m", digit(on))

	return err
}

// Init implements [gpu.Ops]. Nothing but the listing itself shows whether it worked.
func (o *ops) Init(ctx context.Context) error {
	f, err := o.known(ctx)
	if err != nil {
		return err
	}

	if f.driver() == gpu.DriverHost {
		if _, err := o.do(ctx, "modprobe", "nvidia"); err != nil {
			return err
		}
	}

	_, err = o.query(ctx, "-L")

	return err
}

const persistencedUnit = "nvidia-persistenced"

// StopPersistenced implements [gpu.Ops]. It is true with an error where the service ran and
// may have been stopped.
func (o *ops) StopPersistenced(ctx context.Context) (bool, error) {
	f, err := o.known(ctx)
	if err != nil {
		return false, err
	}

	if f.driver() == gpu.DriverContainer {
		out, err := o.script(ctx, scriptRuns, containerRoot)
		if err != nil || strings.TrimSpace(out) != "running" {
			return false, err
		}

		_, err = o.script(ctx, scriptPersistenced, containerRoot)

		return true, err
	}

	res, err := o.run(ctx, "systemctl", "is-active", persistencedUnit)

	switch {
	case errors.Is(err, hostcmd.ErrNoCommand):
		return false, nil // no systemd, no service; a process of it is found as a holder
	case err != nil:
		return false, err
	case res.Exit != 0:
		return false, nil
	}

	res, err = o.run(ctx, "systemctl", "stop", persistencedUnit)
	if err == nil && res.Exit != 0 {
		err = o.failed("systemctl stop "+persistencedUnit, res)
	}

	return true, err
}

// StartPersistenced implements [gpu.Ops].
func (o *ops) StartPersistenced(ctx context.Context) error {
	f, err := o.known(ctx)
	if err != nil {
		return err
	}

	if f.driver() == gpu.DriverContainer {
		_, err = o.do(ctx, persistencedUnit, "--persistence-mode")

		return err
	}

	res, err := o.run(ctx, "systemctl", "start", persistencedUnit)
	if err == nil && res.Exit != 0 {
		err = o.failed("systemctl start "+persistencedUnit, res)
	}

	return err
}
