// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabric

import "context"

// Fabric is one fabric manager.
//
// No method waits for a state: each sends the requests of one question or one order and
// returns. Requests that change something are sent once and never repeated by a driver, with
// one exception: an answer 401 means that nothing was done, so it is repeated once with a new token.
// Errors are [*Error] with one of the Err… kinds; those that may pass are marked with wait.Transient.
type Fabric interface {
	// Endpoint names the far side; it is recorded with each resource. Where a manager answers
	// each tenant (and cluster) on its own, the fragment says which: with another one "no such
	// machine" means nothing. [Address] is the part that requests go to.
	Endpoint() string
	// Machine reads one machine with its devices, in as few requests as the API allows.
	// ErrNotFound is returned only when the manager itself says that it has no such machine.
	Machine(ctx context.Context, id string) (Machine, error)
	// Machines reads all machines. A machine that cannot be read makes the list an error.
	Machines(ctx context.Context) ([]Machine, error)
	// Free tells how many devices of a type and model the machine could get.
	Free(ctx context.Context, machine, typ, model string) (FreeInfo, error)
	// Attach orders one device for a machine. It never says that a device is there.
	Attach(ctx context.Context, machine string, want Want) (Hint, error)
	// Detach orders one device away from a machine. It never says that the device is gone.
	Detach(ctx context.Context, machine string, dev Device) (Hint, error)
	// LockKey names what must not be changed twice at a time: the machine, or the whole
	// manager where it works on one change at a time.
	LockKey(machine string) string
	// Caps tells what the manager can do.
	Caps() Caps
}

// Tasks is what a fabric offers whose orders are jobs with a name.
type Tasks interface {
	// Task asks how a job stands. A job that the manager does not know (any more) is no error:
	// it comes back as a [Task] without an ID.
	Task(ctx context.Context, id string) (Task, error)
}

// Closer is what a fabric offers that holds something at its manager, such as a session.
type Closer interface {
	// Close gives it back, as well as it can: what is not given back ends by itself some time.
	// The fabric may be used again afterwards, and is then as it was at first.
	Close(ctx context.Context) error
}

// Caps is what a manager can do.
type Caps struct {
	PicksDevice   bool     // an order names the device: choose one of Free.Devices
	Async         bool     // an answer comes before the work is done
	OneAtATime    bool     // it refuses an order while any other is carried out
	ReportsSerial bool     // a device says under which id the operating system shows it
	ReportsHealth bool     // every device says how it is: one that does not (yet) is waited for
	Types         []string // device types that it knows: "gpu", "cxlmemory"
}

// Want is the device that an order asks for.
type Want struct {
	Type   string
	Model  string
	Device Device // the chosen one, where Caps.PicksDevice
	// Count is how many devices of this type and model are to be there afterwards; for
	// managers that take a target instead of an order (CM).
	Count int
}

// Hint is what the answer to an order says. It may be wrong, old or empty.
type Hint struct {
	Devices []Device // that the answer names
	Task    string   // name of the job, where orders are jobs (see [Tasks])
}

// TaskState is where a job is.
type TaskState int

// The states of a job.
const (
	TaskRunning   TaskState = iota // also of a job that the manager no longer knows: see [Task]
	TaskDone                       // says nothing of the devices: look
	TaskFailed                     // the manager gave up
	TaskSuspended                  // the manager waits for a person
)

// Task is a job of the manager.
type Task struct {
	ID    string // empty: the manager no longer knows the job, so nobody should wait for it; State says nothing
	State TaskState
	Text  string // the manager's words
}

// FreeInfo is what a pool still has.
type FreeInfo struct {
	Known    bool     // false: the manager does not tell
	Count    int      // how many are free for this machine
	FabricID string   // of the pool: counts of machines in one pool are the same devices
	Devices  []Device // the free ones, where the manager lists them, in a stable order

	// Of the machine's specification, where the manager has such (CM); HasLimits says so.
	HasLimits         bool
	Min, Max, Current int
	// Models are what the machine could get of this type, where the manager lists them.
	Models []string
}
