// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

// Status is the answer to "status".
type Status struct {
	FSID         string
	Health       Health
	Quorum       []string // names of the monitors in quorum; empty during an election
	Mons         int      // in the monmap
	OSDs         int
	OSDsUp       int
	OSDsIn       int
	MgrAvailable bool // lags: it stays true for half a minute after the last manager ended
	Standbys     int
	PGs          []PGState
	NumPGs       int
	Capacity     Capacity
}

// PGState is how many placement groups are in a state, such as "active+clean".
type PGState struct {
	State string
	Count int
}

// Capacity is in bytes.
type Capacity struct{ Total, Used, Available int64 }

// Health is what the cluster says of itself.
type Health struct {
	Status string // HEALTH_OK, HEALTH_WARN, HEALTH_ERR
	Checks map[string]Check
}

// Check is one health check.
type Check struct {
	Severity string
	Message  string
	Muted    bool // shown, but no reason to wait
}

// Quorum is the answer to "quorum_status".
type Quorum struct {
	FSID       string
	Leader     string
	Names      []string // in quorum
	Epoch      int      // of the monmap
	MinRelease int      // min_mon_release
	Mons       []Mon
}

// Mon is a monitor of the monmap.
type Mon struct {
	Name  string
	Rank  int
	Addrs Addrs
}

// Mgr is the answer to "mgr dump".
type Mgr struct {
	Active    string // name; empty: none
	Available bool
	Standbys  []string
	Modules   []string          // enabled
	AlwaysOn  []string          // on in the running release whatever is enabled
	Known     []string          // all modules that the active manager has
	Broken    map[string]string // modules that cannot run: why
	Services  map[string]string // module: URL
}

// OSDMap is the answer to "osd dump", with class and place of each OSD from "osd tree".
type OSDMap struct {
	Epoch          int
	Full           float64
	BackfillFull   float64
	NearFull       float64
	RequireRelease string // require_osd_release
	MinCompat      string // require_min_compat_client
	Flags          []string
	OSDs           []OSD
	Pools          []Pool
	Hosts          map[string]int // CRUSH host buckets: how many OSDs
	NoOutHosts     []string       // crush nodes with the noout flag
	Strays         []int          // ids that no bucket holds
}

// OSD is an OSD of the map.
type OSD struct {
	ID     int
	UUID   string
	Up, In bool
	New    bool    // never booted
	Weight float64 // CRUSH weight, in TiB
	Host   string  // CRUSH host; empty: a stray
	Class  string
	Place  map[string]string // bucket type: name, such as rack: r1
}

// Pool is a pool of the OSD map.
type Pool struct {
	ID              int
	Name            string
	Size, MinSize   int
	PGNum           int
	PGAutoscaleMode string
	CrushRule       int
	ErasureProfile  string // empty: replicated
	Applications    []string
	QuotaBytes      int64
	QuotaObjects    int64
	Compression     string // compression_mode
	Flags           []string
}

// Option is one entry of "config dump".
type Option struct {
	Section string // who: "global", "osd", "osd.3"
	Mask    string // "host:h1", "class:ssd"
	Name    string
	Value   string
	Level   string
}

// Versions is the answer to "versions": type of daemon, version text, how many.
type Versions map[string]map[string]int

// Snapshot is all that a refresh asks the cluster.
type Snapshot struct {
	Status   Status
	Quorum   Quorum
	Mgr      Mgr
	OSDMap   OSDMap
	Config   []Option
	Versions Versions
}

// OkToStop is the answer to "osd ok-to-stop" and "mon ok-to-stop".
type OkToStop struct {
	OK     bool
	OSDs   []int // that may stop together
	Words  string
	NotOK  int // placement groups that would become inactive
	BadPGs []string
}

// User is an entity of the key store.
type User struct {
	Entity string
	Key    string
	Caps   map[string]string // mon, osd, mds, mgr
}
