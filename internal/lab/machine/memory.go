// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

const (
	bucket = "machines"

	// Domain is where the BMCs of the embedded lab live: node-3.lab.
	Domain = "lab"

	// SystemPath is the one system of a BMC that serves one machine.
	SystemPath = "/redfish/v1/Systems/1"
	systems    = "/redfish/v1/Systems/"
)

// Ensure creates the machines that the options ask for and that are not there yet, and makes
// the others as fast as the options say. It needs a transaction that may write.
func Ensure(tx store.Tx, o Options) error {
	if o.Count == 0 {
		o.Count = DefaultCount
	}

	for i := o.First; i < o.First+o.Count; i++ {
		m, ok, err := Load(tx, Name(i))
		if err != nil {
			return err
		}

		if ok && m.PowerDelay == o.PowerDelay && m.BootDelay == o.BootDelay {
			continue
		}

		if !ok {
			m = Default(i, o)
		}

		m.PowerDelay, m.BootDelay = o.PowerDelay, o.BootDelay

		if err := Save(tx, m); err != nil {
			return err
		}
	}

	return nil
}

// Load returns the machine of a name as it is now; false means that there is none.
func Load(tx store.Tx, name string) (Machine, bool, error) {
	var m Machine

	ok, err := tx.Get(bucket, name, &m)
	if !ok || err != nil {
		return Machine{}, false, err
	}

	m.Settle(time.Now())

	return m, true, nil
}

// Save remembers the machine.
func Save(tx store.Tx, m Machine) error { return tx.Put(bucket, m.Name, m) }

// All returns every machine as it is now, by index.
func All(tx store.Tx) ([]Machine, error) {
	var all []Machine

	now := time.Now()
	err := tx.Each(bucket, func(name string, raw json.RawMessage) error {
		var m Machine
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("lab machine %s: %w", name, err)
		}

		m.Settle(now)
		all = append(all, m)

		return nil
	})

	slices.SortFunc(all, func(a, b Machine) int { return a.Index - b.Index })

	return all, err
}

// ByID returns the machine of a system UUID; false means that there is none.
func ByID(tx store.Tx, id string) (Machine, bool, error) {
	i := strings.LastIndexByte(id, '-')

	n, err := strconv.Atoi(id[i+1:])
	if err != nil || n < 0 || ID(n) != id {
		return Machine{}, false, nil //nolint:nilerr // an identifier that is none of ours names no machine
	}

	return Load(tx, Name(n))
}

// ByHost returns the machine whose BMC answers to a host name, with or without a port.
func ByHost(tx store.Tx, host string) (Machine, bool, error) {
	name, ok := HostName(host)
	if !ok {
		return Machine{}, false, nil
	}

	return Load(tx, name)
}

// HostName is the name of the machine that a BMC's host name, such as node-3.lab:80, means.
func HostName(host string) (string, bool) {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}

	return strings.CutSuffix(strings.ToLower(host), "."+Domain)
}

// ByAddress returns the machine that a BMC's host and the path of a system mean together, as an
// Ironic node's driver_info gives them. An empty path means the only system there is.
func ByAddress(tx store.Tx, host, systemID string) (Machine, bool, error) {
	path := strings.TrimSuffix(systemID, "/")
	id := strings.TrimPrefix(path, systems)

	if _, ok := HostName(host); !ok {
		return ByID(tx, id)
	}

	m, ok, err := ByHost(tx, host)
	if !ok || err != nil {
		return Machine{}, false, err
	}

	if path != "" && path != SystemPath && id != m.ID {
		return Machine{}, false, nil
	}

	return m, true, nil
}
