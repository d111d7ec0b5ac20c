// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package claim

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/ironic"
)

// ErrNoHost is what errors.Is finds in a [NoHostError].
var ErrNoHost = errors.New("no free host")

// NoHostError says that no candidate could be claimed, and why each could not.
type NoHostError struct {
	Machine string
	Refused map[string]string // by name of the host
}

func (e *NoHostError) Error() string {
	if len(e.Refused) == 0 {
		return "no free host for machine " + e.Machine + ": there is no candidate"
	}

	var b strings.Builder

	fmt.Fprintf(&b, "no free host for machine %s:", e.Machine)

	for _, name := range slices.Sorted(maps.Keys(e.Refused)) {
		fmt.Fprintf(&b, "\n  %s: %s", name, e.Refused[name])
	}

	return b.String()
}

// Is makes errors.Is(err, ErrNoHost) true.
func (e *NoHostError) Is(target error) bool { return target == ErrNoHost }

// InUseError says that a claim is not given back, because the host may still run what was
// deployed on it.
type InUseError struct {
	Host  string
	State ironic.State
}

func (e *InUseError) Error() string {
	return fmt.Sprintf("the claim on host %s is kept: the host is in state %q and may still run the machine; undeploy it first", e.Host, e.State)
}
