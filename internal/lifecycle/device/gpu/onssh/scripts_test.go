// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package onssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/hostcmd"
)

// inShells runs a test with each POSIX shell of this machine. The scripts run for real,
// against a directory that is taken for the root of a host.
func inShells(t *testing.T, test func(r runner)) {
	t.Helper()

	ran := 0

	for i, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"bash"}, {"busybox", "sh"}, {"sh"}} {
		path, err := exec.LookPath(shell[0])
		if err != nil {
			continue
		}

		ran++

		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			t.Parallel()
			test(runner{t: t, shell: append([]string{path}, shell[1:]...), root: t.TempDir(), n: i})
		})
	}

	if ran == 0 {
		t.Skip("this machine has no shell")
	}
}

type runner struct {
	t     *testing.T
	shell []string
	root  string
	n     int    // of the shell, for names that must differ
	path  string // a directory before the others of PATH
}

// run runs a script with parameters.
func (r runner) run(script string, params ...string) (string, error) {
	r.t.Helper()

	args := slices.Concat(r.shell[1:], []string{"-c", script, "sh"}, params)
	cmd := exec.CommandContext(r.t.Context(), r.shell[0], args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "PATH="+r.path+":"+os.Getenv("PATH"))

	var stderr bytes.Buffer

	cmd.Stderr = &stderr

	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	} else if stderr.Len() > 0 {
		r.t.Errorf("words on standard error: %s", stderr.String())
	}

	return string(out), err
}

// must is run for scripts that have to work.
func (r runner) must(script string, params ...string) string {
	r.t.Helper()

	out, err := r.run(script, params...)
	if err != nil {
		r.t.Error(err)
	}

	return out
}

// file writes a file below the root.
func (r runner) file(path, text string, mode os.FileMode) string {
	r.t.Helper()

	path = filepath.Join(r.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		r.t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		r.t.Fatal(err)
	}

	return path
}

func (r runner) exists(path string) bool {
	_, err := os.Lstat(filepath.Join(r.root, path))

	return err == nil
}

func TestScriptDriver(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		r.path = filepath.Join(r.root, "fake")

		for tool, text := range map[string]string{
			"modinfo": "exit 1", "systemctl": "exit 1", "chroot": `[ "$1" = ` + r.root + `/run/nvidia/driver ] && [ "$2 $3" = "modinfo nvidia" ]`,
		} {
			r.file("fake/"+tool, "#!/bin/sh\n"+text+"\n", 0o700)
		}

		if out := r.must(onssh.ScriptDriver, r.root); out != "" {
			t.Errorf("a bare host has %q", out)
		}

		r.file("run/nvidia/driver/usr/bin/nvidia-smi", "", 0o700)

		if out := r.must(onssh.ScriptDriver, r.root); out != "smi container\nmodule container\n" {
			t.Errorf("a host with a driver container has %q", out)
		}

		r.file("usr/bin/nvidia-smi", "", 0o700)
		r.file("proc/driver/nvidia/version", "NVRM version\n", 0o600)
		r.file("proc/cpuinfo", "flags : fpu hypervisor lahf_lm\n", 0o600)
		r.file("sys/module/nvidia_drm/parameters/modeset", "Y\n", 0o600)
		r.file("fake/modinfo", "#!/bin/sh\n[ \"$1\" = nvidia ]\n", 0o700)
		r.file("fake/systemctl", "#!/bin/sh\n[ \"$*\" = 'is-enabled nvidia-persistenced' ] && echo enabled\n", 0o700)

		want := "smi host\nmodule host\nsmi container\nmodule container\nloaded\nmodeset Y\nhypervisor\npersistenced\n"
		if out := r.must(onssh.ScriptDriver, r.root); out != want {
			t.Errorf("a full host has %q", out)
		}
	})
}

func TestScriptPresent(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		if out := r.must(onssh.ScriptPresent, r.root); out != "" {
			t.Errorf("without a driver: %q", out)
		}

		r.file("proc/driver/nvidia/gpus/0000:1f:00.0/information", "GPU UUID: \t "+uuid1+"\nBus Location: \t 0000:1f:00.0\nDevice Minor: \t 3\n", 0o600)
		r.file("proc/driver/nvidia/gpus/0000:20:00.0/information", "GPU UUID: \t GPU-????????-????\nDevice Minor: \t 0\n", 0o600)

		got := onssh.ParsePresent(r.must(onssh.ScriptPresent, r.root))
		if want := []gpu.GPU{gpu1, {BusID: "0000:20:00.0", Minor: 0}}; !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	})
}

