// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
)

// The kinds of failure on a host that a caller can tell apart with errors.Is.
var (
	// ErrUnreachable says that the host may be gone: nobody answers.
	ErrUnreachable = errors.New("the host cannot be reached")
	// ErrHidden says that who runs the commands may not see the cluster's folder: whether there is a
	// cluster is not known, so that nobody may take it for none.
	ErrHidden = errors.New("the folder of the cluster cannot be looked into: log in as root, or set sudo")
	// ErrForeign says that something on the host belongs to another cluster.
	ErrForeign = errors.New("it belongs to another cluster")
	// ErrInUse says that a device holds data, is mounted or is otherwise not free.
	ErrInUse = errors.New("the device is in use")
	// ErrGone says that a device is not there.
	ErrGone = errors.New("there is no such device")
	// ErrDied says that a daemon ended right after its start.
	ErrDied = errors.New("the daemon ended at once")
)

// Host is what is done on one host. Each method is bounded by its context, can be repeated
// from any point, and returns ErrUnreachable where nobody answered.
type Host interface {
	// Name is how people know the host: user@host:port, or "this machine".
	Name() string
	// Look looks at everything of the cluster on the host, with one command. An error never means that
	// there is nothing: ErrHidden says that it could not see.
	Look(ctx context.Context, l Layout, ask Ask) (Facts, error)
	// Connect opens a session with the cluster through the host, as client.admin.
	Connect(ctx context.Context, l Layout) (api.Commander, error)
	// Install puts in the distribution's packages that have these programs.
	Install(ctx context.Context, programs []string) error

	// Write makes the folders of the cluster and writes those files that differ. Where an identity or a
	// configuration is of another fsid, nothing is written: ErrForeign.
	Write(ctx context.Context, l Layout, files []File) error
	// MakeMon makes the store of a monitor (mkfs), unless it is there. A store of another fsid is ErrForeign.
	MakeMon(ctx context.Context, l Layout, id string, seed MonSeed) error
	// MakeDaemon makes the folder of a mgr or mds with its keyring.
	MakeDaemon(ctx context.Context, l Layout, d Daemon, keyring []byte) error
	// MakeSlot returns the record of an OSD that is to be, and makes it first where there is none: its
	// uuid and secret are chosen once and are on the host's disk before Ceph is told. It takes the
	// device: checks that it is free, or ours already.
	MakeSlot(ctx context.Context, l Layout, want SlotSpec) (Slot, error)
	// MakeOSD makes the store of an OSD (mkfs), unless it is there, and notes the id in its slot.
	MakeOSD(ctx context.Context, l Layout, slot Slot, id int) error
	// Start starts a daemon, unless it runs, in a session of its own.
	Start(ctx context.Context, l Layout, d Daemon, how StartHow) error
	// Stop ends a daemon of this cluster and keeps it from starting again. One that does not run is no error.
	Stop(ctx context.Context, l Layout, d Daemon) error
	// Remove deletes what a daemon that does not run keeps on the host; a proof that it is ours comes first.
	Remove(ctx context.Context, l Layout, d Daemon) error
	// Wipe overwrites the start (or, full, all) of the device of an OSD of ours, reads back that the
	// label is gone, and forgets the slot. The label's fsid and uuid are compared first.
	Wipe(ctx context.Context, l Layout, slot Slot, method string, passes int) error
	// Forget deletes the record of an OSD that is gone from the cluster; its device stays as it is. A
	// record of another uuid is ErrForeign.
	Forget(ctx context.Context, l Layout, slot Slot) error
	// WipeForeign wipes a device that carries the label of another cluster. Only with takeover.
	WipeForeign(ctx context.Context, device, fsid string) error
	// Discard deletes what a look found left of other clusters. Only with takeover. Nothing of it may
	// run, and it must still be what was seen; what is ours stays.
	Discard(ctx context.Context, l Layout, left []Leftover) error
	// Erase deletes the folder of the cluster, once nothing of it runs and no slot is left. It compares the fsid first.
	Erase(ctx context.Context, l Layout) error
}

// Layout is where things of a cluster are on each of its hosts: all below one folder.
type Layout struct {
	Name string
	FSID string
	Dir  string // data_dir
	User string // that daemons run as (user and group); empty: as who starts them
	// Entity is who asks the cluster; empty: client.admin.
	Entity string
	// Supervision is who keeps daemons running: systemd or daemon; empty: systemd where it runs.
	Supervision string
}

