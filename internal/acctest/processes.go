// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Providers are the pids of the provider processes in a process group.
func Providers(group int) []int {
	var pids []int

	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}

		// pid (comm) state ppid pgrp …; the command is cut to 15 characters
		pid, rest, _ := strings.Cut(string(content), " (")
		comm, rest, _ := strings.Cut(rest, ") ")

		fields := strings.Fields(rest)
		if len(fields) > 2 && strings.HasPrefix(comm, "terraform-provi") && fields[0] != "Z" && fields[2] == strconv.Itoa(group) {
			if n, err := strconv.Atoi(pid); err == nil {
				pids = append(pids, n)
			}
		}
	}

	return pids
}
