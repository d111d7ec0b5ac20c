// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import "context"

// Status asks for the state of the cluster.
func (c *Cluster) Status(ctx context.Context) (Status, error) {
	doc, err := query[statusDoc](ctx, c, command{"prefix": "status"})
	if err != nil {
		return Status{}, err
	}

	return doc.status(), nil
}

type statusDoc struct {
	FSID    text      `json:"fsid"`
	Health  healthDoc `json:"health"`
	Quorum  []text    `json:"quorum_names"`
	Monitor struct {
		Num  *num              `json:"num_mons"`
		Mons []map[string]text `json:"mons"` // up to 14
	} `json:"monmap"`
	OSDs struct {
		osdCountDoc

		Inner *osdCountDoc `json:"osdmap"` // up to 14
	} `json:"osdmap"`
	PGs struct {
		States []pgStateDoc `json:"pgs_by_state"`
		Num    num          `json:"num_pgs"`
		Total  num          `json:"bytes_total"`
		Used   num          `json:"bytes_used"`
		Free   num          `json:"bytes_avail"`
	} `json:"pgmap"`
	Mgr struct {
		Available flag              `json:"available"`
		Num       *num              `json:"num_standbys"`
		Standbys  []map[string]text `json:"standbys"`
	} `json:"mgrmap"`
}

type osdCountDoc struct {
	Num num `json:"num_osds"`
	Up  num `json:"num_up_osds"`
	In  num `json:"num_in_osds"`
}

func (d *statusDoc) fits() bool { return d.FSID != "" }

func (d *statusDoc) status() Status {
	counts := d.OSDs.osdCountDoc
	if d.OSDs.Inner != nil {
		counts = *d.OSDs.Inner
	}

	return Status{
		FSID:         string(d.FSID),
		Health:       d.Health.health(),
		Quorum:       texts(d.Quorum),
		Mons:         count(d.Monitor.Num, len(d.Monitor.Mons)),
		OSDs:         int(counts.Num),
		OSDsUp:       int(counts.Up),
		OSDsIn:       int(counts.In),
		MgrAvailable: bool(d.Mgr.Available),
		Standbys:     count(d.Mgr.Num, len(d.Mgr.Standbys)),
		PGs:          pgStates(d.PGs.States),
		NumPGs:       int(d.PGs.Num),
		Capacity:     Capacity{Total: int64(d.PGs.Total), Used: int64(d.PGs.Used), Available: int64(d.PGs.Free)},
	}
}

// count is the number, where it is told, or else the length of the list.
func count(n *num, list int) int {
	if n != nil {
		return int(*n)
	}

	return list
}
