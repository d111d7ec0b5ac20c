// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
)

// PoolSpec is a pool that is to be. What is empty is left to Ceph.
type PoolSpec struct {
	Name           string
	ErasureProfile string // empty: replicated
	PGNum          int
	Rule           string // CRUSH rule
	Size           int    // replicas
	Autoscale      string // on, off, warn
}

// PoolCreate makes a pool. One of that name that is there is ErrExists; Ceph itself calls that
// a success.
func (c *Cluster) PoolCreate(ctx context.Context, spec PoolSpec) error {
	cmd := command{"prefix": "osd pool create", "pool": spec.Name, "pool_type": "replicated"}

	if spec.ErasureProfile != "" {
		cmd["pool_type"], cmd["erasure_code_profile"] = "erasure", spec.ErasureProfile
	}

	if spec.PGNum > 0 {
		cmd["pg_num"] = spec.PGNum
	}

	if spec.Rule != "" {
		cmd["rule"] = spec.Rule
	}

	if spec.Size > 0 && spec.ErasureProfile == "" {
		cmd["size"] = spec.Size
	}

	if spec.Autoscale != "" {
		cmd["autoscale_mode"] = spec.Autoscale
	}

	err := c.create(ctx, cmd)
	if spec.Size == 1 && errors.Is(err, errNotPermitted) {
		return c.create(ctx, cmd.meant())
	}

	return err
}

// PoolSet sets a property of a pool.
func (c *Cluster) PoolSet(ctx context.Context, name, key, value string) error {
	cmd := command{"prefix": "osd pool set", "pool": name, "var": key, "val": value}
	if key == "size" && value == "1" {
		cmd["yes_i_really_mean_it"] = true
	}

	return c.tell(ctx, cmd)
}

// PoolGet returns all properties of a pool, as text.
func (c *Cluster) PoolGet(ctx context.Context, name string) (map[string]string, error) {
	r := request{command: command{"prefix": "osd pool get", "pool": name, "var": "all", "format": "json"}}

	a, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}

	all := map[string]string{}

	// Up to 15 each property is an object of its own, one after the other.
	rest := a.out
	for {
		doc, size, ok := decodeFirst[propertiesDoc](rest)
		if !ok {
			break
		}

		for k, v := range doc {
			all[k] = v.text()
		}

		rest = rest[size:]
	}

	if len(all) == 0 {
		return nil, r.unreadable(a)
	}

	return all, nil
}

// PoolApplication says what a pool is for: rbd, cephfs, rgw.
func (c *Cluster) PoolApplication(ctx context.Context, name, app string) error {
	return c.tell(ctx, command{"prefix": "osd pool application enable", "pool": name, "app": app})
}

// PoolApplicationDisable takes back what a pool is for. One that it does not have is no error.
func (c *Cluster) PoolApplicationDisable(ctx context.Context, name, app string) error {
	return except(c.tell(ctx, command{
		"prefix": "osd pool application disable", "pool": name, "app": app, "yes_i_really_mean_it": true,
	}), ErrNotFound)
}

// PoolQuota limits a pool; 0 is no limit.
func (c *Cluster) PoolQuota(ctx context.Context, name string, bytes, objects int64) error {
	for _, q := range []struct {
		field string
		limit int64
	}{{"max_bytes", bytes}, {"max_objects", objects}} {
		err := c.tell(ctx, command{
			"prefix": "osd pool set-quota", "pool": name, "field": q.field, "val": strconv.FormatInt(q.limit, 10),
		})
		if err != nil {
			return err
		}
	}

	return nil
}

// PoolRename renames a pool. One that has the new name already, while the old one is gone, is no error.
func (c *Cluster) PoolRename(ctx context.Context, from, to string) error {
	return c.tell(ctx, command{"prefix": "osd pool rename", "srcpool": from, "destpool": to})
}

// PoolDelete deletes a pool and all that it holds. One that is not there is no error. The
// monitors must allow it (mon_allow_pool_delete).
func (c *Cluster) PoolDelete(ctx context.Context, name string) error {
	return except(c.tell(ctx, command{
		"prefix": "osd pool delete", "pool": name, "pool2": name, "yes_i_really_really_mean_it": true,
	}), ErrNotFound)
}

// PoolUse is what a pool holds.
type PoolUse struct {
	Stored    int64 // bytes that users stored
	Used      int64 // bytes that it takes, with all copies
	Objects   int64
	Available int64 // bytes that users can still store
}

// PoolStats asks what each pool holds.
func (c *Cluster) PoolStats(ctx context.Context) (map[string]PoolUse, error) {
	doc, err := query[dfDoc](ctx, c, command{"prefix": "df"})
	if err != nil {
		return nil, err
	}

	use := make(map[string]PoolUse, len(doc.Pools))

	for _, p := range doc.Pools {
		if p.Name != "" {
			use[string(p.Name)] = PoolUse{
				Stored: int64(p.Stats.Stored), Used: int64(p.Stats.Used), Objects: int64(p.Stats.Objects),
				Available: int64(p.Stats.Free),
			}
		}
	}

	return use, nil
}

type dfDoc struct {
	Pools []struct {
		Name  text `json:"name"`
		Stats struct {
			Stored  num `json:"stored"`
			Used    num `json:"bytes_used"`
			Objects num `json:"objects"`
			Free    num `json:"max_avail"`
		} `json:"stats"`
	} `json:"pools"`
}

func (d *dfDoc) fits() bool { return d.Pools != nil }

// propertiesDoc are properties of a pool: scalars, as they are written.
type propertiesDoc map[string]property

type property json.RawMessage

// UnmarshalJSON implements json.Unmarshaler.
func (p *property) UnmarshalJSON(b []byte) error {
	*p = append((*p)[:0], b...)

	return nil
}

func (p property) text() string { return scalar(p) }

func (d *propertiesDoc) fits() bool { return len(*d) > 0 }
