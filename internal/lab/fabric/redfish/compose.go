// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
)

// change is what a machine gets and loses by one order.
type change struct {
	m           hardware.Machine
	add, remove []hardware.Device
}

// act does an action of a system.
func (c *call) act() (answer, error) {
	path, name, _ := strings.Cut(c.path, "/Actions/")
	adds := name == "ComputerSystem.AddResourceBlock"

	m, ok := c.machineOf(strings.TrimPrefix(path, systemsPath+"/"))
	if !ok || c.o.Zones || c.o.NoActions || !adds && name != "ComputerSystem.RemoveResourceBlock" {
		return notFound(c.path), nil
	}

	o, err := decodeBlockOrder(c.body)

	switch {
	case errors.Is(err, errMalformed):
		return bad("MalformedJSON", err.Error()), nil
	case err != nil:
		return bad("ActionParameterValueError", err.Error()), nil
	}

	system := c.system(m)
	if a, ok := c.precondition(system, false); !ok {
		return a, nil
	}

	d, found := c.below(blocksPath+"/", o.Block)
	if !found {
		return bad("ActionParameterValueNotInList", "ResourceBlock: no such block: "+o.Block), nil
	}

	// Of the parameters the schema says 428, where If-Match gets 412.
	if o.SystemETag != "" && o.SystemETag != tag(system) || o.BlockETag != "" && o.BlockETag != tag(c.block(d)) {
		return failure(http.StatusPreconditionRequired, "PreconditionRequired", "an ETag is not that of the resource"), nil
	}

	if adds {
		return c.carry(change{m: m, add: []hardware.Device{d}})
	}

	if d.Machine != m.Name {
		return bad("Composition.1.1.ResourceBlockInFree", "the block is not part of the system"), nil
	}

	return c.carry(change{m: m, remove: []hardware.Device{d}})
}

// patchSystem sets the whole list of the blocks of a system.
func (c *call) patchSystem(doc obj) (answer, error) {
	if a, ok := c.precondition(doc, c.o.NeedETag); !ok {
		return a, nil
	}

	m, _ := c.machineOf(strings.TrimPrefix(c.path, systemsPath+"/"))
	if c.o.NoLinks {
		return bad("PropertyNotWritable", "Links/ResourceBlocks"), nil
	}

	return c.patchLinks(m, "ResourceBlocks", c.blocksOf(m), func(path string) (hardware.Device, bool) {
		return c.below(blocksPath+"/", path)
	})
}

// patchZone sets the whole list of the endpoints of a zone.
func (c *call) patchZone(doc obj) (answer, error) {
	if a, ok := c.precondition(doc, true); !ok {
		return a, nil
	}

	id, _ := doc["Id"].(string)
	m, _ := c.named(id)

	a, err := c.patchLinks(m, "Endpoints", c.zoneMembers(m), func(path string) (hardware.Device, bool) {
		return c.below(endpointPath(m.Fabric, ""), path)
	})
	if err != nil || a.code >= http.StatusBadRequest {
		return a, err
	}

	// No tasks here: the answer is the zone as it is now, and the work goes on.
	if err := c.look(); err != nil {
		return answer{}, err
	}

	if doc, err = c.document(c.path); err != nil {
		return answer{}, err
	}

	wait := a.wait
	c.query = nil
	a, err = c.show(doc)
	a.wait = wait

	return a, err
}

// below is the device that a path names in a collection.
func (c *call) below(collection, path string) (hardware.Device, bool) {
	id, ok := strings.CutPrefix(path, collection)
	if !ok {
		return hardware.Device{}, false
	}

	return c.device(id)
}

