// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package device_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/device"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/wait"
)

// pool is a fabric in memory that keeps its promises badly, in virtual time: what is ordered
// happens now, later or never, and what is answered has little to do with it.
type pool struct {
	mu       sync.Mutex
	devices  []*slot
	machines []string
	caps     fabric.Caps
	health   fabric.Health // of devices that come
	power    fabric.Power
	state    fabric.State // of all machines

	// onAttach and onDetach say what becomes of an order; nil: it is carried out and answered.
	onAttach func(machine string, n int) fate
	onDetach func(machine string, n int) fate
	lostRead func() bool
	// unreadable is a machine that is answered by a gateway.
	unreadable string
	oneKey     bool          // orders of all machines share a lock
	slow       time.Duration // of each read
	late       bool          // what is on its way is shown as free until it has come
	dead       bool          // the process that asks was killed: nothing more happens

	attaches, detaches, reads int
	run                       int // the one that asks now
	overlaps                  int // orders of one run for one machine, under way at the same time
}

// slot is a device of the pool, and where it will be when.
type slot struct {
	fabric.Device

	at      time.Time // when it moves
	next    string    // the machine that it moves to
	moving  bool
	quietly bool // the machine does not look busy meanwhile
	foreign bool
	run     int // that ordered it
}

// fate is what becomes of an order.
type fate struct {
	never   bool
	after   time.Duration // until it is carried out
	quietly bool          // the machine does not look busy meanwhile
	err     error         // that is answered; nil: yes
	kill    bool          // and then the asking process dies
	then    func(p *pool) // happens with it
}

func newPool(machines, gpus int) *pool {
	p := &pool{health: fabric.HealthOK, power: fabric.PowerOn}
	p.caps = fabric.Caps{ReportsSerial: true, ReportsHealth: true, Types: []string{"gpu"}}

	for i := range machines {
		p.machines = append(p.machines, fmt.Sprintf("m%d", i))
	}

	for i := range gpus {
		p.devices = append(p.devices, &slot{Device: fabric.Device{
			FabricID: fmt.Sprintf("u%02d", i), DeviceID: fmt.Sprintf("GPU-%02d", i), Type: "gpu", Model: "A100",
		}})
	}

	return p
}

var errDead = errors.New("the process is dead")

func (p *pool) Endpoint() string { return "https://fabric.test" }
func (p *pool) LockKey(machine string) string {
	if p.oneKey {
		return "all"
	}

	return machine
}

func (p *pool) Caps() fabric.Caps { return p.caps }
func (p *pool) lock() func()      { p.mu.Lock(); p.settle(); return p.mu.Unlock }
func (p *pool) Machines(context.Context) ([]fabric.Machine, error) {
	return nil, errors.New("not asked here")
}

// settle lets what is due happen.
func (p *pool) settle() {
	for _, s := range p.devices {
		if s.moving && !time.Now().Before(s.at) {
			s.MachineID, s.moving = s.next, false
		}
	}
}

func (p *pool) Machine(_ context.Context, id string) (fabric.Machine, error) {
	time.Sleep(p.slow)

	defer p.lock()()

	p.reads++

	switch {
	case p.dead:
		return fabric.Machine{}, errDead
	case p.lostRead != nil && p.lostRead():
		return fabric.Machine{}, wait.Transient(errors.New("the answer was lost"))
	case p.unreadable == id:
		return fabric.Machine{}, wait.Transient(&fabric.Error{Op: "read", Kind: fabric.ErrUnknown, Status: 504})
	case !slices.Contains(p.machines, id):
		return fabric.Machine{}, &fabric.Error{Op: "read", Kind: fabric.ErrNotFound, Status: 404}
	}

	m := fabric.Machine{ID: id, Status: "13 ACTIVE_PON", State: p.state, Power: p.power, Devices: make([]fabric.Device, 0, len(p.devices))}

	for _, s := range p.devices {
		if s.MachineID == id {
			d := s.Device
			if d.Health == fabric.HealthUnknown {
				d.Health, d.HealthRaw = p.health, p.health.String()
			}

			m.Devices = append(m.Devices, d)
		}

		if s.moving && !s.quietly && (s.next == id || s.MachineID == id) {
			m.State, m.Status = fabric.Busy, "20 ADDING_RESOURCE"
		}
	}

	return m, nil
}

func (p *pool) Free(_ context.Context, _, typ, model string) (fabric.FreeInfo, error) {
	defer p.lock()()

	if p.dead {
		return fabric.FreeInfo{}, errDead
	}

	f := fabric.FreeInfo{Known: true, FabricID: "f"}

	for _, s := range p.devices {
		if s.MachineID == "" && (!s.moving || p.late) && s.Is(typ, model) {
			f.Count++

			if p.caps.PicksDevice {
				f.Devices = append(f.Devices, s.Device)
			}
		}
	}

	return f, nil
}

