// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"slices"
	"strings"
)

// Mgr asks for the managers and their modules.
func (c *Cluster) Mgr(ctx context.Context) (Mgr, error) {
	doc, err := query[mgrDoc](ctx, c, command{"prefix": "mgr dump"})
	if err != nil {
		return Mgr{}, err
	}

	return doc.mgr(), nil
}

// MgrFail makes the active manager step back for a standby. One that is not active is no error.
func (c *Cluster) MgrFail(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{"prefix": "mgr fail", "who": name}), ErrNotFound)
}

// ModuleEnable switches a module on; with force also one that the managers say they cannot run.
func (c *Cluster) ModuleEnable(ctx context.Context, name string, force bool) error {
	cmd := command{"prefix": "mgr module enable", "module": name}
	if force {
		cmd["force"] = "--force" // a choice of one word, not a boolean, in the command table of 16
	}

	return c.tell(ctx, cmd)
}

// ModuleDisable switches a module off. One that is always on is ErrInvalid.
func (c *Cluster) ModuleDisable(ctx context.Context, name string) error {
	return c.tell(ctx, command{"prefix": "mgr module disable", "module": name})
}

// MgrCommandRaw sends any command to the manager, with an input where it is not nil. Neither
// the input nor the answer shows in errors.
func (c *Cluster) MgrCommandRaw(ctx context.Context, cmd map[string]any, in []byte) ([]byte, error) {
	a, err := c.ask(ctx, request{to: toMgr, command: cmd, in: in, secrets: []string{string(in)}, hidden: true})

	return a.out, err
}

// DashboardUser makes a user of the dashboard, or gives one that is there the password. Ceph's
// own "create" leaves the password of a user that is there as it is, so it is set as well.
func (c *Cluster) DashboardUser(ctx context.Context, name, password, role string) error {
	_, err := c.MgrCommandRaw(ctx, command{
		"prefix": "dashboard ac-user-create", "username": name, "rolename": role, "force_password": true,
	}, []byte(password))
	if except(err, ErrExists) != nil {
		return err
	}

	_, err = c.MgrCommandRaw(ctx, command{
		"prefix": "dashboard ac-user-set-password", "username": name, "force_password": true,
	}, []byte(password))

	return err
}

type mgrDoc struct {
	Active    *text `json:"active_name"`
	Available flag  `json:"available"`
	Standbys  []struct {
		Name text `json:"name"`
	} `json:"standbys"`
	Modules []text `json:"modules"`
	Known   []struct {
		Name  text  `json:"name"`
		Runs  *flag `json:"can_run"`
		Error text  `json:"error_string"`
	} `json:"available_modules"`
	Services map[string]text   `json:"services"`
	AlwaysOn map[string][]text `json:"always_on_modules"`
}

func (d *mgrDoc) fits() bool { return d.Active != nil }

func (d *mgrDoc) name() string { return strings.TrimSpace(string(*d.Active)) }

func (d *mgrDoc) mgr() Mgr {
	m := Mgr{
		Active: d.name(), Available: bool(d.Available), Modules: texts(d.Modules),
		Broken: map[string]string{}, Services: make(map[string]string, len(d.Services)),
	}

	for _, s := range d.Standbys {
		if s.Name != "" {
			m.Standbys = append(m.Standbys, string(s.Name))
		}
	}

	for _, k := range d.Known {
		if k.Name == "" {
			continue
		}

		m.Known = append(m.Known, string(k.Name))

		if k.Runs != nil && !bool(*k.Runs) {
			m.Broken[string(k.Name)] = string(k.Error)
		}
	}

	for name, url := range d.Services {
		m.Services[name] = string(url)
	}

	// The lists of the releases before are told as well; the names of releases ascend.
	newest := ""
	for release := range d.AlwaysOn {
		newest = max(newest, release)
	}

	m.AlwaysOn = texts(d.AlwaysOn[newest])

	slices.Sort(m.Standbys)

	return m
}
