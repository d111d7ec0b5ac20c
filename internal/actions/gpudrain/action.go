// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpudrain is the action metal3_gpu_drain: takes one GPU of a host out of use, or
// gives it back, without detaching it from the host.
package gpudrain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value/connectionvalue"
)

var _ action.ActionWithConfigure = (*drainAction)(nil)

// defaultTimeout bounds the action where the configuration says nothing.
const defaultTimeout = 5 * time.Minute

// services is the part of the provider that this action needs.
type services interface {
	Nodes(ctx context.Context) (*remote.Pool, remote.Config, error)
}

type drainAction struct{ services services }

// NewAction returns the action.
func NewAction() action.Action { return &drainAction{} }

// Metadata names the action.
func (a *drainAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_gpu_drain"
}

// Configure takes over what the provider offers.
func (a *drainAction) Configure(_ context.Context, req action.ConfigureRequest, resp *action.ConfigureResponse) {
	value.Offered("The action metal3_gpu_drain", req.ProviderData, &a.services, &resp.Diagnostics)
}

// Invoke drains one GPU, removes it, or gives it back.
func (a *drainAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	var m model

	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)

	if resp.Diagnostics.HasError() {
		return
	}

	host := a.host(ctx, m, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}

	ctx, cancel := context.WithTimeoutCause(ctx, m.limit(), fmt.Errorf("the action's timeout of %s is over", m.limit()))
	defer cancel()

	ops := narrated{Ops: onssh.New(host), say: func(format string, args ...any) {
		resp.SendProgress(action.InvokeProgressEvent{Message: fmt.Sprintf(format, args...)})
	}}

	err := m.do(ctx, ops)

	for _, warning := range ops.Warnings() {
		resp.Diagnostics.AddWarning("GPU of "+ops.Name(), value.Sentence(errors.New(warning)))
	}

	if err != nil {
		resp.Diagnostics.Append(m.failure(err))
	}
}

// host is the host that the configuration names.
func (a *drainAction) host(ctx context.Context, m model, diags *diag.Diagnostics) remote.Host {
	if a.services == nil {
		diags.AddError("Host of the GPU cannot be reached", "The provider is not configured.")

		return nil
	}

	pool, defaults, err := a.services.Nodes(ctx)
	if err != nil {
		diags.AddError("Host of the GPU cannot be reached", value.Sentence(err))

		return nil
	}

	node, more := connectionvalue.Decode(ctx, m.Node)
	diags.Append(more...)

	cfg, more := connectionvalue.Config(ctx, node, defaults)
	diags.Append(more...)

	if diags.HasError() {
		return nil
	}

	host, err := pool.Host(cfg)
	if err != nil {
		diags.AddError("Host of the GPU cannot be reached", value.Sentence(err))
	}

	return host
}

// do does what the configuration asks for.
func (m model) do(ctx context.Context, ops narrated) error {
	ops.say("Looking for GPU %s on %s", m.label(), ops.Name())

	target, options := gpu.Target{ID: m.DeviceID.ValueString(), BusID: m.PCIBusID.ValueString()}, gpu.Options{Force: m.Force.ValueBool()}

	switch {
	case m.Undrain.ValueBool():
		r, err := gpu.Undrain(ctx, ops, target)

		return m.done(ops, r, err, "takes processes again")
	case m.Remove.ValueBool():
		r, err := gpu.Release(ctx, ops, target, options)
		if err == nil && !r.Absent {
			err = gpu.Finish(ctx, ops, r)
		}

		return m.done(ops, r, err, "is out of the kernel until its PCI bus is scanned again")
	default:
		r, err := gpu.Drain(ctx, ops, target, options)

		return m.done(ops, r, err, "takes no new processes, and nobody uses it")
	}
}

// errAbsent says that the host does not have the GPU: somebody named it who thinks it does.
var errAbsent = errors.New("the host has no such GPU, in its NVIDIA driver or on its PCI bus")

func (m model) done(ops narrated, r gpu.Released, err error, state string) error {
	switch {
	case err != nil:
		return err
	case r.Absent:
		return errAbsent
	case r.Foreign != "" && !m.Remove.ValueBool():
		state = "is bound to the driver " + r.Foreign + ", which NVIDIA's tools cannot drain: there was nothing to do"
	case r.Bare && !m.Remove.ValueBool():
		state = "has no driver, so that nobody can use it: there was nothing to do"
	case m.Force.ValueBool() && !m.Remove.ValueBool() && !m.Undrain.ValueBool():
		state = "takes no new processes; those that use it go on"
	}

	ops.say("GPU %s at %s of %s %s", r.GPU.Label(), r.GPU.BusID, ops.Name(), state)

	return nil
}

// failure turns an error into words for people.
func (m model) failure(err error) diag.Diagnostic {
	summary := "GPU " + m.label() + " could not be drained"

	switch {
	case m.Undrain.ValueBool():
		summary = "GPU " + m.label() + " could not be given back"
	case m.Remove.ValueBool():
		summary = "GPU " + m.label() + " could not be removed"
	}

	if errors.Is(err, gpu.ErrInUse) {
		summary = "GPU " + m.label() + " is in use"
	}

	return diag.NewErrorDiagnostic(summary, value.Sentence(err)+m.advice(err))
}

// advice is what follows the words of a failure.
func (m model) advice(err error) string {
	switch {
	case errors.Is(err, gpu.ErrNotUndone):
		return " Put right by hand what is said to be left, then try again."
	case errors.Is(err, gpu.ErrPending):
		return " This cannot be taken back: the host is as the removal left it."
	case errors.Is(err, gpu.ErrInUse) && m.Force.ValueBool():
		return " What was changed was put back. The driver does not let go of it while it is in use: end the work."
	case errors.Is(err, gpu.ErrInUse):
		return " What was changed was put back. End the work, or set force = true."
	default:
		return ""
	}
}
