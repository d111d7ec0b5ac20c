// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
)

// TestJournal_whoIsAlive: an order is somebody's as long as the process is at work that wrote
// it, and not as long as its number is taken.
func TestJournal_whoIsAlive(t *testing.T) {
	t.Parallel()

	if runtime.GOOS != "linux" {
		t.Skip("not here: the system does not tell when processes began")
	}

	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	began := device.ProcessBegan(cmd.Process.Pid)
	if began == "" {
		t.Fatal("nothing is known of a process that runs")
	}

	j := device.NewJournal(t.TempDir())

	for name, c := range map[string]struct {
		intent device.Intent
		want   bool
	}{
		"it runs": {device.Intent{PID: cmd.Process.Pid, Began: began}, true},
		"it runs, and nobody noted when it began": {device.Intent{PID: cmd.Process.Pid}, true},
		"another process has its number":          {device.Intent{PID: cmd.Process.Pid, Began: "1"}, false},
		"no process":                              {device.Intent{}, false},
	} {
		if got := j.Live(c.intent); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}

	// Nobody reaps it yet, so that its number stays taken.
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	dead := func() bool { return !j.Live(device.Intent{PID: cmd.Process.Pid, Began: began}) }
	for end := time.Now().Add(10 * time.Second); !dead() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}

	if !dead() {
		t.Error("a process that was killed and not reaped counts as alive")
	}

	_ = cmd.Wait() // it was killed
}

// TestJournal_notesWhoWrites: what is written says when the writer began.
func TestJournal_notesWhoWrites(t *testing.T) {
	t.Parallel()

	j := device.NewJournal(t.TempDir())
	if err := j.Put(device.Intent{ID: "1", Fabric: "f", Machine: "m", Type: "gpu", Model: "A100", PID: os.Getpid(), Run: "another"}); err != nil {
		t.Fatal(err)
	}

	all, err := j.Of("f", "m")
	if err != nil || len(all) != 1 || all[0].Began != device.ProcessBegan(os.Getpid()) {
		t.Errorf("%+v, %v", all, err)
	}
}
