// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

// alive reports whether a process is at work that began at the given time, which is as
// [processBegan] tells it; empty: not known.
//
// A number alone says too little. One that was killed together with its parent keeps it until
// somebody reaps it, which in a container without an init is never; and in a new container
// the numbers are given again in the same order.
func alive(pid int, began string) bool {
	if state, since, ok := processStat(pid); ok {
		return state != "Z" && state != "X" && (began == "" || began == since)
	}

	p, err := os.FindProcess(pid)
	if err != nil || runtime.GOOS == "windows" {
		return err == nil // Windows finds only processes that there are, and knows no signal 0
	}

	err = p.Signal(syscall.Signal(0))

	return err == nil || errors.Is(err, fs.ErrPermission)
}

// processBegan tells when a process began, in the system's own words; empty where it does not say.
func processBegan(pid int) string {
	_, began, _ := processStat(pid)

	return began
}

// hostID names the system whose process numbers ours are: a machine, a boot of it, and the
// container in it. Where that is not told the machine's name must do.
func hostID() string {
	name, _ := os.Hostname() // empty: not told
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	space, _ := os.Readlink("/proc/self/ns/pid")

	return strings.Join([]string{name, strings.TrimSpace(string(boot)), space}, "/")
}

// processStat reads what Linux tells of a process: field 3 is its state, field 22 the time at
// which it began, in ticks since the system did. The command, field 2, may hold anything.
func processStat(pid int) (state, began string, ok bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", "", false
	}

	const afterCommand, begins = 3, 22

	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	if len(fields) <= begins-afterCommand {
		return "", "", false
	}

	return fields[0], fields[begins-afterCommand], true
}
