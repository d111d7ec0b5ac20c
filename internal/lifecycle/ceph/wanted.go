// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "time"

// Confirmation is the one text that lets a delete destroy data, as Rook has it.
const Confirmation = "yes-really-destroy-data"

// The roles of a host.
const (
	RoleMon = "mon"
	RoleMgr = "mgr"
	RoleOSD = "osd"
	RoleMDS = "mds"
)

// The backends of OSDs.
const (
	BackendRaw  = "raw"  // the device as it is
	BackendLVM  = "lvm"  // a logical volume on the device
	BackendFile = "file" // a sparse file, for trying things out
)

// Wanted is a cluster as it is configured.
type Wanted struct {
	Name  string
	Owner string // owner_id of the provider block
	FSID  string // wanted; empty: made once
	Dir   string // data_dir
	Hosts []HostSpec
	// Former are hosts of an earlier apply that are no longer configured: daemons of ours are
	// taken from them, nothing else.
	Former []HostSpec

	Version          string // a constraint such as ">= 16.2, < 21"; empty: none
	AllowUnsupported bool
	Supervision      string // auto, systemd, daemon
	Packages         string // require, install

	Mon          MonSpec
	Mgr          MgrSpec
	Network      NetworkSpec
	Storage      StorageSpec
	Config       map[string]map[string]string // who: option: value
	WasConfig    map[string][]string          // options that an earlier apply set: those no longer in Config are removed
	PoolDefaults PoolDefaults
	Upgrade      UpgradeSpec
	Takeover     Takeover
	Dashboard    Dashboard
	Ready        ReadySpec
	External     *External // nil: a cluster of our own
}

// External is a cluster that somebody else runs: no daemon of it is made, changed or ended. The
// host reaches it with what is written below data_dir.
type External struct {
	FSID    string
	MonHost string // mon_host
	User    string // client.admin
	Key     Secret // empty: the one that an earlier apply left on the host counts
}

// HostSpec is a host of the cluster. Its name is what uname -n says, and its CRUSH host.
type HostSpec struct {
	Name    string
	Address string // in the public network
	Roles   []string
	Place   map[string]string // crush_location: bucket type: name, without host and root
	Host    Host              // how it is reached
}

// MonSpec says which monitors there are.
type MonSpec struct {
	Count         int
	Hosts         []string // candidates, in order; those with the role
	AllowMultiple bool     // more than one on a host
	Failover      time.Duration
}

// MgrSpec says which managers there are.
type MgrSpec struct {
	Count         int
	Hosts         []string
	AllowMultiple bool
	Modules       map[string]ModuleSpec // those that we switch; others are left alone
}

// ModuleSpec is a module of the manager.
type ModuleSpec struct {
	Enabled bool
	Mode    string // of the balancer
}

// NetworkSpec is where the daemons listen.
type NetworkSpec struct {
	Public, Cluster []string // CIDRs
	RequireMsgr2    bool
	Encryption      bool
	Compression     bool
	Msgr2, Msgr1    int // ports of the first monitor of a host
}

// StorageSpec says which devices become OSDs.
type StorageSpec struct {
	Backend       string
	FileSize      int64 // bytes of a file that we make
	Devices       []DeviceSpec
	Selectors     []Selector
	OSDsPerDevice int
	Removal       RemovalSpec
	Full          float64 // 0: left alone
	BackfillFull  float64
	NearFull      float64
}

// DeviceSpec is one device by name.
type DeviceSpec struct {
	Host      string
	Path      string
	DB        string // block.db beside it: path of a device, of a volume or of a file
	DBSize    int64  // bytes, of a file that we make
	Class     string // device class; empty: Ceph guesses
	Encrypted bool
	Count     int     // OSDs on the device; 0: StorageSpec.OSDsPerDevice
	Weight    float64 // initial CRUSH weight in TiB; 0: Ceph computes it
}

// Selector takes the devices of hosts that match all that it says.
type Selector struct {
	Hosts      []string // empty: all with the role osd
	All        bool
	NameRegex  string // kernel name, full match
	PathRegex  string // /dev/NAME and every link of udev, full match
	MinSize    int64  // bytes
	MaxSize    int64
	Rotational *bool
	Limit      int // per host; 0: no limit
	Class      string
	Encrypted  bool
}

// RemovalSpec says whether and how OSDs go that are no longer configured.
type RemovalSpec struct {
	Allow    bool
	Timeout  time.Duration
	Parallel int
	Wipe     bool
}

// PoolDefaults are what pools get that say nothing; they count at creation only.
type PoolDefaults struct {
	FailureDomain string // host, or osd on a single host
	Size, MinSize int    // 0: Ceph's own
	PGNum         int
}

// UpgradeSpec says what holds an upgrade up.
type UpgradeSpec struct {
	SkipChecks        bool
	ContinueUnhealthy bool
	OkToStop          time.Duration
	Parallel          int
	RequireCleanPGs   bool
}

// Takeover says what of other clusters may be destroyed.
type Takeover struct {
	WipeForeignDevices bool
	WipeForeignData    bool
}

// Dashboard is the web page of the manager.
type Dashboard struct {
	Enabled  bool
	Managed  bool // false: left alone
	Port     int
	SSL      bool
	Prefix   string
	Password Secret // of the user admin; empty: made once
}

// ReadySpec says when the cluster counts as ready.
type ReadySpec struct {
	OSDs       string // all, or none
	Health     string // ok, ok_or_warn, any
	AllowCodes []string
}

// CleanupSpec says what a delete does.
type CleanupSpec struct {
	Confirmation  string
	Wipe          string // none, quick, full
	Passes        int
	AllowWithData bool
}
