// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"strconv"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/cluster"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/value"
)

// machineName is the name of a machine.
func (m model) machineName(pool string, index int) string {
	w := cluster.Wanted{Name: m.Name.ValueString(), NameFormat: m.NameFormat.ValueString()}

	return w.MachineName(pool, index)
}

// indexOf is the index of the machine of a pool that has a name.
func (m model) indexOf(pool, name string) (int, bool) {
	const mark = 987654321

	before, after, ok := strings.Cut(m.machineName(pool, mark), strconv.Itoa(mark))
	if !ok || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) || len(name) <= len(before)+len(after) {
		return 0, false
	}

	index, err := strconv.Atoi(name[len(before) : len(name)-len(after)])
	if err != nil || index < 0 || m.machineName(pool, index) != name {
		return 0, false
	}

	return index, true
}

// sentence makes a text a sentence.
func sentence(s string) string { return value.Sentence(errors.New(s)) }
