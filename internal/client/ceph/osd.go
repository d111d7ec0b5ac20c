// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// OSDNew returns the id of the OSD with this uuid, and registers it first where there is none.
// The same uuid with another secret is ErrExists. An empty class is Ceph's to guess.
func (c *Cluster) OSDNew(ctx context.Context, uuid, secret, class string) (int, error) {
	params := map[string]string{"cephx_secret": secret}
	if class != "" {
		params["crush_device_class"] = class
	}

	in, err := json.Marshal(params)
	if err != nil {
		return 0, fmt.Errorf("ceph osd new: write the parameters: %w", err)
	}

	r := request{
		command: command{"prefix": "osd new", "uuid": uuid, "format": "json"},
		in:      in, secrets: []string{secret}, hidden: true,
	}

	a, err := c.ask(ctx, r)
	if err != nil {
		return 0, err
	}

	if id, err := strconv.Atoi(strings.TrimSpace(string(a.out))); err == nil && id >= 0 {
		return id, nil // plain text
	}

	doc, err := read[newOSDDoc](r, a)
	if err != nil {
		return 0, err
	}

	return int(*doc.ID), nil
}

// OSDOut lets data move away from OSDs.
func (c *Cluster) OSDOut(ctx context.Context, ids ...int) error {
	return c.eachOSD(ctx, "osd out", ids)
}

// OSDIn lets data move to OSDs.
func (c *Cluster) OSDIn(ctx context.Context, ids ...int) error {
	return c.eachOSD(ctx, "osd in", ids)
}

// OSDDown marks OSDs down. Those that run come back by themselves.
func (c *Cluster) OSDDown(ctx context.Context, ids ...int) error {
	return c.eachOSD(ctx, "osd down", ids)
}

func (c *Cluster) eachOSD(ctx context.Context, prefix string, ids []int) error {
	if len(ids) == 0 {
		return nil
	}

	return c.tell(ctx, command{"prefix": prefix, "ids": osdIDs(ids)})
}

// OSDOkToStop asks the manager whether these OSDs may stop together. An id that does not
// exist may always stop: the caller looks first.
func (c *Cluster) OSDOkToStop(ctx context.Context, ids ...int) (OkToStop, error) {
	r := request{to: toMgr, command: command{"prefix": "osd ok-to-stop", "ids": osdIDs(ids), "format": "json"}}

	a, err := c.ask(ctx, r)
	if words, no := notNow(err); no {
		return refusal(err, words), nil
	}

	if err != nil {
		return OkToStop{}, err
	}

	if doc, ok := decode[okToStopDoc](a.out); ok {
		return doc.okToStop(a.status), nil
	}

	// 15 and older have only words.
	words := strings.TrimSpace(string(a.out) + " " + a.status)
	if strings.Contains(words, "ok to stop") && !strings.Contains(words, "not ok") {
		return OkToStop{OK: true, OSDs: ids, Words: words}, nil
	}

	return OkToStop{}, r.unreadable(a)
}

// refusal is a no of the manager: with the groups where it tells them. A no stays a no,
// whatever is written beside it.
func refusal(err error, words string) OkToStop {
	no := OkToStop{Words: words}

	var e *Error
	if errors.As(err, &e) {
		if doc, ok := decode[okToStopDoc](e.Out); ok {
			no = doc.okToStop(words)
			no.OK = false
		}
	}

	return no
}

// OSDSafeToDestroy asks the manager whether no data is lost with these OSDs, now and all of
// them. It looks at statistics that lag: ask twice, and look at the groups as well. 16.2.15
// answers with success in any case; what counts is its list.
func (c *Cluster) OSDSafeToDestroy(ctx context.Context, ids ...int) (safe bool, words string, err error) {
	r := request{to: toMgr, command: command{"prefix": "osd safe-to-destroy", "ids": osdIDs(ids), "format": "json"}}

	a, err := c.ask(ctx, r)
	if words, no := notNow(err); no {
		return false, words, nil
	}

	if err != nil {
		return false, "", err
	}

	doc, err := read[safeDoc](r, a)
	if err != nil {
		return false, "", err
	}

	for _, id := range ids {
		if !doc.holds(id) {
			return false, doc.words(), nil
		}
	}

	return len(ids) > 0, a.status, nil
}

// OSDPurge removes an OSD from all maps, with its key. One that is not there is no error; one
// that is up is ErrBusy.
func (c *Cluster) OSDPurge(ctx context.Context, id int) error {
	_, err := c.ask(ctx, request{to: toMgr, command: command{
		"prefix": "osd purge", "id": id, "force": true, "yes_i_really_mean_it": true,
	}})

	return except(err, ErrNotFound)
}

func osdIDs(ids []int) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = strconv.Itoa(id)
	}

	return list
}

type newOSDDoc struct {
	ID *osdID `json:"osdid"`
}

func (d *newOSDDoc) fits() bool { return d.ID != nil && *d.ID >= 0 }

type okToStopDoc struct {
	OK      *flag   `json:"ok_to_stop"`
	OSDs    []osdID `json:"osds"`
	NotOK   num     `json:"num_not_ok_pgs"`
	Bad     []text  `json:"bad_become_inactive"`
	Already []text  `json:"bad_already_inactive"`
	Unknown []text  `json:"unknown_pgs"`
}

func (d *okToStopDoc) fits() bool { return d.OK != nil }

func (d *okToStopDoc) okToStop(words string) OkToStop {
	ok := OkToStop{OK: bool(*d.OK), Words: words, NotOK: int(d.NotOK), OSDs: make([]int, 0, len(d.OSDs))}

	for _, id := range d.OSDs {
		ok.OSDs = append(ok.OSDs, int(id))
	}

	for _, list := range [][]text{d.Bad, d.Already, d.Unknown} {
		ok.BadPGs = append(ok.BadPGs, texts(list)...)
	}

	return ok
}

type safeDoc struct {
	Safe    []osdID `json:"safe_to_destroy"`
	Active  []osdID `json:"active"`
	Missing []osdID `json:"missing_stats"`
	Stored  []osdID `json:"stored_pgs"`
}

func (d *safeDoc) fits() bool { return d.Safe != nil }

func (d *safeDoc) holds(id int) bool {
	for _, n := range d.Safe {
		if int(n) == id {
			return true
		}
	}

	return false
}

func (d *safeDoc) words() string {
	return fmt.Sprintf("OSDs %v hold placement groups, %v have no statistics yet, %v still store data",
		d.Active, d.Missing, d.Stored)
}
