// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"fmt"
	"slices"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const bucket = "nodes"

// Where a machine has its driver.
const (
	DriverHost      = "" // with the host's own tools
	DriverContainer = "container"
	DriverNone      = "none"
)

// State is what the lab remembers of the operating system of a machine: bucket "nodes".
type State struct {
	// What kind of host it is.
	Driver       string `json:"driver,omitempty"`
	VM           bool   `json:"vm,omitempty"`
	Modeset      bool   `json:"modeset,omitempty"`      // nvidia_drm runs with modeset=Y
	Persistenced bool   `json:"persistenced,omitempty"` // nvidia-persistenced is enabled
	Running      bool   `json:"running,omitempty"`      // and runs

	// How new devices show up.
	Hotplug     time.Duration `json:"hotplug,omitempty"`      // so long after the fabric brought them
	NeedsRescan bool          `json:"needs_rescan,omitempty"` // not before a rescan of the bus
	Never       bool          `json:"never,omitempty"`        // not at all
	LazyUUID    bool          `json:"lazy_uuid,omitempty"`    // with question marks until nvidia-smi ran

	// Who uses them, by the device's serial.
	Processes map[string][]Process `json:"processes,omitempty"`

	// What goes wrong.
	FailDrain    bool              `json:"fail_drain,omitempty"`    // nvidia-smi drain -m 1
	FailRemove   bool              `json:"fail_remove,omitempty"`   // nvidia-smi drain -r
	RemoveBlocks bool              `json:"remove_blocks,omitempty"` // the kernel's removal does not end
	CXLInUse     bool              `json:"cxl_in_use,omitempty"`    // memory that cannot be taken offline
	HostKeys     int               `json:"host_keys,omitempty"`     // how often the host was installed anew
	RefuseLogin  bool              `json:"refuse_login,omitempty"`
	Unreachable  bool              `json:"unreachable,omitempty"` // nobody listens
	Hang         string            `json:"hang,omitempty"`        // commands that begin so never end
	Answers      map[string]Answer `json:"answers,omitempty"`     // of commands that begin so, instead of their own

	// What the kernel made of it.
	GPUs     map[string]GPU  `json:"gpus,omitempty"`     // by device
	CXL      map[string]CXL  `json:"cxl,omitempty"`      // by device
	Unloaded []string        `json:"unloaded,omitempty"` // modules
	Files    map[string]File `json:"files,omitempty"`
	Boots    int             `json:"boots,omitempty"` // of the machine, when this was true

	// What happened: the commands without their wrapper, and the devices that the fabric took
	// while the kernel still used them.
	Commands  []string `json:"commands,omitempty"`
	Surprises []string `json:"surprises,omitempty"`
}

// Process is a process that uses a GPU.
type Process struct {
	PID     int    `json:"pid"`
	Name    string `json:"name"`              // a path; the kernel shows its first 15 letters
	Idle    bool   `json:"idle,omitempty"`    // it holds the device file and computes nothing
	OtherFS bool   `json:"otherfs,omitempty"` // in a container, with a device file of its own
}

// Answer is what a command leaves instead of what it would.
type Answer struct {
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Exit   int    `json:"exit,omitempty"`
}

// GPU is what the kernel made of a GPU.
type GPU struct {
	Since       time.Time `json:"since"` // when the fabric brought it
	Minor       int       `json:"minor"`
	Seen        bool      `json:"seen,omitempty"`    // a rescan found it
	Removed     bool      `json:"removed,omitempty"` // the kernel was told to forget it
	Blocked     bool      `json:"blocked,omitempty"` // and is about to
	Draining    bool      `json:"draining,omitempty"`
	Persistence bool      `json:"persistence,omitempty"`
	Initialised bool      `json:"initialised,omitempty"`
	File        bool      `json:"file,omitempty"`    // /dev/nvidia<minor>
	Foreign     string    `json:"foreign,omitempty"` // the kernel driver that has it instead of NVIDIA's
}

// CXL is what the kernel made of CXL memory: system memory in a region, unless it was told else.
type CXL struct {
	Since    time.Time `json:"since"`
	Number   int       `json:"number"` // of mem0, region0, dax0.0
	Seen     bool      `json:"seen,omitempty"`
	Disabled bool      `json:"disabled,omitempty"`  // cxl disable-memdev
	NoRegion bool      `json:"no_region,omitempty"` // cxl destroy-region
	Idle     bool      `json:"idle,omitempty"`      // cxl disable-region
	NoDax    bool      `json:"no_dax,omitempty"`    // daxctl disable-device
	Offline  bool      `json:"offline,omitempty"`   // daxctl offline-memory
}

// File is a file that somebody wrote.
type File struct {
	Data  []byte `json:"data"`
	Owner string `json:"owner,omitempty"`
	Mode  string `json:"mode,omitempty"`
}

// Load returns the state of a machine; one that was never touched has none of anything.
func Load(tx store.Tx, name string) (State, error) {
	var s State

	_, err := tx.Get(bucket, name, &s)

	return s, err
}

// Change changes the state of a machine.
func Change(tx store.Tx, name string, f func(*State)) error {
	s, err := Load(tx, name)
	if err != nil {
		return err
	}

	f(&s)

	return tx.Put(bucket, name, s)
}

// maxCommands bounds what every load of a state has to decode.
const maxCommands = 200

func (s *State) note(command string) {
	s.Commands = append(s.Commands, command)
	if n := len(s.Commands) - maxCommands; n > 0 {
		s.Commands = slices.Clone(s.Commands[n:])
	}
}

func (s *State) surprise(format string, args ...any) {
	s.Surprises = append(s.Surprises, fmt.Sprintf(format, args...))
}

// Use makes processes use a device; none: nobody does.
func (s *State) Use(serial string, all ...Process) {
	if s.Processes == nil {
		s.Processes = map[string][]Process{}
	}

	s.Processes[serial] = all
}
