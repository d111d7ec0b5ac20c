// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package redfish

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/fabric"
)

// system is a machine as it was read.
type system struct{ resource }

// is reports whether the system goes by a name: its Id, its UUID, or its path.
func (s system) is(name string) bool {
	return name != "" && (s.Text("Id") == name || strings.EqualFold(s.Text("UUID"), name) || same(s.path, name))
}

// composable reports whether resource blocks may be what the system is made of. One that says
// that it is of another kind, such as Physical, and takes no blocks has no list of them.
func (s system) composable() bool {
	typ := s.Text("SystemType")

	return typ == "" || typ == "Composed" || s.Object.Object("Actions").Has(addAction) || s.Object.Object("Actions").Has(removeAction)
}

// machine is the system in our words, under the name that it was asked for.
func (s system) machine(name string) fabric.Machine {
	status := s.Object.Object("Status")
	state := status.Text("State")

	m := fabric.Machine{
		ID: cmp.Or(name, s.Text("UUID"), s.Text("Id"), s.path), Name: cmp.Or(s.Text("HostName"), s.Text("Name")),
		Status: strings.TrimSpace(state + " " + status.Text("Health")),
	}

	switch s.Text("PowerState") {
	case "On":
		m.Power = fabric.PowerOn
	case "Off":
		m.Power = fabric.PowerOff
	}

	switch state {
	case "Updating", "Starting", "Deferring": // the change under way ends by itself
		m.State = fabric.Busy
	case "Absent", "UnavailableOffline":
		m.State = fabric.Failed
	}

	return m
}

// system finds a machine by its Id, UUID or path. The path that a name led to is remembered,
// and the name is compared again at every read.
//
// Not found is what a complete list of systems without it says, whatever was answered at its
// path: 404 is also what a proxy says. An empty list says nothing of that kind.
func (d *driver) system(ctx context.Context, l *look, s service, name string) (system, error) {
	name = fabric.MachineID(name)
	if name == "" {
		return system{}, refuse(l.op, fabric.ErrNotFound, "a machine without an id")
	}

	if strings.HasPrefix(name, "/") {
		if local(name) == "" {
			return system{}, refuse(l.op, fabric.ErrNotFound, "%q is no path of a service", name)
		}

		// A path that leads elsewhere is none of the list's, so nothing else would find it.
		if r, err := l.get(ctx, local(name)); err == nil || !unknownRoute(err) {
			return system{r}, err
		}
	}

	d.mu.Lock()
	path := d.names[strings.ToLower(name)]
	d.mu.Unlock()

	// Nearly all services use the Id as the last part of the path.
	r, err := l.get(ctx, cmp.Or(local(name), path, s.systems+"/"+url.PathEscape(name)))

	switch {
	case err == nil && (system{r}).is(name):
		d.remember(name, r.path)

		return system{r}, nil
	case err != nil && !errors.Is(err, fabric.ErrNotFound) && !unknownRoute(err):
		return system{}, err
	}

	all, err := l.systems(ctx, s)
	if err != nil {
		return system{}, err
	}

	var found []system

	for _, one := range all {
		if one.is(name) {
			found = append(found, one)
		}
	}

	switch {
	case len(all) == 0:
		return system{}, l.wrong(s.systems, "the service lists no systems at all, so it cannot say that this one is gone")
	case len(found) == 0:
		return system{}, refuse(l.op, fabric.ErrNotFound, "none of the service's %d systems has the Id or the UUID %s", len(all), name)
	case len(found) > 1:
		return system{}, refuse(l.op, fabric.ErrRefused, "%d systems have the id %s: use the path of one, such as %s", len(found), name, found[0].path)
	}

	d.remember(name, found[0].path)

	// The list may be a while old, and unfolded members have no ETag.
	r, err = l.fetch(ctx, found[0].path)

	return system{r}, err
}

func (d *driver) remember(name, path string) {
	d.mu.Lock()
	defer d.mu.Unlock()

	d.names[strings.ToLower(name)] = path
}

// unknownRoute reports whether a guessed path was answered 404 in the words of a router.
func unknownRoute(err error) bool {
	var e *fabric.Error

	return errors.As(err, &e) && e.Status == 404
}

func (l *look) systems(ctx context.Context, s service) ([]system, error) {
	paths, err := l.members(ctx, s.systems, flat)
	if err != nil {
		return nil, err
	}

	docs, err := l.parts(ctx, paths)
	if err != nil {
		return nil, err
	}

	all := make([]system, len(docs))
	for i, doc := range docs {
		all[i] = system{doc}
	}

	return all, nil
}