// The kinds of supervision.
const (
	SupervisionAuto    = "auto"
	SupervisionSystemd = "systemd"
	SupervisionDaemon  = "daemon"
)

// Conf is the configuration file that all daemons and tools of the cluster read.
func (l Layout) Conf() string { return path.Join(l.Dir, "ceph.conf") }

// AdminKeyring is the keyring of client.admin.
func (l Layout) AdminKeyring() string { return path.Join(l.Dir, "ceph.client.admin.keyring") }

// IdentityFile holds the identity of the cluster; only on hosts of monitors.
func (l Layout) IdentityFile() string { return path.Join(l.Dir, "identity.json") }

// Run is the folder of pid files and sockets.
func (l Layout) Run() string { return path.Join(l.Dir, "run") }

// Log is the folder of logs.
func (l Layout) Log() string { return path.Join(l.Dir, "log") }

// Data is the folder of a daemon: DIR/mon/a, DIR/osd/3.
func (l Layout) Data(d Daemon) string { return path.Join(l.Dir, d.Type, d.ID) }

// Slots is the folder with one folder for each OSD.
func (l Layout) Slots() string { return path.Join(l.Dir, "slots") }

// Unit is the name of a daemon's systemd unit.
func (l Layout) Unit(d Daemon) string {
	return "metal3-ceph-" + l.FSID + "-" + d.Type + "." + d.ID + ".service"
}

// Daemon names a daemon of the cluster.
type Daemon struct {
	Type string // mon, mgr, osd, mds
	ID   string // a, b, …; 0, 1, … for OSDs
}

// String is the daemon as Ceph spells it: mon.a.
func (d Daemon) String() string { return d.Type + "." + d.ID }

// OSDDaemon names an OSD.
func OSDDaemon(id int) Daemon { return Daemon{Type: RoleOSD, ID: strconv.Itoa(id)} }

// File is a file of the cluster on a host.
type File struct {
	Path   string
	Data   []byte
	Mode   fs.FileMode
	Shared bool // owned by the daemons' user; else by who writes it
}

// MonSeed is what a monitor's store is made of.
type MonSeed struct {
	// Addrs are the monitors of the first monmap: id to address vector. Empty: Monmap counts.
	Addrs map[string]string
	// Monmap is the monmap of a running cluster, binary.
	Monmap []byte
	// Keyring holds mon. and client.admin.
	Keyring []byte
}

// SlotSpec is an OSD that is to be.
type SlotSpec struct {
	Device  DeviceSpec
	Index   int // of several OSDs on one device
	Backend string
	Size    int64 // of a file that we make
	Foreign bool  // a label of another cluster may be wiped
}

// Slot is the record of an OSD on its host. It outlives daemon and state.
type Slot struct {
	Key    string `json:"key"` // name of its folder: made of path and index
	Path   string `json:"path"`
	Index  int    `json:"index"`
	UUID   string `json:"uuid"`
	Secret Secret `json:"secret"` // cephx key
	ID     int    `json:"id"`     // of the OSD; -1: not known yet
	Made   bool   `json:"made"`   // mkfs is done

	Backend   string `json:"backend"`
	Class     string `json:"class,omitempty"`
	DB        string `json:"db,omitempty"`
	Encrypted bool   `json:"encrypted,omitempty"`
	OwnFile   bool   `json:"own_file,omitempty"` // we made the file: it goes with the OSD
	OwnDB     bool   `json:"own_db,omitempty"`
	// What the device is, whatever the kernel calls it today.
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"`
	Link   string `json:"link,omitempty"` // /dev/disk/by-id/…
	Was    string `json:"was,omitempty"`  // what the kernel called it when it was taken
	// Volume is the logical volume on the device, of the backend lvm.
	Volume string `json:"volume,omitempty"`
	// Device is where it was found at the last look; empty: not there.
	Device string `json:"-"`
}

// StartHow is what a daemon's start needs to know.
type StartHow struct {
	Addr          string  // of a monitor that is added
	CrushLocation string  // "root=default rack=r1 host=h1", OSDs only
	Weight        float64 // initial CRUSH weight, OSDs only
	Slot          Slot    // OSDs only
}

// Secret is a key. It does not show itself.
type Secret string

// String implements fmt.Stringer.
func (Secret) String() string { return "(secret)" }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return "(secret)" }

// Format implements fmt.Formatter, so that no verb shows it.
func (Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte("(secret)")) }
