// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/kube"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/bootstrap"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/choose"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/datatemplate"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/host/image"
)

// Role is what a machine is in its cluster.
type Role string

// The roles.
const (
	ControlPlane Role = "control-plane"
	Worker       Role = "worker"
)

// ControlPlanePool is the name of the pool that the control plane is.
const ControlPlanePool = "cp"

// Level is how far an apply waits for machines; each holds those before it.
type Level string

// The levels.
const (
	LevelClaimed     Level = "claimed"     // hosts are claimed, nothing is deployed
	LevelProvisioned Level = "provisioned" // Ironic says active
	LevelReachable   Level = "reachable"   // the endpoint takes connections
	LevelAPI         Level = "api"         // the endpoint's API server says that it is ready
	LevelRegistered  Level = "registered"  // each machine has its Node
	LevelNodes       Level = "nodes"       // each Node is Ready
)

// Levels lists the levels in their order.
var Levels = []Level{LevelClaimed, LevelProvisioned, LevelReachable, LevelAPI, LevelRegistered, LevelNodes}

// reaches reports whether a level includes another.
func (l Level) reaches(other Level) bool { return l.rank() >= other.rank() }

func (l Level) rank() int {
	for i, each := range Levels {
		if each == l {
			return i
		}
	}

	return -1
}

// Wanted is what the user wants of a cluster.
type Wanted struct {
	Namespace, Name, OwnerID string
	NameFormat               string // of machines; empty: DefaultNameFormat

	Endpoint      Endpoint
	CloudProvider bool // somebody else sets the providerID of Nodes

	Domains         map[string]Domain // by name; nil: none
	DomainsRequired bool              // failure_domain_policy = "required"

	HostIDs, HostNames []string // nil: every host
	Selector           choose.Selector

	IPPools   map[string]addresses.Pool
	Pools     []Pool              // the control plane first, where there is one, then workers in the order of rollouts
	Former    []Pool              // are no longer configured: their machines leave by them
	Overrides map[string]Override // by machine name

	Bootstrap *Bootstrap // nil: none

	Wait     Wait
	Parallel Parallelism

	LabelPrefixes  []string
	Remediation    Remediation
	MaxDeprovision *int     // machines that one apply may take down; nil: no limit
	DeleteMachines []string // preferred victims

	Partial     bool // with too few hosts, go on with those that there are
	Rollback    bool // a create that fails gives everything back
	RetryOther  bool // a host that fails is marked unhealthy, and another one takes its place
	HostRetries int

	Adopt             bool // a create may take over machines of this cluster that are there
	AllowDisruption   bool // a control plane of fewer than three may be rolled without surge
	AllowEtcdLoss     bool // members may go without leaving etcd
	ExternalEtcd      bool
	ProvisioningLimit int // of the provider; hosts busy at once

	Timeouts PhaseTimeouts
}

// Endpoint is where the cluster's API server is reached. It is the user's: nothing of it is made here.
type Endpoint struct {
	Host string
	Port int
}

// Domain is a failure domain.
type Domain struct {
	ControlPlane bool // machines of the control plane may be there
	Attributes   map[string]string
}

// Wait says how far an apply waits.
type Wait struct {
	Level       Level
	APITimeout  time.Duration
	NodeTimeout time.Duration
	Settle      time.Duration // how long a Node must have been Ready before its machine is done
}

// Parallelism bounds what happens at once.
type Parallelism struct{ Provision, Deprovision, Reboot int }

// PhaseTimeouts bound phases of one machine; 0: none but the verb's deadline.
type PhaseTimeouts struct{ Provision, Deprovision, Drain time.Duration }

// Pool is a set of machines that are made alike.
type Pool struct {
	Name     string
	Role     Role
	Replicas int

	Image        *image.Image
	CustomDeploy *host.CustomDeploy
	RootHints    *image.RootHints
	BootMode     string
	CleaningMode string // empty: as the host has it
	KeepPower    bool   // the machine stays on when it leaves

	Selector      choose.Selector
	Hardware      choose.Hardware
	Selection     string // "ordered", "random", "best_fit"
	Spread        bool
	Domain        string
	ResourceClass string
	Traits        []string

	UserData        bootstrap.UserData
	UserDataMark    string // counts in the template hash instead of the user data: that of a write-only attribute is not there at each look
	MetaData        map[string]string
	Template        *datatemplate.Template
	DomainTemplates map[string]*datatemplate.Template // by failure domain of the chosen host
	NetworkData     map[string]any                    // instead of the template's; nil: none

	NodeLabels, NodeAnnotations map[string]string
	NodeTaints                  []kube.Taint

	Reuse   Reuse
	Rollout Rollout
	ScaleIn string // "highest_index", "newest", "oldest"
	Offset  int    // ip_index_offset

	PreDeprovision, PostProvision []Hook
}

// Reuse says whether a machine that is replaced stays on its host.
type Reuse string

// The ways of reuse.
const (
	ReuseNever     Reuse = "never"
	ReusePreferred Reuse = "preferred"
	ReuseRequired  Reuse = "required"
)

// Strategy is how machines follow a new template.
type Strategy string

// The strategies.
const (
	Rebuild  Strategy = "rebuild"   // the same host gets the new image in place
	Replace  Strategy = "replace"   // the machine leaves its host and is made anew
	OnDelete Strategy = "on_delete" // only machines that go for another reason are made from the new template
)

// Rollout is how a pool follows a new template.
type Rollout struct {
	Strategy       Strategy
	MaxSurge       Share
	MaxUnavailable Share
	Drain          string        // "best_effort", "required", "never"
	DrainTimeout   time.Duration // 0: the cluster's
	Pause          time.Duration
}

// Override is what one machine has of its own. Where it is, and its addresses, are looked at when it is
// made: one that runs keeps what it has.
type Override struct {
	HostID    string
	Selector  *choose.Selector // instead of the pool's
	UserData  string
	Domain    string
	Labels    map[string]string
	Addresses map[string]string // pool -> address
}

// Hook is a command on the machine's operating system.
type Hook struct {
	Command    string
	Timeout    time.Duration // 0: none but the verb's deadline
	BestEffort bool          // before the machine leaves, its failure is a warning
}

// Remediation is what happens to machines that are ill.
type Remediation struct {
	Enabled          bool
	UnhealthyTimeout time.Duration
	StartupTimeout   time.Duration
	RetryLimit       int
	Timeout          time.Duration
	MaxUnhealthy     Share
	Strategy         string // "reboot", "rebuild", "replace"
	OnFailure        string // "replace", "fail", "none"
	Fence            string // "auto", "never"
}

// Bootstrap makes machines into a Kubernetes cluster.
type Bootstrap struct {
	Kubeadm  bootstrap.Kubeadm
	PKI      bootstrap.PKI
	TokenTTL time.Duration // 0: an hour
}

// pool finds a pool by name.
func (w *Wanted) pool(name string) (Pool, bool) {
	for _, p := range w.Pools {
		if p.Name == name {
			return p, true
		}
	}

	return Pool{}, false
}
