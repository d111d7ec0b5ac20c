// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
)

const (
	uuid1 = "GPU-11111111-2222-4333-8444-555555555555"
	uuid2 = "GPU-22222222-2222-4333-8444-555555555555"
)

// notNormal are outputs of nvidia-smi when things are not normal, with the exit status that
// was reported for them.
var notNormal = map[string]struct {
	out  string
	exit int
}{
	"library fails":        {"Failed to initialize NVML: Unknown Error\n", 255},
	"library fails, calm":  {"Failed to initialize NVML: Unknown Error\n", 0},
	"versions differ":      {"Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n", 18},
	"driver not loaded":    {"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\n", 9},
	"a GPU is lost":        {"Unable to determine the device handle for GPU0000:1F:00.0: GPU is lost. Reboot the system to recover this GPU\n", 15},
	"one column":           {uuid1 + "\n", 0},
	"one column of two":    {uuid2 + ", 00000000:20:00.0\n" + uuid1 + "\n", 0},
	"nothing that is told": {"[Unknown Error], [N/A]\n", 0},
	"no devices, and more": {"No devices were found\nFailed to initialize NVML\n", 6},
}

func TestOGPU09_notNormal(t *testing.T) {
	t.Parallel()

	for name, c := range notNormal {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			quoted := strings.TrimSpace(strings.Split(strings.TrimPrefix(c.out, uuid2+", 00000000:20:00.0\n"), "\n")[0])
			ops := onssh.New(&host{facts: hostDriver, answers: map[string]remote.Result{
				visibleQuery: {Stdout: []byte(c.out), Exit: c.exit},
				appsQuery:    {Stdout: []byte(c.out), Exit: c.exit},
			}})

			got, err := ops.Visible(t.Context())
			if !errors.Is(err, gpu.ErrCommand) || len(got) > 0 || !strings.Contains(err.Error(), quoted) {
				t.Errorf("visible %v, error %v", got, err)
			}

			apps, err := ops.Apps(t.Context())
			if !errors.Is(err, gpu.ErrCommand) || len(apps) > 0 || !strings.Contains(err.Error(), quoted) {
				t.Errorf("apps %v, error %v", apps, err)
			}
		})
	}
}

func TestOGPU09_none(t *testing.T) {
	t.Parallel()

	for _, out := range []string{"No devices were found\n", "No devices were found", "no devices were found.\n"} {
		for _, exit := range []int{0, 1, 6, 255} {
			ops := onssh.New(&host{facts: hostDriver, answers: map[string]remote.Result{
				visibleQuery: {Stdout: []byte(out), Exit: exit}, appsQuery: {Stdout: []byte(out), Exit: exit},
				"nvidia-smi -i " + uuid1 + " -pm 0": {Stdout: []byte(out), Exit: exit}, "nvidia-smi -L": {Stdout: []byte(out), Exit: exit},
				"modprobe nvidia": {},
			}})

			visible, err := ops.Visible(t.Context())
			apps, err2 := ops.Apps(t.Context())

			if err := errors.Join(err, err2, ops.SetPersistence(t.Context(), gpu.GPU{UUID: uuid1}, false), ops.Init(t.Context())); err != nil || len(visible)+len(apps) > 0 {
				t.Errorf("%q with %d: %v, %v, error %v", out, exit, visible, apps, err)
			}
		}
	}
}

func TestOGPU09_visible(t *testing.T) {
	t.Parallel()

	for out, want := range map[string]gpu.GPU{
		uuid1 + ", 00000000:1F:00.0\n":            {UUID: uuid1, BusID: "0000:1f:00.0", Minor: -1},
		uuid1 + ",0000:1f:00.0":                   {UUID: uuid1, BusID: "0000:1f:00.0", Minor: -1},
		uuid1 + ", [N/A]\n":                       {UUID: uuid1, Minor: -1},
		"[Unknown Error], 00000000:1F:00.0\n":     {BusID: "0000:1f:00.0", Minor: -1},
		"N/A, 00000000:1F:00.0\n":                 {BusID: "0000:1f:00.0", Minor: -1},
		"GPU-????????-????, 00000000:1F:00.0\n":   {BusID: "0000:1f:00.0", Minor: -1},
		"\r\n" + uuid1 + ", 00010000:1F:00.0\r\n": {UUID: uuid1, BusID: "10000:1f:00.0", Minor: -1},
	} {
		got, err := onssh.ParseVisible(out)
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %+v, error %v", out, got, err)
		}
	}
}

func TestOGPU09_apps(t *testing.T) {
	t.Parallel()

	for out, want := range map[string][]gpu.App{
		uuid1 + ", /usr/bin/python3 train.py --lr=1,2,3\n":  {{UUID: uuid1, Name: "/usr/bin/python3 train.py --lr=1,2,3"}},
		uuid1 + ", a\n" + uuid2 + ", b\n":                   {{UUID: uuid1, Name: "a"}, {UUID: uuid2, Name: "b"}},
		uuid1 + ", [Not Found]\n":                           {{UUID: uuid1, Name: "a process without a name"}},
		uuid1 + ", [Not Supported], [N/A], [Unknown Error]": {{UUID: uuid1, Name: "a process without a name"}},
		"": nil,
	} {
		got, err := onssh.ParseApps(out)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %+v, error %v", out, got, err)
		}
	}

	if got, err := onssh.ParseApps("[N/A], python3\n"); !errors.Is(err, gpu.ErrCommand) {
		t.Errorf("%v, error %v: it may be any GPU's", got, err)
	}
}

