// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// ConfigDump asks for all options of the cluster's own store.
func (c *Cluster) ConfigDump(ctx context.Context) ([]Option, error) {
	doc, err := query[optionDocs](ctx, c, command{"prefix": "config dump"})
	if err != nil {
		return nil, err
	}

	return doc.options(), nil
}

// ConfigSet sets an option. Who is a section, with a mask where needed: "osd/class:ssd".
func (c *Cluster) ConfigSet(ctx context.Context, who, name, value string) error {
	_, err := c.ask(ctx, request{
		command: command{"prefix": "config set", "who": who, "name": name, "value": value},
		secrets: []string{value}, hidden: true,
	})

	return err
}

// ConfigRemove removes an option. One that is not set is no error.
func (c *Cluster) ConfigRemove(ctx context.Context, who, name string) error {
	return except(c.tell(ctx, command{"prefix": "config rm", "who": who, "name": name}), ErrNotFound)
}

// ConfigKeySet stores a value under a key in the key store of the monitors.
func (c *Cluster) ConfigKeySet(ctx context.Context, key string, value []byte) error {
	if value == nil {
		value = []byte{}
	}

	_, err := c.ask(ctx, request{
		command: command{"prefix": "config-key set", "key": key}, in: value, secrets: []string{string(value)}, hidden: true,
	})

	return err
}

// ConfigKeyGet returns what is stored under a key, or ErrNotFound.
func (c *Cluster) ConfigKeyGet(ctx context.Context, key string) ([]byte, error) {
	a, err := c.ask(ctx, request{command: command{"prefix": "config-key get", "key": key}, hidden: true})

	return a.out, err
}

// ConfigKeyRemove removes a key. One that is not there is no error.
func (c *Cluster) ConfigKeyRemove(ctx context.Context, key string) error {
	return except(c.tell(ctx, command{"prefix": "config-key rm", "key": key}), ErrNotFound)
}

type optionDocs []struct {
	Section text `json:"section"`
	Mask    text `json:"mask"`
	Name    text `json:"name"`
	Value   text `json:"value"`
	Level   text `json:"level"`
}

func (d *optionDocs) fits() bool {
	for _, o := range *d {
		if o.Name == "" {
			return false
		}
	}

	return *d != nil
}

func (d *optionDocs) options() []Option {
	list := make([]Option, 0, len(*d))
	for _, o := range *d {
		list = append(list, Option{string(o.Section), string(o.Mask), string(o.Name), string(o.Value), string(o.Level)})
	}

	return list
}
