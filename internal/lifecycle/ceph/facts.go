// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "time"

// Ask says what a look looks at beyond the cluster's own files and processes.
type Ask struct {
	Preflight bool     // programs, clock, room, ports, leftovers
	Programs  bool     // of Preflight only the programs and their versions
	Ports     []int    // that daemons of ours will listen on
	Devices   bool     // inventory of all block devices, with labels
	Paths     []string // devices and files by name, for their labels
	Logs      bool     // the last words of daemons of ours that do not run
}

// Facts is what a host shows.
type Facts struct {
	Hostname string // uname -n
	OS       string // PRETTY_NAME
	Root     bool   // commands run as root
	CephUser bool   // there is a user ceph
	Systemd  bool   // systemd runs

	// With Ask.Preflight or Ask.Programs.
	Programs  map[string]string // ceph-mon, ceph-mgr, …: path; those that are missing are not there
	Version   string            // what ceph-mon, or else ceph, says of its version
	Versions  map[string]string // what each daemon's program (ceph-mon, ceph-osd, …) says of its version
	Librados  bool              // Python has it
	Clock     time.Duration     // how much the host's clock is ahead of ours
	ClockBy   time.Duration     // how wrong that may be
	Free      int64             // bytes free where the folder is, or will be
	Total     int64
	Closed    string // a folder above Dir that the daemons' user cannot enter
	Ports     []PortUse
	Leftovers []Leftover

	Identity *Identity // nil: there is no identity.json
	ConfSum  string    // hex SHA-256 of ceph.conf; empty: there is none
	AdminSum string    // of the admin keyring
	Daemons  []DaemonFacts
	Slots    []Slot
	Disks    []Disk // with Ask.Devices or Ask.Paths
}

// DaemonFacts is a daemon of the cluster on a host: one that has a folder, or runs.
type DaemonFacts struct {
	Daemon

	Made    bool // its folder is complete
	Running bool
	PID     int
	Old     bool   // it runs a program that is no longer on the disk: it waits for a restart
	Stopped bool   // it is kept from starting (systemd)
	Words   string // last words of its log, with Ask.Logs
}

// PortUse is a port that somebody listens on.
type PortUse struct {
	Port    int
	Process string // where it is known
	Ours    bool   // a daemon of this cluster
}

// Leftover is something of another cluster where ours is to be.
type Leftover struct {
	Path string
	FSID string // empty: not known
	What string // mon store, OSD folder, configuration, …
}

// Disk is a block device or a file, as the host shows it.
type Disk struct {
	Name       string // kernel name: sda; empty for a file
	Path       string // /dev/sda, or the file
	Links      []string
	Type       string // disk, part, lvm, loop, rom, crypt, mpath, file, …
	Size       int64
	Rotational bool
	ReadOnly   bool
	Removable  bool
	Model      string
	Serial     string
	WWN        string
	Children   []string // partitions and holders
	Mounts     []string
	Signature  string // file system, LVM2_member, crypto_LUKS, ceph_bluestore, partition table, …
	Label      *Label // of BlueStore
	Busy       string // why it cannot be opened for us alone; empty: it can
	Missing    bool   // asked for by name and not there
}

// Label is what BlueStore wrote at the start of a device. Its key is never read.
type Label struct {
	FSID string // ceph_fsid
	UUID string // osd_uuid
	ID   int    // whoami; -1: none
	Role string // main, or "bluefs db"
}

// Identity is what makes the cluster this one. It is made once, and never again.
type Identity struct {
	Version   int    `json:"v"`
	Name      string `json:"name"`
	Owner     string `json:"owner,omitempty"`
	FSID      string `json:"fsid"`
	MonSecret Secret `json:"mon_secret"`
	AdminKey  Secret `json:"admin_key"`
	// LastMon is the highest letter that a monitor ever had, as a number: letters are never used again.
	LastMon int `json:"last_mon"`
	// First are the monitors of the first monmap: id to host. They are chosen once, so that a
	// creation that was cut off goes on with the same.
	First map[string]MonPlace `json:"first,omitempty"`
	// Established says that the first monitors have been in quorum together: from then on the
	// monmap says which there are.
	Established bool `json:"established,omitempty"`
	// Ending says that a destroy found no data of users and began to stop daemons: after it nobody
	// answers that question any more. An apply takes it back before it starts anything.
	Ending bool `json:"ending,omitempty"`
	// Dashboard is the password of the dashboard's admin, where we made it.
	Dashboard Secret `json:"dashboard_password,omitempty"`
}

// MonPlace is where a monitor of the first monmap is.
type MonPlace struct {
	Host string `json:"host"`
	Addr string `json:"addr"` // [v2:…,v1:…]
}
