// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/agent"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

// passwordVariable keeps the BMCs' password off the command line.
const passwordVariable = "METAL3_LAB_PASSWORD" //nolint:gosec // the name of a variable

var errLoopback = errors.New("must be a port on a loopback address: the lab is open to whoever reaches it")

type options struct {
	listen, ironic, fabric, ssh, dir string
	cert, key                        string
	pace                             time.Duration
	machines                         machine.Options
	devices                          hardware.Options
	agents                           agent.Options
	bmcs                             bmc.Options
}

func parse(args []string) (options, error) {
	var o options

	f := flag.NewFlagSet("metal3-lab", flag.ContinueOnError)
	f.StringVar(&o.listen, "listen", "127.0.0.1:8000", "`address` of the BMCs and of /sim/")
	f.StringVar(&o.ironic, "ironic", "", "`address` of the lab's own Ironic; empty: none")
	f.StringVar(&o.fabric, "fabric", "", "`address` of the lab's fabric manager; empty: none")
	f.StringVar(&o.ssh, "ssh", "", "`address` of the first machine's SSH server, the next one's port is one more; empty: none")
	f.Func("gpus", "`models` of the fabric's pool and how many of each: A100=4,L40S=4", func(text string) (err error) {
		o.devices.GPUs, err = pool(text)

		return err
	})
	f.DurationVar(&o.devices.AddTime, "add-time", time.Second, "`time` that attaching a device takes")
	f.DurationVar(&o.devices.RemoveTime, "remove-time", time.Second, "`time` that detaching a device takes")
	f.DurationVar(&o.pace, "pace", time.Second, "unit of time of the lab's own Ironic")
	f.StringVar(&o.dir, "dir", "", "`directory` that keeps the memory over a restart; empty: none does")
	f.StringVar(&o.cert, "cert", "", "TLS certificate `file` of the BMCs (with -key)")
	f.StringVar(&o.key, "key", "", "TLS key `file`")
	f.IntVar(&o.machines.Count, "n", machine.DefaultCount, "`number` of machines")
	f.IntVar(&o.machines.First, "first", 1, "`index` of the first machine: node-1")
	f.StringVar(&o.machines.Username, "user", "admin", "user name of the BMCs; empty: no authentication")
	f.StringVar(&o.machines.Password, "pass", "", "password of the BMCs; empty: $"+passwordVariable+", else \"password\"")
	f.DurationVar(&o.machines.PowerDelay, "power-delay", 300*time.Millisecond, "`time` that a power change takes")
	f.DurationVar(&o.machines.BootDelay, "boot-delay", 500*time.Millisecond, "`time` from power on to the agent's first call")
	f.IntVar(&o.bmcs.Sessions, "sessions", 0, "`number` of sessions that the BMCs allow at once; 0: no limit")
	f.StringVar(&o.agents.Netboot, "netboot", "", "base `URL` of Ironic's http_root, for network boots")
	f.DurationVar(&o.agents.Heartbeat, "heartbeat", 2*time.Second, "`time` between heartbeats")
	f.DurationVar(&o.agents.StepDelay, "step-delay", 300*time.Millisecond, "`time` that an asynchronous agent command takes")

	if err := f.Parse(args); err != nil {
		return o, err
	}

	o.machines.NoAuth = o.machines.Username == ""

	if o.machines.Password == "" {
		o.machines.Password = os.Getenv(passwordVariable)
	}

	if o.machines.Password == "" {
		o.machines.Password = "password"
	}

	return o, errors.Join(loopback("listen", o.listen), loopback("ironic", o.ironic), loopback("fabric", o.fabric), loopback("ssh", o.ssh))
}

// pool reads how many devices of each model there are.
func pool(text string) (map[string]int, error) {
	all := map[string]int{}

	for part := range strings.SplitSeq(text, ",") {
		model, count, _ := strings.Cut(part, "=")

		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || model == "" {
			return nil, fmt.Errorf("%q is no model with a number", part)
		}

		all[model] = n
	}

	return all, nil
}

// loopback checks the address of an option; an empty one listens nowhere.
func loopback(option, address string) error {
	if address == "" && option != "listen" {
		return nil
	}

	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("-%s: %q: %w", option, address, errLoopback)
	}

	return nil
}
