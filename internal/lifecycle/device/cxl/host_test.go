// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cxl_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

const (
	oneMemory = "mem0 0x1234 0x4000000000 0x0\n"
	oneRegion = "region region0 ram 0x4000000000 1\ndax dax0.0 region0 kmem\n"
)

// kernel is what a host's kernel made of one memory device: at most one region with one device.
type kernel struct {
	mem      string
	memOn    bool
	region   bool
	regionOn bool
	number   int // of the region
	next     int // of the one that is made anew
	driver   string
	policy   string // the driver of a new region's device
	online   bool
}

func (k *kernel) state() string {
	onOff := map[bool]string{true: "on", false: "off"}
	out := k.mem + " " + onOff[k.memOn]

	if k.region {
		out += fmt.Sprintf(", region%d %s ram", k.number, onOff[k.regionOn])
	}

	if k.region && k.regionOn {
		out += fmt.Sprintf(", dax%d.0 %s %sline", k.number, k.driver, onOff[k.online])
	}

	return out
}

func (k *kernel) regions() remote.Result {
	out := ""
	if k.region && k.memOn {
		out = fmt.Sprintf("region region%d ram 0x4000000000 1\n", k.number)
	}

	if out != "" && k.regionOn {
		driver := k.driver
		if driver == "" {
			driver = "-"
		}

		out += fmt.Sprintf("dax dax%d.0 region%d %s\n", k.number, k.number, driver)
	}

	return said(out)
}

// tool is cxl and daxctl: each command works where the step before it was done.
func (k *kernel) tool(line string) remote.Result {
	verb := strings.Fields(line)[1]

	ok := map[string]bool{
		"offline-memory": k.driver == "kmem", "disable-device": k.driver != "" && !k.online, "disable-region": k.driver == "",
		"destroy-region": k.region && !k.regionOn, "disable-memdev": !k.region,
		"enable-memdev": true, "create-region": k.memOn && !k.region, "enable-region": k.region, "enable-device": k.regionOn && k.driver == "",
		"online-memory": k.driver == "kmem",
	}
	if !ok[verb] {
		return remote.Result{Exit: 1, Stderr: []byte(line + ": not now: " + k.state())}
	}

	switch verb {
	case "offline-memory", "online-memory":
		k.online = verb == "online-memory"
	case "disable-device":
		k.driver = ""
	case "enable-device":
		k.driver = "kmem"
	case "disable-region":
		k.regionOn = false
	case "enable-region":
		k.regionOn = true
	case "destroy-region":
		k.region = false
	case "create-region":
		k.region, k.regionOn, k.number, k.driver, k.online = true, true, k.next, k.policy, false
	case "disable-memdev", "enable-memdev":
		k.memOn = verb == "enable-memdev"
	}

	return remote.Result{}
}

// host is a [remote.Host] with such a kernel, unless it was told other answers.
type host struct {
	kernel  kernel
	answers map[string]remote.Result
	errs    map[string]error
	does    bool // what ends with an error of errs is done all the same
	hook    func(line string)

	mu    sync.Mutex
	lines []string // of cxl and daxctl
}

func newHost() *host {
	k := kernel{mem: "mem0", memOn: true, region: true, regionOn: true, driver: "kmem", policy: "kmem", online: true}

	return &host{kernel: k, answers: map[string]remote.Result{"cxl-list": said(oneMemory)}, errs: map[string]error{}}
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

	if h.hook != nil {
		h.hook(line)
	}

	if len(cmd.Args) > 0 || line == "pci-rescan" {
		h.lines = append(h.lines, line)
	}

	if err := h.errs[line]; err != nil {
		if h.does {
			h.kernel.tool(line)
		}

		return remote.Result{}, err
	}

	if err := ctx.Err(); err != nil {
		return remote.Result{}, err
	}

	if res, ok := h.answers[line]; ok {
		return res, nil
	}

	switch {
	case len(cmd.Args) > 0:
		return h.kernel.tool(line), nil
	case line == "cxl-regions "+h.kernel.mem:
		return h.kernel.regions(), nil
	default:
		return remote.Result{}, nil
	}
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
