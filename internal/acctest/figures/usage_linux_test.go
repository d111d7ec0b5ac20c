// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package figures_test

import (
	"os"
	"syscall"
)

// maxRSS is the most that a process had resident, in KiB.
func maxRSS(s *os.ProcessState) int64 {
	if u, ok := s.SysUsage().(*syscall.Rusage); ok {
		return u.Maxrss
	}

	return 0
}
