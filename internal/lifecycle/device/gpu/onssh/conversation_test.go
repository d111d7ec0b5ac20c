// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device/gpu/onssh"
)

const second = "gpu 0000:20:00.0\nGPU UUID: " + uuid2 + "\nBus Location: 0000:20:00.0\nDevice Minor: 0\n"

// talk is a host with two GPUs, of which the first is idle.
func talk() *host {
	removed := false

	pci := "0000:20:00.0 0x10de 0x030200\n"
	first := "gpu 0000:1f:00.0\nGPU UUID: " + uuid1 + "\nBus Location: 0000:1f:00.0\nDevice Minor: 3\n"

	return &host{facts: hostDriver, dynamic: func(line string) (remote.Result, bool) {
		switch line {
		case "gpu-driver":
			return remote.Result{}, false
		case "gpu-present":
			if removed {
				return said(second), true
			}

			return said(first + second), true
		case "gpu-pci":
			if removed {
				return said(pci), true
			}

			return said("0000:1f:00.0 0x10de 0x030200\n" + pci), true
		case appsQuery:
			return said(uuid2 + ", /usr/bin/python3 train.py --lr=1,2,3\n"), true
		case "nvidia-smi -i " + uuid1 + " --query-gpu=persistence_mode --format=csv,noheader,nounits":
			return said("Enabled\n"), true
		case "nvidia-smi drain -p 0000:1F:00.0 -q":
			return said("Drain State: Not Draining\n"), true
		case "nvidia-smi drain -p 0000:1F:00.0 -r":
			removed = true
		}

		return said(""), true
	}}
}

// TestOGPU10_conversation shows a whole release, as the host hears it.
func TestOGPU10_conversation(t *testing.T) {
	t.Parallel()

	h := talk()
	ops := onssh.New(h)

	r, err := gpu.Release(t.Context(), ops, gpu.Target{ID: uuid1}, gpu.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := gpu.Finish(t.Context(), ops, r); err != nil {
		t.Fatal(err)
	}

	want := []string{
		"gpu-present",
		"nvidia-smi drain -p 0000:1F:00.0 -q",
		appsQuery,
		"nvidia-smi -i " + uuid1 + " --query-gpu=persistence_mode --format=csv,noheader,nounits",
		"nvidia-smi -i " + uuid1 + " -pm 0",
		"systemctl is-active nvidia-persistenced",
		"systemctl stop nvidia-persistenced",
		"nvidia-smi drain -p 0000:1F:00.0 -m 1",
		"gpu-holders /dev/nvidia3 3",
		"nvidia-smi drain -p 0000:1F:00.0 -r",
		"gpu-pci",
		"gpu-present",
		"systemctl start nvidia-persistenced",
		"device-file-remove 3",
	}
	if !slices.Equal(h.lines, want) {
		t.Errorf("ran\n%s\nwant\n%s", strings.Join(h.lines, "\n"), strings.Join(want, "\n"))
	}
}

// TestOGPU12_nothingIsDone: what cannot be reached for whatever reason is not changed, and
// only a host that does not answer counts as unreachable.
func TestOGPU12_nothingIsDone(t *testing.T) {
	t.Parallel()

	for kind, unreachable := range map[error]bool{
		remote.ErrUnreachable: true, remote.ErrLost: false, remote.ErrBastion: false, remote.ErrHandshake: false, remote.ErrRefused: false,
		remote.ErrHostKey: false, remote.ErrAuth: false, remote.ErrSudo: false, remote.ErrConfig: false,
	} {
		h := talk()
		h.errs = map[string]error{"gpu-present": kind}

		_, err := gpu.Release(t.Context(), onssh.New(h), gpu.Target{ID: uuid1}, gpu.Options{Force: true})
		if !errors.Is(err, kind) || errors.Is(err, gpu.ErrUnreachable) != unreachable || !slices.Equal(h.lines, []string{"gpu-present"}) {
			t.Errorf("%v: error %v, ran %q", kind, err, h.lines)
		}
	}
}
