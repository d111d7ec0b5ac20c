// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package conductor

import (
	"errors"
	"fmt"
)

// Broken is what an effect returns when the machine, not the lab, does not play along.
type Broken struct{ Text string }

func (b *Broken) Error() string { return b.Text }

func broke(format string, args ...any) error { return &Broken{fmt.Sprintf(format, args...)} }

// AsBroken tells whether an error is that of a machine, and which.
func AsBroken(err error, b **Broken) bool { return errors.As(err, b) }
