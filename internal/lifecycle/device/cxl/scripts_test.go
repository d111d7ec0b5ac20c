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
		"drivers/kmem/module":    "\n",
		"root0/region0/resource": "0x4080000000\n", "root0/region1/resource": "0x9080000000\n", "nd/region7/resource": "0x9080000000\n",
		"nd/region7/namespace7.0/block/pmem7/size": "1\n", "nd/region7/namespace7.0/block/pmem7/holders/dm-0/x": "\n", "nd/region7/dax7.1/dax7.0/size": "1\n",
		"../../proc/11/comm": "qemu\n", "../../proc/11/maps": "7f00-7f01 rw-s 00000000 00:06 1 /dev/dax0.0\n",
		"../../proc/12/comm": "cat\n", "../../proc/12/maps": "7f00-7f01 rw-s 00000000 00:06 1 /dev/dax0.01\n",
		"../../proc/13/comm": "redis\n", "../../proc/13/maps": "\n", "../../proc/14/comm": "pg\n", "../../proc/14/maps": "\n",
		"../../proc/mounts": "/dev/sda1 / ext4 rw 0 0\n/dev/pmem7p1 /srv xfs rw 0 0\n/dev/pmem77 /other xfs rw 0 0\n",
		"../../proc/swaps":  "Filename Type\n/dev/pmem7 partition 1 0 -2\n",
	} {
		path := filepath.Join(devices, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for _, dir := range []string{bus, filepath.Join(root, "sys/bus/nd/devices"), filepath.Join(root, "proc/13/fd"), filepath.Join(root, "proc/14/fd")} {
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}

	for link, target := range map[string]string{
		filepath.Join(bus, "mem0"): "pci/mem0", filepath.Join(bus, "mem1"): "pci/mem1",
		filepath.Join(bus, "region0"): "root0/region0", filepath.Join(bus, "region1"): "root0/region1",
		filepath.Join(bus, "decoder5.0"): "root0/endpoint5/decoder5.0", filepath.Join(bus, "decoder6.0"): "root0/endpoint6/decoder6.0",
		filepath.Join(root, "sys/bus/nd/devices/region7"):                 "nd/region7",
		filepath.Join(root, "proc/13/fd/3"):                               "../../dev/dax0.1",
		filepath.Join(root, "proc/14/fd/4"):                               "../../dev/dax7.0",
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

			held := func(region string) string {
				if os.Getuid() != 0 {
					t.Skip("only root sees what others hold")
				}

				return run(cxl.ScriptHolders, region, root)
			}

			for _, c := range []struct{ got, want string }{
				{run(cxl.ScriptList, root), "mem0 0x1234 0x4000000000 0x0\nmem1 0x5678 - -\n"},
				{run(cxl.ScriptList, t.TempDir()), ""},
				{run(cxl.ScriptRegions, "mem0", root), "region region0 ram 0x4000000000 1\ndax dax0.0 region0 kmem\ndax dax0.1 region0 -\n"},
				{run(cxl.ScriptRegions, "mem1", root), ""},
				{run(cxl.ScriptRegions, "mem0", t.TempDir()), ""},
				{held("region0"), "dax0.0 11 qemu\ndax0.1 13 redis\n"},
				{held("region1"), "dax7.0 14 pg\npmem7 is part of dm-0\npmem7 mounted at /srv\npmem7 swapped to\n"},
				{held("region9"), ""},
			} {
				if c.got != c.want {
					t.Errorf("printed\n%s\nwant\n%s", c.got, c.want)
				}
			}
		})
	}
}
