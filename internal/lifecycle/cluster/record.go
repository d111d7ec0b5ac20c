// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"

// State is where a machine is.
type State string

// The states of a machine.
const (
	StatePlanned        State = "planned"
	StateClaimed        State = "claimed"
	StateDeploying      State = "deploying"
	StateActive         State = "active"
	StateJoining        State = "joining"
	StateReady          State = "ready"
	StateUnhealthy      State = "unhealthy"
	StateDeprovisioning State = "deprovisioning"
	StateError          State = "error"
)

// The states of a cluster.
const (
	ClusterPending      = "pending"
	ClusterProvisioning = "provisioning"
	ClusterReady        = "ready"
	ClusterDegraded     = "degraded"
	ClusterDeleting     = "deleting"
)

// Machine is one machine of a cluster as it is known.
type Machine struct {
	Name, Pool string
	Role       Role
	Index      int
	ClaimID    string
	ClaimKind  string // "allocation", "instance_uuid"; empty: not claimed

	HostID, HostName, Domain string
	ProviderID, Node         string
	Addresses                map[string]addresses.Address // by pool

	ImageURL     string
	TemplateHash string // of what it was made from
	UpToDate     bool
	State        State
	Power        string
	NodeReady    *bool // nil: not known
	Healthy      bool
	LastError    string
	Provisioned  string // RFC 3339
	Remediations int
}

// Runs reports whether a machine is deployed: what a look shows as [SeenActive].
func (m Machine) Runs() bool {
	return m.State == StateActive || m.State == StateJoining || m.State == StateReady || m.State == StateUnhealthy
}

// Condition is a condition of the cluster, without times: they would make every plan noisy.
type Condition struct{ Type, Status, Reason, Message string }

// Record is what is known of a cluster: what the state holds, and what a look found.
type Record struct {
	Machines   map[string]Machine
	Ready      bool
	State      string
	Conditions []Condition
	Kubeconfig string   // empty: none is made here
	ClusterCA  string   // PEM
	Drift      []string // what is not as wanted and an apply would see to
}

// Result is what a verb came to.
type Result struct {
	Record   Record
	Known    bool // something of the cluster is on the far side
	Gone     bool // nothing of it is
	Err      error
	Stands   string // what a failed verb left
	Warnings []Warning
	Remedy   *Remedy // of a remediation by a person's word, once it has begun
}

// Warning is something for the user to know.
type Warning struct{ Summary, Detail string }
