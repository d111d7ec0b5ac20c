// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package bootstrap makes what turns a deployed host into a machine of a Kubernetes cluster: the
// user data of each machine from a template, or the cloud-config of the kubeadm profile, the key
// pairs and tokens that it needs, and kubeconfigs for those who hold the keys.
//
// It talks to nobody. Time comes in as data; only keys and tokens come from the system's source
// of randomness. Its errors name places and keys and never repeat what was rendered, a user's
// text or a secret.
package bootstrap

import (
	"net"
	"strconv"
)

// Vars is what a template of user data knows of the machine that it is rendered for.
type Vars struct {
	Cluster   Cluster
	Machine   Machine
	Host      Host
	Addresses map[string]Address // by the name of the pool
	Peers     []Peer             // the machines of the control plane
	Bootstrap Profile
}

// Cluster is the cluster that a machine belongs to.
type Cluster struct {
	Name      string
	Namespace string
	Endpoint  Endpoint
}

// Endpoint is where the API of the cluster answers.
type Endpoint struct {
	Host string
	Port int
}

// DefaultPort is the port of the API where nobody names another.
const DefaultPort = 6443

// String is HOST:PORT, with brackets around an IPv6 address.
func (e Endpoint) String() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.port())) }

func (e Endpoint) port() int {
	if e.Port == 0 {
		return DefaultPort
	}

	return e.Port
}

// Machine is the machine that the user data is for.
type Machine struct {
	Name          string
	Role          string
	Pool          string
	Index         int
	ProviderID    string // with its scheme; empty where a cloud provider sets it
	FailureDomain string
	First         bool // the machine of the control plane that begins the cluster
	ClaimID       string
}

// Host is the host that became the machine.
type Host struct {
	Name   string
	UUID   string
	Labels map[string]string
	NICs   []NIC
}

// NIC is a network card of the host's inventory.
type NIC struct {
	Name string
	MAC  string
	IP   string
}

// Address is what the machine got from a pool.
type Address struct {
	Address string
	Prefix  int
	Gateway string
	DNS     []string
}

// Peer is a machine of the control plane.
type Peer struct {
	Name      string
	Addresses map[string]Address // by the name of the pool
}

// Profile is what the bootstrap profile of the cluster gives to a template, which then decides
// where it goes. It is empty where the cluster has no profile. Its contents are secret.
type Profile struct {
	Kind          string // "kubeadm", or empty
	Version       string
	Token         string
	CAHash        string
	CACertificate string
	Config        string // kubeadm's configuration for this machine
	ConfigPath    string // where Command expects it
	Command       string // that makes the host a machine
	Files         []File // what else the host needs; no key for a worker
}
