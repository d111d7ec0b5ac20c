// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cputime

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

// rusageThread asks for the calling thread alone; package syscall has no name for it.
const rusageThread = 1

// Of is how long a function kept a processor busy: other work on this machine does not count, nor
// does what it leaves to other goroutines and to the garbage collector's own.
func Of(t *testing.T, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(rusageThread, &u); err != nil {
			t.Fatal(err)
		}

		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}

	before := used()

	do()

	return used() - before
}
