// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package lab holds far sides that live inside the provider's process: an Ironic API, the
// Redfish BMCs of some machines and the machines' own systems over SSH, a fabric manager of
// composable devices, and an image server.
//
// They answer under the reserved names of the domain "lab" to whoever dials through
// [Lab.Transport] or [Lab.Dial], and to nobody else: nothing listens outside the process.
// Their memory is one file, which several processes may share (see package store).
package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/bmc"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/images"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/ironic"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// IronicHost is the name of the lab's Ironic, on ports 80 and 6385.
const IronicHost = "ironic.lab"

// Endpoint is the lab's Ironic as the ironic block of the provider would name it.
const Endpoint = "http://" + IronicHost + ":6385"

// FabricEndpoint is the lab's fabric manager as the fabric block of the provider would name it.
const FabricEndpoint = "http://" + fabric.Host

// fileName is the lab's memory in its directory.
const fileName = "lab.db"

// ErrNoHost says that a name is not one of the lab's.
var ErrNoHost = errors.New("the lab has no such host")

// Options says what a lab is like.
type Options struct {
	// Dir is where the lab keeps its memory; empty: in this process only.
	Dir string
	// Machines is how many there are; 0 means 8.
	Machines int
	// Pace is the unit in which Ironic's transitions take time; 0 means one second.
	Pace time.Duration
	// Trace is a file that gets a line for each request; empty: none.
	Trace string
	// Ironic says more about the lab's Ironic: its API version, above all. Pace and Machines
	// in it are taken from above.
	Ironic ironic.Options
	// GPUs is how many of each model the fabric's pool has; nil: four A100 and four L40S.
	GPUs map[string]int
	// Fabric says more about the lab's fabric. GPUs and Machines in it are taken from above. An
	// AddTime of 0 means two paces, a RemoveTime of 0 one; less than 0: no time at all.
	Fabric fabric.Options
	// Store is a memory to use instead of Dir's.
	Store *store.Store
}

// Lab is a set of far sides with a memory.
type Lab struct {
	Store  *store.Store
	Ironic *ironic.Service
	Fabric *fabric.Service

	faces  *bmc.Service
	images http.Handler
	trace  *tracer

	mu        sync.Mutex
	listeners map[string]*listener
	closed    bool
	ready     bool // machines and devices are there
	machines  machine.Options
	devices   hardware.Options
	transport *http.Transport
}

// Open returns a lab. Nothing is opened, created or listened on before the first request.
func Open(o Options) (*Lab, error) {
	st := o.Store

	switch {
	case st != nil:
	case o.Dir == "":
		st = store.New("")
	default:
		dir, err := filepath.Abs(o.Dir)
		if err != nil {
			return nil, fmt.Errorf("lab directory: %w", err)
		}

		st = store.New(filepath.Join(dir, fileName))
	}

	if o.Machines == 0 {
		o.Machines = machine.DefaultCount
	}

	if o.Pace == 0 {
		o.Pace = time.Second
	}

	o.Ironic.Pace = o.Pace
	o.Ironic.Machines = machine.Options{Count: o.Machines, PowerDelay: o.Pace / 4, BootDelay: o.Pace / 4}

	o.Fabric = fabricOptions(o)

	l := &Lab{
		Fabric: fabric.New(st, o.Fabric), devices: o.Fabric.Options,
		Store: st, Ironic: ironic.New(st, o.Ironic), images: images.Handler(), trace: newTracer(o.Trace),
		faces: bmc.New(st, bmc.Options{}), listeners: map[string]*listener{}, machines: o.Ironic.Machines,
	}
	l.transport = &http.Transport{DialContext: l.Dial, MaxIdleConnsPerHost: 64, IdleConnTimeout: 30 * time.Second}

	return l, nil
}

// fabricOptions are those of the fabric, with what it takes from the lab's.
func fabricOptions(o Options) fabric.Options {
	f := o.Fabric
	f.Machines = o.Ironic.Machines
	f.AddTime = max(cmp.Or(f.AddTime, 2*o.Pace), 0)
	f.RemoveTime = max(cmp.Or(f.RemoveTime, o.Pace), 0)

	if o.GPUs != nil {
		f.GPUs = o.GPUs
	}

	return f
}

// Transport returns the transport that knows the lab's hosts, and only them. It is shared: a
// client that closes its idle connections does no harm.
func (l *Lab) Transport() http.RoundTripper { return l.transport }

// Dial connects to a host of the lab. Any other name is refused with ErrNoHost.
func (l *Lab) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", addr, err)
	}

	serve, err := l.server(strings.ToLower(host), port)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "lab", Err: fmt.Errorf("%s: %w", addr, err)}
	}

	ln, err := l.listen(strings.ToLower(host)+":"+port, serve)
	if err != nil {
		return nil, err
	}

	return ln.dial(ctx)
}

// server makes who answers on a port of a host.
func (l *Lab) server(host, port string) (func() server, error) {
	if l.isMachine(host) && port == "22" {
		return l.ssh(host)
	}

	h, err := l.handler(host, port)
	if err != nil {
		return nil, err
	}

	return func() server { return webServer(l.trace.wrap(h)) }, nil
}

// handler is who answers on a port of a host that speaks HTTP.
func (l *Lab) handler(host, port string) (http.Handler, error) {
	switch {
	case host == IronicHost && (port == "80" || port == "6385"):
		return l.Ironic, nil
	case host == fabric.Host && port == "80":
		return l.Fabric, nil
	case host == images.Host && port == "80":
		return l.images, nil
	case l.isMachine(host) && port == "80":
		return l.faces.Handler(host), nil
	case host == IronicHost, host == fabric.Host, host == images.Host, l.isMachine(host):
		return nil, errors.New("connection refused")
	default:
		return nil, ErrNoHost
	}
}

func (l *Lab) isMachine(host string) bool {
	name, ok := machine.HostName(host)
	i, err := strconv.Atoi(strings.TrimPrefix(name, "node-"))

	return ok && err == nil && i >= 0 && i < l.machines.Count && name == machine.Name(i)
}

// listen returns the in-memory listener of an address, and starts it at first need.
func (l *Lab) listen(addr string, serve func() server) (*listener, error) {
	if err := l.ensure(); err != nil {
		return nil, err
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	if l.closed {
		return nil, net.ErrClosed
	}

	ln, ok := l.listeners[addr]
	if !ok {
		ln = newListener(addr, serve())
		l.listeners[addr] = ln
	}

	return ln, nil
}

// ensure makes machines and devices at the first need.
func (l *Lab) ensure() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.ready || l.closed {
		return nil
	}

	err := l.Store.Update(func(tx store.Tx) error { return hardware.Ensure(tx, l.devices, l.machines) })
	l.ready = err == nil

	return err
}

// Close ends the lab's listeners and connections. Its memory needs no closing.
func (l *Lab) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.closed = true

	var errs []error
	for _, ln := range l.listeners {
		errs = append(errs, ln.server.Close())
	}

	l.listeners = map[string]*listener{}
	l.transport.CloseIdleConnections()

	return errors.Join(errs...)
}