// information is a file of /proc/driver/nvidia/gpus as drivers write it.
const information = `gpu 0000:1f:00.0
Model: 		 NVIDIA A100-SXM4-40GB
IRQ:   		 169
GPU UUID: 	 ` + uuid1 + `
Video BIOS: 	 92.00.45.00.03
Bus Type: 	 PCIe
DMA Size: 	 47 bits
DMA Mask: 	 0x7fffffffffff
Bus Location: 	 0000:1f:00.0
Device Minor: 	 3
GPU Firmware: 	 535.161.08
GPU Excluded:	 No
gpu 0000:20:00.0
Model: 		 Unknown
GPU UUID: 	 GPU-????????-????-????-????-????????????
Bus Location: 	 0000:20:00.0
Device Minor: 	 x
gpu nonsense
`

func TestParsePresent(t *testing.T) {
	t.Parallel()

	got := onssh.ParsePresent("stray: line\n" + information)
	want := []gpu.GPU{{UUID: uuid1, BusID: "0000:1f:00.0", Minor: 3}, {BusID: "0000:20:00.0", Minor: -1}, {Minor: -1}}

	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestParsePCI(t *testing.T) {
	t.Parallel()

	got := onssh.ParsePCI("0000:1f:00.0 0x10de 0x030200\n0000:1f:00.1 0x10de 0x040300\n0000:20:00.0 0x10de 0x030000\nx 0x10de 0x030000\n0000:21:00.0 0x10de\n")
	if !slices.Equal(got, []string{"0000:1f:00.0", "0000:20:00.0"}) {
		t.Errorf("%v", got)
	}
}

func TestParseDrain(t *testing.T) {
	t.Parallel()

	for out, want := range map[string]string{
		"Drain State: Not Draining\n":                                            "no",
		"Drain State: Draining\n":                                                "yes",
		"GPU 00000000:1F:00.0 Drain State: not draining\n":                       "no",
		"GPU 00000000:1F:00.0: drain state: DRAINING\n":                          "yes",
		"The current drain state of GPU 0000:1F:00.0 is: draining.\n":            "yes",
		"warning: x\nsettings for drain\nDrain State : Not Draining (removable)": "no",
		"": "error", "Drain State:\n": "error", "Failed to parse device\n": "error", "draining\n": "error",
	} {
		on, err := onssh.ParseDrain(out)

		got := map[bool]string{true: "yes", false: "no"}[on]
		if err != nil {
			got = "error"
		}

		if got != want {
			t.Errorf("%q: %s, error %v", out, got, err)
		}
	}
}

func TestParseHolders(t *testing.T) {
	t.Parallel()

	got, err := onssh.ParseHolders("4711 python3\n12 a b\n13\n")
	if want := []gpu.Process{{PID: 4711, Comm: "python3"}, {PID: 12, Comm: "a b"}, {PID: 13}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, error %v", got, err)
	}

	for _, out := range []string{"x y\n", "-1 a\n", "0 a\n", "99999999999999999999 a\n", "find: oops\n"} {
		if got, err := onssh.ParseHolders(out); !errors.Is(err, gpu.ErrCommand) {
			t.Errorf("%q: %v, error %v", out, got, err)
		}
	}
}

func TestParseModules(t *testing.T) {
	t.Parallel()

	got := onssh.ParseModules("Module                  Size  Used by\nnvidia_uvm           1540096  0\nnvidia 56623104 1 nvidia_uvm\nshort\n")
	if !got["nvidia_uvm"] || !got["nvidia"] || got["short"] || got["nvidia_drm"] {
		t.Errorf("%v", got)
	}
}

// FuzzParse feeds anything to all parsers: none may panic, and what they return is sane.
func FuzzParse(f *testing.F) {
	for _, c := range notNormal {
		f.Add(c.out)
	}

	for _, s := range []string{
		"No devices were found", uuid1 + ", 00000000:1F:00.0\n", uuid1 + ", [Not Supported], [N/A], [Unknown Error]",
		information, "0000:1f:00.0 0x10de 0x030200", "Drain State: Not Draining", "4711 python3", "smi host\nmodeset Y\n", "a 1 2", ",", "gpu \n:",
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		visible, err := onssh.ParseVisible(s)
		apps, err2 := onssh.ParseApps(s)
		holders, err3 := onssh.ParseHolders(s)
		_, err4 := onssh.ParseDrain(s)

		for _, err := range []error{err, err2, err3, err4} {
			if err != nil && (!errors.Is(err, gpu.ErrCommand) || len(err.Error()) > 2000 || !utf8.ValidString(err.Error())) {
				t.Errorf("error %v", err)
			}
		}

		for _, g := range append(visible, onssh.ParsePresent(s)...) {
			if strings.Contains(g.UUID, "?") || g.Minor < -1 {
				t.Errorf("GPU %+v", g)
			}
		}

		for _, a := range apps {
			if a.UUID == "" || a.Name == "" {
				t.Errorf("app %+v", a)
			}
		}

		for _, p := range holders {
			if p.PID <= 0 {
				t.Errorf("process %+v", p)
			}
		}

		for _, bus := range onssh.ParsePCI(s) {
			if again, ok := gpu.NormalBusID(bus); !ok || again != bus {
				t.Errorf("bus id %q", bus)
			}
		}

		onssh.ParseModules(s)
		onssh.ParseFacts(s)
	})
}
