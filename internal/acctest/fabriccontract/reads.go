// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package fabriccontract

import (
	"slices"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab"
	labfabric "github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
)

func reads() map[string]func(*rig) {
	return map[string]func(*rig){
		"nobody is called before the first question":              silent,
		"a machine is read with its devices":                      readMachine,
		"a machine is found whatever the case of its id":          foldedID,
		"the list of machines says what each says alone":          listMachines,
		"a machine that is not there is not found":                unknownMachine,
		"free devices are counted":                                freeDevices,
		"a model that nobody has is told apart (O-GPU-06)":        unknownModel,
		"health as the manager sees it (O-GPU-01)":                health,
		"the id that the operating system shows (O-GPU-04)":       osID,
		"a read of a machine costs few requests":                  readCost,
		"devices that somebody else attached are seen (O-GPU-03)": foreignDevice,
		"CXL memory is a device like others":                      cxlMemory,
		"power is seen":                                           power,
		"the endpoint and the lock are named without asking":      names,
		"a read that fails for the moment is repeated (O-GPU-07)": repeatedRead,
	}
}

func silent(r *rig) {
	if n := len(r.far.Requests()); n != 0 {
		r.Errorf("%d requests", n)
	}
}

func readMachine(r *rig) {
	first := r.attach(1, model)
	second := r.attach(1, other)
	m := r.read(1)

	if !strings.EqualFold(m.ID, id(1)) || m.State != fabric.Ready {
		r.Errorf("the machine is %+v", m)
	}

	for _, d := range []fabric.Device{first, second} {
		got, ok := m.Find(d)
		if !ok || got.Type != gpu || got.Health != fabric.HealthOK || got.Phase != fabric.Attached || !strings.EqualFold(got.MachineID, id(1)) {
			r.Errorf("the device is %+v", got)
		}
	}

	if first.Model != model || second.Model != other {
		r.Errorf("models %s and %s", first.Model, second.Model)
	}

	r.agree(1, m)
	r.sound()
}

func foldedID(r *rig) {
	m, err := r.f.Machine(r.Context(), strings.ToUpper(id(1)))
	if err != nil || !strings.EqualFold(m.ID, id(1)) {
		r.Errorf("got %+v, %v", m, err)
	}
}

func listMachines(r *rig) {
	r.attach(0, model)
	r.attach(2, model)

	first, err := r.f.Machines(r.Context())
	if err != nil || len(first) != 3 {
		r.Fatalf("%d machines, %v", len(first), err)
	}

	again, err := r.f.Machines(r.Context())
	if err != nil {
		r.Fatal(err)
	}

	for i, m := range first {
		alone := r.read(i)
		if !strings.EqualFold(m.ID, id(i)) || again[i].ID != m.ID {
			r.Errorf("machine %d of the list is %s, and then %s", i, m.ID, again[i].ID)
		}

		if !slices.Equal(m.Devices, alone.Devices) || m.FabricID != alone.FabricID || m.State != alone.State || m.Name != alone.Name {
			r.Errorf("in the list %+v, alone %+v", m, alone)
		}
	}
}

func unknownMachine(r *rig) {
	const none = "6d6f636b-9999-4000-8000-000000000000"

	_, err := r.f.Machine(r.Context(), none)
	r.fails("read", err, fabric.ErrNotFound)

	w, _, err := r.want(r.Context(), 0, model)
	if err != nil {
		r.Fatal(err)
	}

	_, err = r.f.Attach(r.Context(), none, w)
	r.fails("attach", err, fabric.ErrNotFound)

	_, err = r.f.Detach(r.Context(), none, fabric.Device{FabricID: "x", DeviceID: "x", Type: gpu, Model: model})
	r.fails("detach", err, fabric.ErrNotFound, fabric.ErrRefused)

	if n := len(r.effects()); n != 0 {
		r.Errorf("%d effects", n)
	}
}

func freeDevices(r *rig) {
	count := func() int {
		info, err := r.f.Free(r.Context(), id(0), gpu, model)
		if err != nil || !info.Known {
			r.Fatalf("free: %+v, %v", info, err)
		}

		if r.f.Caps().PicksDevice && len(info.Devices) != info.Count {
			r.Errorf("%d devices of %d", len(info.Devices), info.Count)
		}

		for i, d := range info.Devices {
			if d.Model != model || d.FabricID == "" || d.MachineID != "" || i > 0 && info.Devices[i-1].FabricID == d.FabricID {
				r.Errorf("a free device is %+v", d)
			}
		}

		again, err := r.f.Free(r.Context(), id(0), gpu, model)
		if err != nil || !slices.Equal(again.Devices, info.Devices) {
			r.Errorf("the order is another one at the next look: %v %v, %v", info.Devices, again.Devices, err)
		}

		return info.Count
	}

	before := count()
	r.attach(0, model)

	if after := count(); after != before-1 {
		r.Errorf("%d free before an attach, and %d after it", before, after)
	}
}

