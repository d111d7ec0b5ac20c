// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
)

// Quorum asks which monitors there are, and which of them are in quorum.
func (c *Cluster) Quorum(ctx context.Context) (Quorum, error) {
	doc, err := query[quorumDoc](ctx, c, command{"prefix": "quorum_status"})
	if err != nil {
		return Quorum{}, err
	}

	return doc.quorum(), nil
}

// MonMap returns the map of the monitors, binary, as a new monitor needs it.
func (c *Cluster) MonMap(ctx context.Context) ([]byte, error) {
	r := request{command: command{"prefix": "mon getmap"}}

	a, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}

	if len(a.out) == 0 {
		return nil, r.unreadable(a)
	}

	return a.out, nil
}

// MonOkToStop asks whether the quorum holds without a monitor.
func (c *Cluster) MonOkToStop(ctx context.Context, id string) (OkToStop, error) {
	return c.monOk(ctx, command{"prefix": "mon ok-to-stop", "ids": []string{id}})
}

// MonOkToRemove asks whether the quorum holds after a monitor left the map.
func (c *Cluster) MonOkToRemove(ctx context.Context, id string) (OkToStop, error) {
	return c.monOk(ctx, command{"prefix": "mon ok-to-rm", "id": id})
}

// monOk asks a question that monitors answer in words only: yes is yes, EBUSY is no.
func (c *Cluster) monOk(ctx context.Context, cmd command) (OkToStop, error) {
	a, err := c.ask(ctx, request{command: cmd})
	if words, no := notNow(err); no {
		return OkToStop{Words: words}, nil
	}

	return OkToStop{OK: err == nil, Words: a.status}, err
}

// notNow says whether Ceph said "not now" (EBUSY), or that it does not know yet (EAGAIN), and its words.
func notNow(err error) (words string, no bool) {
	var e *Error
	if !errors.As(err, &e) || (!errors.Is(e, ErrBusy) && !errors.Is(e, errAgain)) {
		return "", false
	}

	if e.Status == "" {
		return errnoText(e.Code), true
	}

	return e.Status, true
}

// MonRemove takes a monitor out of the map. One that is not there is no error.
func (c *Cluster) MonRemove(ctx context.Context, id string) error {
	return except(c.tell(ctx, command{"prefix": "mon remove", "name": id}), ErrNotFound)
}

// quorumDoc has keys with a colon and a blank at the end in 16 ("removed_ranks: "): they are not read.
type quorumDoc struct {
	Names  []text `json:"quorum_names"`
	Leader text   `json:"quorum_leader_name"`
	Map    *struct {
		Epoch      num      `json:"epoch"`
		FSID       text     `json:"fsid"`
		MinRelease num      `json:"min_mon_release"`
		Mons       []monDoc `json:"mons"`
	} `json:"monmap"`
}

type monDoc struct {
	Rank   num       `json:"rank"`
	Name   text      `json:"name"`
	Vector vectorDoc `json:"public_addrs"`
	Public text      `json:"public_addr"`
	Addr   text      `json:"addr"`
}

func (d *quorumDoc) fits() bool { return d.Map != nil }

func (d *quorumDoc) quorum() Quorum {
	q := Quorum{
		FSID: string(d.Map.FSID), Leader: string(d.Leader), Names: texts(d.Names), Epoch: int(d.Map.Epoch),
		MinRelease: int(d.Map.MinRelease), Mons: make([]Mon, 0, len(d.Map.Mons)),
	}

	for _, m := range d.Map.Mons {
		if m.Name != "" {
			q.Mons = append(q.Mons, Mon{Name: string(m.Name), Rank: int(m.Rank), Addrs: m.addrs()})
		}
	}

	return q
}

// addrs is the vector, where there is one: public_addr and addr show the old protocol's
// address even if there is a newer one.
func (m *monDoc) addrs() Addrs {
	if vector := m.Vector.addrs(); len(vector) > 0 {
		return vector
	}

	for _, old := range []text{m.Public, m.Addr} {
		if addrs, err := ParseAddrs(string(old)); err == nil {
			return addrs
		}
	}

	return nil
}