func TestScriptPCI(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		if out, err := r.run(onssh.ScriptPCI, r.root); err == nil {
			t.Errorf("%q: a host without sysfs must not look like one without GPUs", out)
		}

		for bus, ids := range map[string][2]string{
			"0000:00:00.0": {"0x8086", "0x060000"}, "0000:1f:00.0": {"0x10de", "0x030200"}, "0000:1f:00.1": {"0x10de", "0x040300"}, "0000:20:00.0": {"0x10de", "0x030000"},
		} {
			r.file("sys/bus/pci/devices/"+bus+"/vendor", ids[0]+"\n", 0o600)
			r.file("sys/bus/pci/devices/"+bus+"/class", ids[1]+"\n", 0o600)
		}

		if err := os.MkdirAll(filepath.Join(r.root, "sys/bus/pci/devices/0000:21:00.0"), 0o750); err != nil { // on its way out
			t.Fatal(err)
		}

		if err := errors.Join(
			os.MkdirAll(filepath.Join(r.root, "sys/bus/pci/drivers/vfio-pci"), 0o750),
			os.Symlink("../../drivers/vfio-pci", filepath.Join(r.root, "sys/bus/pci/devices/0000:20:00.0/driver")),
		); err != nil {
			t.Fatal(err)
		}

		out := r.must(onssh.ScriptPCI, r.root)
		if got := onssh.ParsePCI(out); !slices.Equal(got, []string{"0000:1f:00.0", "0000:20:00.0"}) {
			t.Errorf("%q gives %v", out, got)
		}

		for bus, want := range map[string]string{"0000:1f:00.0": "", "0000:20:00.0": "vfio-pci", "0000:21:00.0": ""} {
			if got := onssh.ParseForeign(out, bus); got != want {
				t.Errorf("the driver of %s is %q in %q", bus, got, out)
			}
		}
	})
}

// device makes a file for a device of the kernel's own (major 1), which needs root.
func (r runner) device(path string, minor int) string {
	r.t.Helper()

	path = filepath.Join(r.root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		r.t.Fatal(err)
	}

	err := syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|minor)
	if errors.Is(err, syscall.EPERM) {
		r.t.Skip("device files need root")
	}

	if err != nil {
		r.t.Fatal(err)
	}

	return path
}

// hold starts a process that holds a file, and returns its id.
func (r runner) hold(path string) int {
	r.t.Helper()

	f, err := os.Open(path)
	if errors.Is(err, os.ErrPermission) {
		r.t.Skip("device files cannot be opened in this directory (mounted nodev)")
	}

	if err != nil {
		r.t.Fatal(err)
	}

	defer f.Close()

	cmd := exec.CommandContext(r.t.Context(), "sleep", "600")
	cmd.ExtraFiles = []*os.File{f}

	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}

	r.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})

	// Until the program has started, the process has the name of this one.
	for range 500 {
		if comm, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", cmd.Process.Pid)); string(comm) == "sleep\n" {
			return cmd.Process.Pid
		}

		time.Sleep(10 * time.Millisecond)
	}

	r.t.Fatal("sleep does not start")

	return 0
}

// others are the holders that are not this test itself. It opens the files that it gives to others,
// and null and the like under the same numbers: what was a GPU when it was listed may be another
// file when it is looked at.
func others(out string) string {
	comm, _ := os.ReadFile("/proc/self/comm")

	var left strings.Builder

	for line := range strings.Lines(out) {
		if !strings.HasSuffix(line, " "+string(comm)) {
			left.WriteString(line)
		}
	}

	return left.String()
}

