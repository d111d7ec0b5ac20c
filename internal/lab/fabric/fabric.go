// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

// Package fabric is the lab's fabric manager: one fabric of composable devices behind several
// APIs (see package face), which tests can tell to be slow, to fail and to lie.
//
// What the fabric is like lives in the store, so that all processes that share it see one
// fabric. What goes wrong on the way, and which requests came, belongs to this process.
package fabric

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/face"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/hardware"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/fabric/token"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/machine"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lab/store"
)

// Host is the name of the lab's fabric manager, on port 80.
const Host = "fabric.lab"

// What a client is told to reach the lab's fabric.
const (
	Tenant       = hardware.Tenant
	Cluster      = hardware.Cluster
	Realm        = token.Realm
	Username     = token.Username
	Password     = token.Password
	ClientID     = token.ClientID
	ClientSecret = token.ClientSecret
)

// Options says which fabric a lab has.
type Options struct {
	hardware.Options

	Machines machine.Options // of the lab: they are the fabric's, too
	Tuning   face.Tuning
}

// Service is the fabric manager: an http.Handler.
type Service struct {
	script

	env   *face.Env
	faces map[string]http.Handler // by the first segment of the path
}

// New returns a fabric manager that keeps its memory in a store.
func New(st *store.Store, o Options) *Service {
	env := &face.Env{Store: st, Hardware: o.Options, Machines: o.Machines}
	env.Tune(func(t *face.Tuning) { *t = o.Tuning })

	s := &Service{env: env, faces: map[string]http.Handler{}}
	for name, build := range faces() {
		s.faces[name] = build(env)
	}

	return s
}

// Env is what the faces work on.
func (s *Service) Env() *face.Env { return s.env }

// Tune changes how the manager behaves from now on.
func (s *Service) Tune(f func(*face.Tuning)) { s.env.Tune(f) }

// route hands a request to its face.
func (s *Service) route(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")

	if h, ok := s.faces[name]; ok {
		h.ServeHTTP(w, r)

		return
	}

	http.NotFound(w, r)
}

// Change changes the fabric by hand, behind everybody's back: what a third party does, what
// breaks. See the functions of package hardware.
func (s *Service) Change(f func(tx store.Tx, now time.Time) error) error { return s.env.Update(f) }

// Devices returns all devices as they are now, by index.
func (s *Service) Devices() (all []hardware.Device, err error) {
	err = s.env.View(func(tx store.Tx, now time.Time) error {
		all, err = hardware.All(tx, now)

		return err
	})

	return all, err
}

// On returns the devices of a machine in whatever phase, the one that was there first in front.
func (s *Service) On(machineName string) (all []hardware.Device, err error) {
	err = s.env.View(func(tx store.Tx, now time.Time) error {
		all, err = hardware.Of(tx, now, machineName)

		return err
	})

	return all, err
}

// Effects returns what has happened to the fabric, in order.
func (s *Service) Effects() (all []hardware.Effect, err error) {
	err = s.env.View(func(tx store.Tx, _ time.Time) error {
		all, err = hardware.Effects(tx)

		return err
	})

	return all, err
}

// Overlaps finds the orders that came while another one for the same machine was carried
// out. There must never be any.
func (s *Service) Overlaps() ([]hardware.Overlap, error) {
	all, err := s.Effects()

	return hardware.Overlaps(all), err
}

// Edit changes every device by hand, those in the pool too: its health, its place, what will
// become of it. A device that is Gone has vanished.
func (s *Service) Edit(f func(d *hardware.Device)) error {
	return s.Change(func(tx store.Tx, now time.Time) error {
		all, err := hardware.All(tx, now)
		if err != nil {
			return err
		}

		for _, d := range all {
			before := d
			if f(&d); d == before {
				continue
			}

			if err := hardware.Save(tx, d); err != nil {
				return err
			}
		}

		return nil
	})
}

// EditMachine changes what the fabric says of a machine by hand: that it is deleted, its
// status, its name.
func (s *Service) EditMachine(name string, f func(r *hardware.Record)) error {
	return s.Change(func(tx store.Tx, now time.Time) error {
		m, ok, err := hardware.LoadMachine(tx, now, name)
		if err != nil {
			return err
		}

		if !ok {
			return fmt.Errorf("%s: %w", name, hardware.ErrNoMachine)
		}

		f(&m.Record)

		return hardware.SaveMachine(tx, m)
	})
}

// Revoke ends all tokens, those for refreshing too where all is true.
func (s *Service) Revoke(all bool) error {
	return s.Change(func(tx store.Tx, _ time.Time) error { return token.Revoke(tx, all) })
}
