// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package acctest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// CephDaemons are the daemons of this machine whose files are below a folder: their pids, and
// what they are called.
func CephDaemons(dir string) map[int]string {
	all := map[int]string{}

	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue
		}

		args := strings.Split(strings.TrimRight(string(content), "\x00"), "\x00")
		if !strings.HasPrefix(filepath.Base(args[0]), "ceph-") || !strings.Contains(strings.Join(args, " "), dir+"/") {
			continue
		}

		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			all[pid] = strings.Join(args, " ")
		}
	}

	return all
}

// CephDir is a folder for the clusters of a test. Its path is short, for the sockets below it.
// The test ends with its daemons, and the folder, whatever became of the test.
func CephDir(t *testing.T) string {
	t.Helper()
	realCeph(t)

	dir, err := os.MkdirTemp("/tmp", "m3c") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}

	// Daemons may run as another user.
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		end := time.Now().Add(30 * time.Second)
		for time.Now().Before(end) {
			left := CephDaemons(dir)
			if len(left) == 0 {
				break
			}

			for pid := range left {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}

			time.Sleep(50 * time.Millisecond) //nolint:forbidigo // the kernel says it to parents only
		}

		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})

	return dir
}