// TestOGPU10_scriptHolders finds those who hold a device, in containers too, and nobody else.
func TestOGPU10_scriptHolders(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		// Each shell has a device of its own (none of this machine: 1:3 and the like are
		// drivers of the kernel that anybody may open).
		minor := map[int]int{0: 3, 1: 5, 2: 7, 3: 8, 4: 9}[r.n] // null, zero, full, random, urandom
		name := "nvidia" + strconv.Itoa(minor)

		node := r.device("dev/"+name, minor)
		inContainer := r.device("container/dev/nvidia0", minor)
		other := r.device("dev/nvidia4", 11) // kmsg
		plain := r.file("tmp/"+name, "", 0o600)

		if out := others(r.must(onssh.ScriptHolders, node, strconv.Itoa(minor), r.root)); out != "" {
			t.Errorf("held by nobody: %q", out)
		}

		want := []gpu.Process{{PID: r.hold(node), Comm: "sleep"}, {PID: r.hold(inContainer), Comm: "sleep"}}
		r.hold(other)
		r.hold(plain)

		byPID := func(a, b gpu.Process) int { return a.PID - b.PID }
		slices.SortFunc(want, byPID)

		check := func(out string) {
			got, err := onssh.ParseHolders(others(out))
			slices.SortFunc(got, byPID)

			if err != nil || !slices.Equal(got, want) {
				t.Errorf("held by %v, error %v; want %v", got, err, want)
			}
		}

		check(r.must(onssh.ScriptHolders, node, strconv.Itoa(minor), r.root))

		// The host has no file of that name: the number is made of the driver's major.
		r.file("proc/devices", "Character devices:\n  1 nvidia-frontend\n195 other\n\nBlock devices:\n", 0o600)
		check(r.must(onssh.ScriptHolders, node+"-not-there", strconv.Itoa(minor), r.root))
	})
}

func TestScriptHolders_overTheLocalHost(t *testing.T) {
	t.Parallel()

	r := runner{t: t, root: t.TempDir()}
	node := r.device("dev/nvidia77", 11) // a number that no other test counts
	pid := r.hold(node)

	h, err := remote.New(remote.Config{Type: remote.Local})
	if err != nil {
		t.Fatal(err)
	}

	defer h.Close()

	res, err := h.Run(t.Context(), remote.Command{Script: onssh.ScriptHolders, Params: []string{node, "11"}})
	if want := fmt.Sprintf("%d sleep\n", pid); err != nil || res.Exit != 0 || !strings.Contains(string(res.Stdout), want) {
		t.Errorf("%s%s, exit status %d, error %v", res.Stdout, res.Stderr, res.Exit, err)
	}
}

func TestScriptRemove(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		bus := fmt.Sprintf("0000:a%d:00.0", r.n) // the writers are told apart by it
		dir := "sys/bus/pci/devices/" + bus

		if out := r.must(onssh.ScriptRemove, bus, r.root); out != "gone\n" {
			t.Errorf("not there: %q", out)
		}

		remove := r.file(dir+"/remove", "", 0o600)

		// The kernel of this host takes the write and does nothing.
		if out, err := r.settled(bus); err == nil || !strings.Contains(err.Error(), "still there") {
			t.Errorf("%q, error %v", out, err)
		}

		if text, err := os.ReadFile(remove); err != nil || string(text) != "1\n" {
			t.Errorf("written %q, error %v", text, err)
		}

		// It removes the device when it is written to.
		if err := os.Truncate(remove, 0); err != nil {
			t.Fatal(err)
		}

		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()

		go func() {
			for ctx.Err() == nil {
				if text, _ := os.ReadFile(remove); len(text) > 0 {
					_ = os.RemoveAll(filepath.Join(r.root, dir))

					return
				}

				time.Sleep(time.Millisecond)
			}
		}()

		if out, err := r.settled(bus); out != "gone\n" {
			t.Errorf("%q, error %v", out, err)
		}
	})
}

// settled removes a device until the script says how it went: on a slow machine the write
// may still be on its way.
func (r runner) settled(bus string) (out string, err error) {
	r.t.Helper()

	for range 100 {
		if out, err = r.run(onssh.ScriptRemove, bus, r.root); out != "running\n" {
			break
		}
	}

	return out, err
}

