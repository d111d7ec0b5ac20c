// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package cxl_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/cxl"
)

// tree makes a host's sysfs with two memory devices, of which the first serves a region, in
// the shape of the kernel's: what is on the bus are links.
func tree(t *testing.T) string {
	t.Helper()

	root := t.TempDir()
	bus := filepath.Join(root, "sys/bus/cxl/devices")
	devices := filepath.Join(root, "sys/devices")

	for file, text := range map[string]string{
		"pci/mem0/serial": "0x1234\n", "pci/mem0/ram/size": "0x4000000000\n", "pci/mem0/pmem/size": "0x0\n",
		"pci/mem1/serial":                 "0x5678\n",
		"root0/endpoint5/decoder5.0/mode": "ram\n", "root0/endpoint6/decoder6.0/mode": "ram\n",
		"root0/region0/target0": "decoder5.0\n", "root0/region0/mode": "ram\n", "root0/region0/size": "0x4000000000\n", "root0/region0/interleave_ways": "1\n",
		"root0/region0/dax_region0/dax0.0/size": "1\n", "root0/region0/dax_region0/dax0.1/size": "1\n",
		"root0/region1/target0": "\n", "root0/region1/mode": "ram\n",
		"drivers/kmem/module": "\n",
	} {
		path := filepath.Join(devices, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	if err := os.MkdirAll(bus, 0o750); err != nil {
		t.Fatal(err)
	}

	for link, target := range map[string]string{
		filepath.Join(bus, "mem0"): "pci/mem0", filepath.Join(bus, "mem1"): "pci/mem1",
		filepath.Join(bus, "region0"): "root0/region0", filepath.Join(bus, "region1"): "root0/region1",
		filepath.Join(bus, "decoder5.0"): "root0/endpoint5/decoder5.0", filepath.Join(bus, "decoder6.0"): "root0/endpoint6/decoder6.0",
		filepath.Join(devices, "root0/endpoint5/uport"):                   "pci/mem0",
		filepath.Join(devices, "root0/endpoint6/uport"):                   "pci/mem1",
		filepath.Join(devices, "root0/region0/dax_region0/dax0.0/driver"): "drivers/kmem",
	} {
		if err := os.Symlink(filepath.Join(devices, target), link); err != nil {
			t.Fatal(err)
		}
	}

	return root
}

func TestScripts(t *testing.T) {
	t.Parallel()

	for _, shell := range []string{"dash", "bash", "sh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()

			path, err := exec.LookPath(shell)
			if err != nil {
				t.Skip("this machine has no " + shell)
			}

			root := tree(t)
			run := func(script string, params ...string) string {
				cmd := exec.CommandContext(t.Context(), path, append([]string{"-c", script, "sh"}, params...)...)

				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%v: %s", err, out)
				}

				return string(out)
			}

			for _, c := range []struct{ got, want string }{
				{run(cxl.ScriptList, root), "mem0 0x1234 0x4000000000 0x0\nmem1 0x5678 - -\n"},
				{run(cxl.ScriptList, t.TempDir()), ""},
				{run(cxl.ScriptRegions, "mem0", root), "region region0 ram 0x4000000000 1\ndax dax0.0 region0 kmem\ndax dax0.1 region0 -\n"},
				{run(cxl.ScriptRegions, "mem1", root), ""},
				{run(cxl.ScriptRegions, "mem0", t.TempDir()), ""},
			} {
				if c.got != c.want {
					t.Errorf("printed\n%s\nwant\n%s", c.got, c.want)
				}
			}
		})
	}
}