// patchLinks makes a list of links that of the body.
func (c *call) patchLinks(m hardware.Machine, name string, have []string, find func(string) (hardware.Device, bool)) (answer, error) {
	want, err := decodeLinks(c.body, name)

	switch {
	case errors.Is(err, errMalformed):
		return bad("MalformedJSON", err.Error()), nil
	case err != nil:
		return bad("PropertyValueError", err.Error()), nil
	case !slices.Contains(want, have[0]):
		return bad("PropertyValueConflict", have[0]+" is the machine itself and stays"), nil
	}

	ch := change{m: m}

	for i, path := range want {
		d, found := find(path)

		switch {
		case slices.Contains(have, path), slices.Contains(want[:i], path):
		case !found:
			return bad("ResourceMissingAtURI", "no such resource: "+path), nil
		default:
			ch.add = append(ch.add, d)
		}
	}

	for _, path := range have {
		if d, found := find(path); found && !slices.Contains(want, path) {
			ch.remove = append(ch.remove, d)
		}
	}

	if len(ch.add)+len(ch.remove) == 0 && !m.Busy() {
		return noContent(), nil
	}

	return c.carry(ch)
}

// carry carries a change out, if nothing is in its way.
func (c *call) carry(ch change) (answer, error) {
	if ch.m.Busy() {
		return failure(http.StatusConflict, "ResourceInUse", "the system is being changed"),
			hardware.Refuse(c.tx, c.now, ch.m.Name)
	}

	for _, d := range ch.add {
		switch {
		case !d.Free():
			return failure(http.StatusConflict, "Composition.1.1.ResourceBlockInUse", d.ID+" is in use"), nil
		case d.Fabric != ch.m.Fabric:
			return bad("Composition.1.1.IncompatibleZone", d.ID+" shares no zone with the system"), nil
		}
	}

	var (
		takes time.Duration
		fails []string
	)

	if len(ch.add) > 0 {
		takes = c.Hardware.AddTime
	}

	if len(ch.remove) > 0 {
		takes = max(takes, c.Hardware.RemoveTime)
	}

	for _, d := range append(slices.Clone(ch.add), ch.remove...) {
		reason := d.FailAdd
		if d.Machine != "" {
			reason = d.FailRemove
		}

		if reason != "" {
			fails = append(fails, reason)
		}
	}

	if err := c.move(ch); err != nil {
		return answer{}, err
	}

	return c.begun("Compose "+ch.m.Name, takes, strings.Join(fails, "; "))
}

// move orders the change of the hardware.
func (c *call) move(ch change) error {
	var add, remove []string

	for _, d := range ch.add {
		add = append(add, d.ID)

		if d.FailAdd == "" || !c.o.Zones {
			continue
		}

		d.Bounce = true // zones know no failure: what could not be attached is in the pool again

		if err := hardware.Save(c.tx, d); err != nil {
			return err
		}
	}

	for _, d := range ch.remove {
		remove = append(remove, d.ID)
	}

	if len(remove) > 0 {
		if err := hardware.DetachN(c.tx, c.now, remove, c.Hardware.RemoveTime); err != nil {
			return err
		}
	}

	if len(add) == 0 {
		return nil
	}

	next := 0
	pick := func(free []hardware.Device) (hardware.Device, bool) {
		next++

		return hardware.PickID(add[next-1])(free)
	}

	_, err := hardware.AttachN(c.tx, c.now, ch.m.Name, pick, len(add), c.Hardware.AddTime)

	return err
}

// patchBlock reserves a block, or gives it back.
func (c *call) patchBlock(doc obj) (answer, error) {
	if a, ok := c.precondition(doc, c.o.NeedETag); !ok {
		return a, nil
	}

	id, _ := doc["Id"].(string)

	reserved, err := decodeReserved(c.body)
	if err != nil {
		return bad("PropertyValueError", err.Error()), nil
	}

	if d, ok := c.device(id); !ok || reserved && !d.Free() {
		return failure(http.StatusConflict, "Composition.1.1.ResourceBlockInUse", "the block is in use"), nil
	}

	if !reserved {
		return noContent(), c.tx.Delete(reservedBucket, id)
	}

	return noContent(), c.tx.Put(reservedBucket, id, true)
}
