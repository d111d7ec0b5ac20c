// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package gpu is what happens on a host's operating system when a GPU comes or goes: see
// it, take it out of use, remove it from the kernel, give it back.
//
// [Ops] are the single operations; onssh is the one way to do them that exists today. What
// follows what, and what is undone when a step fails, is decided here, once (see [Release]).
package gpu

import (
	"context"
	"errors"
)

// Driver is where the NVIDIA driver lives.
type Driver string

// The places of the driver.
const (
	DriverHost      Driver = "host"
	DriverContainer Driver = "container" // in the driver container's root
	DriverNone      Driver = "none"
)

// The kinds of failure that a caller can tell apart with errors.Is.
var (
	ErrInUse       = errors.New("the GPU is in use")
	ErrInDoubt     = errors.New("the GPU cannot be told from the others of the host")
	ErrPending     = errors.New("the kernel removes the GPU once nobody uses it any more")
	ErrNotUndone   = errors.New("not everything could be put back")
	ErrUnreachable = errors.New("the host cannot be reached")
	ErrPoweredOff  = errors.New("the host is powered off")
	ErrNoDriver    = errors.New("the host has no NVIDIA driver")
	ErrCommand     = errors.New("the command failed on the host") // the host was reached and says no, or nothing that can be read
)

// GPU is a GPU as the host shows it.
type GPU struct {
	UUID  string // "GPU-…"; empty while the driver has not initialised the card
	BusID string // normalised: 0000:1f:00.0; see [NormalBusID]
	Minor int    // of /dev/nvidia<minor>; -1: not known
}

// App is a process that computes on a GPU.
type App struct {
	UUID string // of the GPU
	Name string // of the process
}

// Process is a process that holds a device file.
type Process struct {
	PID  int
	Comm string
}

// Removal is how a GPU is taken from the kernel.
type Removal struct {
	Last bool // no other GPU is in NVIDIA's driver
	Bare bool // nor is this one: its driver is another, or none
}

// Ops are the single operations on one host. Each is bounded by its context. An error that
// says that the host was not reached is ErrUnreachable.
type Ops interface {
	// Name is how people know the host.
	Name() string
	// Driver tells where the driver is.
	Driver(ctx context.Context) (Driver, error)
	// Visible lists the GPUs that nvidia-smi shows. One that drains is not among them.
	Visible(ctx context.Context) ([]GPU, error)
	// Present lists the GPUs that the kernel driver has, draining ones included.
	Present(ctx context.Context) ([]GPU, error)
	// PCI lists the bus ids of NVIDIA's display devices on the PCI bus, driver or not.
	PCI(ctx context.Context) ([]string, error)
	// Foreign tells the kernel driver that has the device at a GPU's address, such as vfio-pci
	// or nouveau; empty where that is NVIDIA's, or none.
	Foreign(ctx context.Context, g GPU) (string, error)
	// Apps lists the processes that compute on any GPU of the host.
	Apps(ctx context.Context) ([]App, error)
	// Holders lists the processes that hold the GPU's device file, those of containers included.
	Holders(ctx context.Context, g GPU) ([]Process, error)
	// Draining tells whether the GPU takes no new processes.
	Draining(ctx context.Context, g GPU) (bool, error)
	// SetDrain makes the GPU take no new processes, or take them again.
	SetDrain(ctx context.Context, g GPU, on bool) error
	// Persistence tells whether persistence mode of the GPU is on. A GPU that is not there has it off.
	Persistence(ctx context.Context, g GPU) (bool, error)
	// SetPersistence turns persistence mode of the GPU on or off. A GPU that is not there is no error.
	SetPersistence(ctx context.Context, g GPU, on bool) error
	// StopPersistenced stops nvidia-persistenced; true if it was running.
	StopPersistenced(ctx context.Context) (bool, error)
	// StartPersistenced starts it again.
	StartPersistenced(ctx context.Context) error
	// Remove takes the GPU from the kernel: with the driver's own way, else through sysfs
	// with the modules unloaded. It returns those that stay so: no GPU is left for them. What
	// somebody holds is ErrInUse, and the kernel is not asked; a removal which the kernel took
	// and does not end is ErrPending.
	Remove(ctx context.Context, g GPU, how Removal) (unloaded []string, err error)
	// Load loads modules, the last first: what Remove returned.
	Load(ctx context.Context, modules []string) error
	// RemoveDeviceFile removes /dev/nvidia<minor>, unless a GPU has that minor.
	RemoveDeviceFile(ctx context.Context, g GPU) error
	// Rescan makes the kernel look for new devices on the PCI bus.
	Rescan(ctx context.Context) error
	// Init loads the driver's module where the host has one, and makes it initialise new GPUs.
	Init(ctx context.Context) error
	// Warnings are what Driver or Remove noticed and a person should know, since the last call.
	Warnings() []string
}