func TestScriptRemove_blocks(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		// a writer is found by its bus id among all processes of the machine: another run has others
		bus := fmt.Sprintf("%04x:b%d:00.0", os.Getpid()&0xffff, r.n)
		dir := filepath.Join(r.root, "sys/bus/pci/devices", bus)
		fifo := filepath.Join(dir, "remove")

		if err := errors.Join(os.MkdirAll(dir, 0o750), syscall.Mkfifo(fifo, 0o600)); err != nil {
			t.Fatal(err)
		}

		if out := r.must(onssh.ScriptRemoving, bus, r.root); out != "idle\n" {
			t.Errorf("before: %q", out)
		}

		for range 2 {
			start := time.Now()

			out := r.must(onssh.ScriptRemove, bus, r.root)
			if took := time.Since(start); out != "running\n" || took > 20*time.Second {
				t.Errorf("%q after %s", out, took)
			}
		}

		if out := r.must(onssh.ScriptRemoving, bus, r.root); out != "running\n" {
			t.Errorf("while it blocks: %q", out)
		}

		// The last user ends, and the one write goes through.
		// Without one, the reader must not wait for it.
		f, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}

		defer f.Close()

		if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}

		if text, err := io.ReadAll(f); err != nil || string(text) != "1\n" {
			t.Errorf("written %q, error %v: one writer is enough", text, err)
		}

		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}

		for _, script := range []string{onssh.ScriptRemove, onssh.ScriptRemoving} {
			if out := r.must(script, bus, r.root); out != "gone\n" {
				t.Errorf("%q", out)
			}
		}
	})
}

func TestScriptRescan(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		if _, err := r.run(hostcmd.Rescan, r.root); err == nil {
			t.Error("no sysfs, no error")
		}

		file := r.file("sys/bus/pci/rescan", "", 0o600)
		out := r.must(hostcmd.Rescan, r.root)

		if text, err := os.ReadFile(file); err != nil || string(text) != "1\n" || out != "" {
			t.Errorf("written %q, printed %q, error %v", text, out, err)
		}
	})
}

func TestScriptDeviceFile(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		for _, f := range []string{"dev/nvidia3", "dev/nvidia33", "run/nvidia/driver/dev/nvidia3", "dev/nvidiactl"} {
			r.file(f, "", 0o600)
		}

		info := r.file("proc/driver/nvidia/gpus/0000:1f:00.0/information", "Device Minor: \t 3\n", 0o600)
		r.file("proc/driver/nvidia/gpus/0000:20:00.0/information", "Device Minor: \t 33\n", 0o600)

		if out := r.must(onssh.ScriptDeviceFile, "3", r.root); out != "kept\n" || !r.exists("dev/nvidia3") {
			t.Errorf("%q", out)
		}

		if err := os.RemoveAll(filepath.Dir(info)); err != nil {
			t.Fatal(err)
		}

		for range 2 {
			if out := r.must(onssh.ScriptDeviceFile, "3", r.root); out != "removed\n" || r.exists("dev/nvidia3") || r.exists("run/nvidia/driver/dev/nvidia3") {
				t.Errorf("%q", out)
			}
		}

		if !r.exists("dev/nvidia33") || !r.exists("dev/nvidiactl") {
			t.Error("files of others are gone")
		}
	})
}

func TestScriptPersistenced(t *testing.T) {
	t.Parallel()
	inShells(t, func(r runner) {
		t := r.t

		for _, script := range []string{onssh.ScriptPersistenced, onssh.ScriptRuns} {
			if out := r.must(script, r.root); out != "none\n" {
				t.Errorf("%q", out)
			}
		}

		pidFile := r.file("run/nvidia-persistenced/nvidia-persistenced.pid", strconv.Itoa(os.Getpid()), 0o600)

		if out := r.must(onssh.ScriptRuns, r.root) + r.must(onssh.ScriptPersistenced, r.root); out != "none\nnone\n" {
			t.Errorf("%q: that process is another's", out)
		}

		sleep, err := exec.LookPath("sleep")
		if err != nil {
			t.Skip("no sleep")
		}

		program, err := os.ReadFile(sleep)
		if err != nil {
			t.Fatal(err)
		}

		cmd := exec.CommandContext(t.Context(), r.file("nvidia-persistenced", string(program), 0o700), "600")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}

		ended := make(chan struct{})
		go func() {
			defer close(ended)

			_ = cmd.Wait()
		}()

		if err := os.WriteFile(pidFile, []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}

		if out := r.must(onssh.ScriptRuns, r.root) + r.must(onssh.ScriptPersistenced, r.root); out != "running\nstopped\n" {
			t.Errorf("%q", out)
		}

		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Error("it still runs")
		}
	})
}