func (p *pool) Attach(_ context.Context, machine string, want fabric.Want) (fabric.Hint, error) {
	defer p.lock()()

	if p.dead {
		return fabric.Hint{}, errDead
	}

	p.attaches++

	var f fate
	if p.onAttach != nil {
		f = p.onAttach(machine, p.attaches)
	}

	return p.carryOut(machine, machine, f, func(s *slot) bool {
		return s.MachineID == "" && !s.moving && s.Is(want.Type, want.Model) && (want.Device.FabricID == "" || want.Device.FabricID == s.FabricID)
	})
}

func (p *pool) Detach(_ context.Context, machine string, dev fabric.Device) (fabric.Hint, error) {
	defer p.lock()()

	if p.dead {
		return fabric.Hint{}, errDead
	}

	p.detaches++

	var f fate
	if p.onDetach != nil {
		f = p.onDetach(machine, p.detaches)
	}

	return p.carryOut(machine, "", f, func(s *slot) bool { return s.MachineID == machine && !s.moving && s.FabricID == dev.FabricID })
}

// carryOut lets an order have its fate.
func (p *pool) carryOut(machine, to string, f fate, pick func(*slot) bool) (fabric.Hint, error) {
	for _, s := range p.devices {
		if s.moving && s.run == p.run && (s.next == machine || s.MachineID == machine) {
			p.overlaps++
		}
	}

	if f.kill {
		p.dead = true
	}

	var hint fabric.Hint

	if !f.never {
		i := slices.IndexFunc(p.devices, pick)
		if i < 0 && f.err == nil {
			return hint, &fabric.Error{Op: "order", Kind: fabric.ErrCapacity, Status: 404}
		}

		if i >= 0 {
			s := p.devices[i]
			s.next, s.at, s.moving, s.quietly, s.run = to, time.Now().Add(f.after), true, f.quietly, p.run
			p.settle()

			hint.Devices = []fabric.Device{s.Device}
		}
	}

	if f.then != nil {
		f.then(p)
	}

	if f.err != nil {
		return fabric.Hint{}, f.err
	}

	return hint, nil
}

// put places a device of somebody else on the first machine.
func (p *pool) put(id string) {
	for _, s := range p.devices {
		if s.FabricID == id {
			s.MachineID, s.foreign, s.moving = p.machines[0], true, false
		}
	}
}

// on lists the fabric ids of the devices on a machine that nobody else put there.
func (p *pool) on(machine string) []string {
	defer p.lock()()

	var out []string

	for _, s := range p.devices {
		if s.MachineID == machine && !s.foreign {
			out = append(out, s.FabricID)
		}
	}

	return out
}

// lost is the error of an order whose answer never came.
func lost() error {
	return &fabric.Error{Op: "order", Kind: fabric.ErrUnknown, Message: "connection lost"}
}

func busy() error {
	return wait.Transient(&fabric.Error{Op: "order", Kind: fabric.ErrBusy, Status: 409})
}

// journal is a journal in memory that several runs share.
type journal struct {
	*shared

	run  string
	dead func() bool
}

type shared struct {
	mu  sync.Mutex
	all map[string]device.Intent
}

func newShared() *shared { return &shared{all: map[string]device.Intent{}} }

func (j journal) Run() string             { return j.run }
func (j journal) Live(device.Intent) bool { return false }

func (j journal) Put(i device.Intent) error {
	if j.dead != nil && j.dead() {
		return errDead
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	j.all[i.ID] = i

	return nil
}

func (j journal) Drop(id string) error {
	if j.dead != nil && j.dead() {
		return errDead
	}

	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.all, id)

	return nil
}

func (j journal) Of(fabric, machine string) ([]device.Intent, error) {
	j.mu.Lock()
	defer j.mu.Unlock()

	var out []device.Intent

	for _, i := range j.all {
		if i.Fabric == fabric && i.Machine == machine {
			out = append(out, i)
		}
	}

	slices.SortFunc(out, func(a, b device.Intent) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}

		return strings.Compare(a.ID, b.ID)
	})

	return out, nil
}

// wants is a usual wish: n GPUs on the given machines.
func wants(n int, machines ...string) device.Wanted {
	w := device.Wanted{
		ID: "r1", Type: "gpu", Model: "A100", Size: n, Policy: device.SameNode, DriverCheck: true, WaitVisible: true,
		SkipDrain: device.SkipNever, Existing: device.ExistingError, OnPartial: device.PartialRollback, OnUnhealthy: device.UnhealthyDetach,
		Limits: device.DefaultLimits,
	}

	for _, m := range machines {
		w.Hosts = append(w.Hosts, device.Host{MachineID: m, Name: "host-" + m})
	}

	return w
}

// chance is true with a probability.
func chance(r *rand.Rand, p float64) bool { return r.Float64() < p }
