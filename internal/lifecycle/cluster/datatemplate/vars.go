// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package datatemplate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster/addresses"
)

// The objects that labels, annotations and names are read from. Upstream's names of them are taken, too.
const (
	ofMachine       = "machine"
	ofHost          = "host"
	ofMetal3Machine = "metal3machine"
	ofBareMetalHost = "baremetalhost"
)

func objects() []string { return []string{ofMachine, ofHost, ofMetal3Machine, ofBareMetalHost} }

// boot names the interface that a host boots from.
const boot = "boot"

// Vars are the machine and the host that a template is rendered for.
type Vars struct {
	Namespace     string `json:"namespace"`
	Machine       string `json:"machine"`
	Host          string `json:"host"`
	Metal3Machine string `json:"metal3machine"` // "": the machine
	Index         int    `json:"index"`
	BootMAC       string `json:"boot_mac"`
	// Interfaces are the MAC addresses of the host by the name of the interface: see [Interfaces].
	Interfaces         map[string]string            `json:"interfaces"`
	HostLabels         map[string]string            `json:"host_labels"`
	HostAnnotations    map[string]string            `json:"host_annotations"`
	MachineLabels      map[string]string            `json:"machine_labels"`
	MachineAnnotations map[string]string            `json:"machine_annotations"`
	Addresses          map[string]addresses.Address `json:"addresses"` // by pool
}

// ParseVars reads Vars from JSON and refuses what it does not know.
func ParseVars(document []byte) (Vars, error) {
	var v Vars

	err := decode(document, "object of variables", &v)

	return v, err
}

// NIC is a network interface that an inspection found.
type NIC struct{ Name, MAC string }

// Interfaces makes [Vars.Interfaces] of what an inspection found. Where two have one name and
// different addresses, both stand there, and rendering refuses the name.
func Interfaces(all []NIC) map[string]string {
	out := make(map[string]string, len(all))

	for _, nic := range all {
		if nic.Name == "" || nic.MAC == "" || strings.EqualFold(out[nic.Name], nic.MAC) {
			continue
		}

		if before := out[nic.Name]; before != "" {
			nic.MAC = before + "," + nic.MAC
		}

		out[nic.Name] = nic.MAC
	}

	return out
}

// metal3machine is what upstream calls the object behind a machine.
func (v Vars) metal3machine() string { return cmp.Or(v.Metal3Machine, v.Machine) }

func (v Vars) name(object string) (string, error) {
	switch object {
	case ofMachine:
		return v.Machine, nil
	case ofMetal3Machine:
		return v.metal3machine(), nil
	case ofHost, ofBareMetalHost:
		return v.Host, nil
	}

	return "", unknownObject(object)
}

func unknownObject(object string) error {
	return fmt.Errorf("object %q is none of %s", object, strings.Join(objects(), ", "))
}

func (v Vars) labels(object string) (map[string]string, error) {
	switch object {
	case ofMachine, ofMetal3Machine:
		return v.MachineLabels, nil
	case ofHost, ofBareMetalHost:
		return v.HostLabels, nil
	}

	return nil, unknownObject(object)
}

func (v Vars) annotations(object string) (map[string]string, error) {
	switch object {
	case ofMachine, ofMetal3Machine:
		return v.MachineAnnotations, nil
	case ofHost, ofBareMetalHost:
		return v.HostAnnotations, nil
	}

	return nil, unknownObject(object)
}

// annotation returns the value of an annotation that must be there.
func (v Vars) annotation(a Annotation) (string, error) {
	all, err := v.annotations(a.Object)
	if err != nil {
		return "", err
	}

	value := all[a.Annotation]
	if value == "" {
		return "", fmt.Errorf("the %s has no annotation %q", a.Object, a.Annotation)
	}

	return value, nil
}

// bootMAC returns the address of the interface that the host boots from.
func (v Vars) bootMAC() (string, error) {
	if v.BootMAC == "" {
		return "", errors.New("the MAC address that the host boots from is not known; set its boot_mac_address, or inspect it")
	}

	return canonicalMAC(v.BootMAC)
}

// interfaceMAC returns the address of an interface of the host, by its exact name.
func (v Vars) interfaceMAC(name string) (string, error) {
	if name == boot {
		return v.bootMAC()
	}

	mac, ok := v.Interfaces[name]

	switch {
	case len(v.Interfaces) == 0:
		return "", fmt.Errorf("interface %q is asked for, and the interfaces of the host are not known; inspect it", name)
	case !ok:
		return "", fmt.Errorf("the host has no interface %q; it has %s", name, strings.Join(slices.Sorted(maps.Keys(v.Interfaces)), ", "))
	case strings.Contains(mac, ","):
		return "", fmt.Errorf("the host has more than one interface %q (%s); write the MAC address itself", name, mac)
	}

	canonical, err := canonicalMAC(mac)
	if err != nil {
		return "", fmt.Errorf("interface %q: %w", name, err)
	}

	return canonical, nil
}

var macPattern = regexp.MustCompile(`^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$`)

// canonicalMAC refuses what upstream refuses, and writes the rest in one way.
func canonicalMAC(mac string) (string, error) {
	if !macPattern.MatchString(mac) {
		return "", fmt.Errorf("bad MAC address: %q", mac)
	}

	return strings.ToLower(strings.ReplaceAll(mac, "-", ":")), nil
}

// address returns the machine's address of a pool, checked.
func (v Vars) address(pool string) (addresses.Address, netip.Addr, error) {
	a, ok := v.Addresses[pool]
	if !ok {
		known := "there are none"
		if len(v.Addresses) > 0 {
			known = "there are " + strings.Join(slices.Sorted(maps.Keys(v.Addresses)), ", ")
		}

		return addresses.Address{}, netip.Addr{}, fmt.Errorf("the machine has no address of a pool %q (of the pools that the machine has addresses of, %s)", pool, known)
	}

	addr, err := addresses.ParseAddress(a.Address)
	if err != nil {
		return addresses.Address{}, netip.Addr{}, fmt.Errorf("the address of pool %q: %w", pool, err)
	}

	if a.Prefix < 1 || a.Prefix > addr.BitLen() {
		return addresses.Address{}, netip.Addr{}, fmt.Errorf("the address of pool %q, %s, has the impossible prefix %d", pool, addr, a.Prefix)
	}

	return a, addr, nil
}

// pool returns the name of a pool that is named, or that an annotation names.
func (v Vars) pool(name string, annotation *Annotation) (string, error) {
	if annotation == nil {
		return name, nil
	}

	return v.annotation(*annotation)
}
