// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onssh_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

const (
	visibleQuery = "nvidia-smi --query-gpu=gpu_uuid,pci.bus_id --format=csv,noheader,nounits"
	appsQuery    = "nvidia-smi --query-compute-apps=gpu_uuid,process_name --format=csv,noheader,nounits"
)

// What gpu-driver says of the kinds of hosts.
const (
	hostDriver      = "smi host\nmodule host\nloaded\n"
	containerDriver = "smi container\nmodule container\nloaded\n"
)

// host is a [remote.Host] that answers as it was told. A command is known by its line, a
// script by its name and parameters.
type host struct {
	facts   string // of gpu-driver
	answers map[string]remote.Result
	errs    map[string]error
	dynamic func(line string) (remote.Result, bool)

	mu    sync.Mutex
	lines []string
}

func (h *host) Name() string { return "root@node-0:22" }

func (h *host) Run(ctx context.Context, cmd remote.Command) (remote.Result, error) {
	line := strings.Join(cmd.Args, " ")
	if len(cmd.Args) == 0 {
		name, _, _ := strings.Cut(strings.TrimPrefix(cmd.Script, "# metal3: "), "\n")
		line = strings.Join(append([]string{name}, cmd.Params...), " ")
	}

	h.mu.Lock()
	defer h.mu.Unlock()

	if line != "gpu-driver" {
		h.lines = append(h.lines, line)
	}

	if err := ctx.Err(); err != nil {
		return remote.Result{}, err
	}

	if err := h.errs[line]; err != nil {
		return remote.Result{}, err
	}

	if res, ok := h.answers[line]; ok {
		return res, nil
	}

	if h.dynamic != nil {
		if res, ok := h.dynamic(line); ok {
			return res, nil
		}
	}

	if line == "gpu-driver" {
		return said(h.facts), nil
	}

	return remote.Result{Exit: 127}, nil
}

func (h *host) Open(context.Context, remote.Command) (remote.Session, error) {
	return nil, errors.New("no sessions")
}

func (h *host) ReadFile(context.Context, string) ([]byte, error) {
	return nil, errors.New("not asked for")
}

func (h *host) WriteFile(context.Context, string, []byte, string, fs.FileMode) error {
	return errors.New("not asked for")
}

func (h *host) Close() error { return nil }

func said(out string) remote.Result { return remote.Result{Stdout: []byte(out)} }

func failed(words string) remote.Result { return remote.Result{Stderr: []byte(words), Exit: 1} }
