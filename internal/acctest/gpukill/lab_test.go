// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package gpukill_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// What the fabric of these tests is like.
const (
	machines = 6
	devices  = 32
	kind     = "A100"
)

// far is a lab that runs in a process of its own. The test looks into its memory, which all
// processes share that know its file.
type far struct {
	*fabric.Service

	t        *testing.T
	endpoint string // http://127.0.0.1:port
}

// newFar starts a lab, in which an attach or a detach takes the given time; it ends with the test.
func newFar(t *testing.T, pause time.Duration) *far {
	t.Helper()

	dir := t.TempDir()
	said := &tfrun.Output{}

	cmd := exec.Command(labBinary(t), "-listen", "127.0.0.1:0", "-fabric", "127.0.0.1:0", "-dir", dir, //nolint:noctx // the test ends it
		"-n", fmt.Sprint(machines), "-first", "0", "-gpus", fmt.Sprintf("%s=%d", kind, devices),
		"-add-time", pause.String(), "-remove-time", pause.String())
	cmd.Stdout, cmd.Stderr = said, said

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})

	f := &far{t: t, Service: fabric.New(store.New(filepath.Join(dir, "lab.db")), fabric.Options{
		Options:  hardware.Options{GPUs: map[string]int{kind: devices}, AddTime: pause, RemoveTime: pause},
		Machines: machine.Options{Count: machines},
	})}

	at := regexp.MustCompile(` fabric=(127\.0\.0\.1:\d+) `)

	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if m := at.FindStringSubmatch(said.String()); m != nil {
			f.endpoint = "http://" + m[1]

			return f
		}
	}

	t.Fatalf("the lab did not start:\n%s", said)

	return nil
}

// effects counts what was done to the fabric.
func (f *far) effects(kind string) int {
	f.t.Helper()

	all, err := f.Effects()
	if err != nil {
		f.t.Fatal(err)
	}

	return len(slices.DeleteFunc(all, func(e hardware.Effect) bool { return e.Kind != kind }))
}

// on are the fabric's ids of what each machine has, sorted.
func (f *far) on() map[string][]string {
	f.t.Helper()

	all, err := f.Devices()
	if err != nil {
		f.t.Fatal(err)
	}

	out := map[string][]string{}

	for _, d := range all {
		if d.Machine != "" {
			out[d.Machine] = append(out[d.Machine], d.ID)
		}
	}

	for _, ids := range out {
		slices.Sort(ids)
	}

	return out
}