func unknownModel(r *rig) {
	const none = "A100 40G"

	info, err := r.f.Free(r.Context(), id(0), gpu, none)
	if err != nil || info.Count != 0 || len(info.Devices) != 0 {
		r.Errorf("free: %+v, %v", info, err)
	}

	if len(info.Models) > 0 && !slices.Contains(info.Models, model) {
		r.Errorf("the models are %v", info.Models)
	}

	if r.f.Caps().PicksDevice {
		return // nothing to choose, so there is no order
	}

	_, err = r.f.Attach(r.Context(), id(0), fabric.Want{Type: gpu, Model: none, Count: 1})
	r.fails("attach", err, fabric.ErrRefused, fabric.ErrCapacity)

	if n := len(r.effects()); n != 0 {
		r.Errorf("%d effects", n)
	}
}

func health(r *rig) {
	r.attach(0, model)

	for status, want := range map[string]fabric.Health{
		"0": fabric.HealthOK, "1": fabric.HealthWarning, "2": fabric.HealthCritical, "": fabric.HealthUnknown, "9": fabric.HealthUnknown,
	} {
		r.edit(model, func(d *hardware.Device) { d.OpStatus = status })

		if d := r.read(0).Devices[0]; d.Health != want {
			r.Errorf("with the status %q the health is %s (%q)", status, d.Health, d.HealthRaw)
		}
	}
}

func osID(r *rig) {
	d := r.attach(0, model)
	h := r.on(0)[0]

	if !same(d, h) || fabric.SameID(d.FabricID, h.Serial) {
		r.Errorf("the fabric's id is %s, want %s", d.FabricID, h.ID)
	}

	if (d.DeviceID != "" || r.f.Caps().ReportsSerial) && !fabric.SameID(d.DeviceID, h.Serial) {
		r.Errorf("the operating system's id is %q, want %s", d.DeviceID, h.Serial)
	}

	// Nobody knows it: no other id takes its place.
	r.edit(model, func(d *hardware.Device) { d.Serial = "" })

	if d := r.read(0).Devices[0]; d.DeviceID != "" || !same(d, h) {
		r.Errorf("without an id it is %+v", d)
	}
}

func readCost(r *rig) {
	for n := range 3 {
		r.read(0)

		mark := r.far.Mark()
		r.read(0)

		if got, most := len(r.far.Since(mark)), r.ReadCost(n); got > most {
			r.Errorf("%d requests for a machine with %d devices, want at most %d", got, n, most)
		}

		r.attach(0, model)
	}

	mark := r.far.Mark()
	if _, err := r.f.Machines(r.Context()); err != nil {
		r.Fatal(err)
	}

	if got, most := len(r.far.Since(mark)), 3+r.ReadCost(3)+2*r.ReadCost(0); got > most {
		r.Errorf("%d requests for all machines, want at most %d", got, most)
	}
}

func foreignDevice(r *rig) {
	r.attach(0, model)
	r.foreign(0, model, 0)
	r.agree(0, r.until(0, 2))
}

func cxlMemory(r *rig) {
	if !slices.Contains(r.f.Caps().Types, "cxlmemory") {
		r.Skip("the manager knows no CXL memory")
	}

	w := fabric.Want{Type: "cxlmemory", Model: "CXL-64G", Count: 1}

	free, err := r.f.Free(r.Context(), id(0), w.Type, w.Model)
	if err != nil || free.Count == 0 {
		r.Fatalf("free: %+v, %v", free, err)
	}

	if len(free.Devices) > 0 {
		w.Device = free.Devices[0]
	}

	if _, err := r.f.Attach(r.Context(), id(0), w); err != nil {
		r.Fatal(err)
	}

	m := r.until(0, 1)
	r.agree(0, m)

	if _, err := r.f.Detach(r.Context(), id(0), m.Devices[0]); err != nil {
		r.Fatal(err)
	}

	r.until(0, 0)
}

func power(r *rig) {
	for _, kind := range []string{"On", "ForceOff"} {
		if err := r.far.Change(powered(1, kind)); err != nil {
			r.Fatal(err)
		}

		want := map[string]fabric.Power{"On": fabric.PowerOn, "ForceOff": fabric.PowerOff}[kind]
		if m := r.read(1); m.Power != want && m.Power != fabric.PowerUnknown { // CM does not tell
			r.Errorf("after %s the machine is %s", kind, m.Power)
		}
	}
}

func names(r *rig) {
	if fabric.Address(r.f.Endpoint()) != lab.FabricEndpoint {
		r.Errorf("the address of %s is %s", r.f.Endpoint(), fabric.Address(r.f.Endpoint()))
	}

	if r.f.Endpoint() == "" || r.f.LockKey(id(0)) == "" || r.f.LockKey(id(0)) != r.f.LockKey(strings.ToUpper(id(0))) {
		r.Errorf("%q, %q, %q", r.f.Endpoint(), r.f.LockKey(id(0)), r.f.LockKey(strings.ToUpper(id(0))))
	}

	if n := len(r.far.Requests()); n != 0 {
		r.Errorf("%d requests", n)
	}
}

func repeatedRead(r *rig) {
	r.far.Inject(labfabric.Overloaded(r.Reads, 1, 1))

	if _, err := r.f.Machine(r.Context(), machine.ID(0)); err != nil {
		r.Errorf("after one answer 503: %v", err)
	}
}
