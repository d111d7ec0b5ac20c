// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	api "github.com/terraform-metal3/terraform-provider-metal3/internal/client/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
)

// makeOSDs makes and starts OSDs: hosts side by side, and on one host so many at a time as
// do not get into each other's way. One that fails does not stop the others.
func (w *worker) makeOSDs(ctx context.Context, seen *Seen, work []OSDWork) error {
	c, err := w.cluster(ctx, seen)
	if err != nil {
		return err
	}

	byHost := map[string][]OSDWork{}
	for _, o := range work {
		byHost[o.Host] = append(byHost[o.Host], o)
	}

	return remote.Each(ctx, atOnce, sortedKeys(byHost), func(ctx context.Context, host string) error {
		defer w.mark(host)

		return remote.Each(ctx, osdsAtOnce, byHost[host], func(ctx context.Context, o OSDWork) error {
			if err := w.makeOSD(ctx, c, seen, o); err != nil {
				return fmt.Errorf("%s: %w", o.Label(), err)
			}

			return nil
		})
	})
}

// osdsAtOnce is how many OSDs of one host are made at a time: mkfs is mostly waiting for the
// device.
const osdsAtOnce = 4

// makeOSD is repeatable from any point: uuid and secret are on the host's disk before Ceph is
// told, and Ceph gives the same id for the same two.
func (w *worker) makeOSD(ctx context.Context, c *api.Cluster, seen *Seen, o OSDWork) error {
	h, err := w.on(o.Host)
	if err != nil {
		return err
	}

	l := w.layout(seen, o.Host)

	slot := o.Slot
	if slot != nil && slot.Made {
		if err := missed(ctx, c, seen, o.Host, *slot); err != nil {
			return err
		}
	}

	if slot == nil || !slot.Made {
		made, err := h.MakeSlot(ctx, l, o.Spec)
		if err != nil {
			return err
		}

		if made.Made {
			if err := w.alone(ctx, c, h, l, o, made); err != nil {
				return err
			}
		}

		slot = &made
	}

	id := slot.ID
	if !slot.Made {
		if id, err = newOSD(ctx, c, *slot); err != nil {
			return err
		}

		w.say(PhaseProgressing, "True", ReasonProgressing, fmt.Sprintf("Processing OSD %d on node %q", id, o.Host))
	}

	// Of one that was made, a folder that is lost is rebuilt from the label of its device.
	if err := h.MakeOSD(ctx, l, *slot, id); err != nil {
		return err
	}

	return w.start(ctx, h, seen, Placed{Host: o.Host, Daemon: OSDDaemon(id)}, StartHow{CrushLocation: w.crushLocation(o.Host), Weight: o.Spec.Device.Weight, Slot: *slot})
}

// alone refuses an OSD that was found made on a device, and that is up: another host runs it, for
// this one had no record of it. The record goes again, lest the next run takes it for ours.
func (w *worker) alone(ctx context.Context, c *api.Cluster, h Host, l Layout, o OSDWork, slot Slot) error {
	m, err := c.OSDMap(ctx)
	if err != nil {
		return err
	}

	for _, osd := range m.OSDs {
		if osd.UUID == slot.UUID && osd.Up {
			free, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
			defer cancel()

			return errors.Join(fmt.Errorf("%w: %s", ErrInUse, sharedWords(slot.Path, o.Host, osd)), h.Forget(free, l, slot))
		}
	}

	return nil
}

// missed tells the cluster that an OSD does not run: it notices by itself only after some
// heartbeats, and until then the one that is started would seem to be up already. One that is up
// where another host started it is not ours to start.
func missed(ctx context.Context, c *api.Cluster, seen *Seen, host string, slot Slot) error {
	for _, osd := range seen.Cluster.OSDMap.OSDs {
		if osd.UUID != slot.UUID || !osd.Up {
			continue
		}

		// Only where its place in the CRUSH map is another host's is it worth a question.
		if osd.Host != "" && osd.Host != crushHost(host) {
			metas, err := c.Metadata(ctx, RoleOSD)
			if err != nil {
				return err
			}

			if at := metas[strconv.Itoa(osd.ID)].Hostname; at != "" && !strings.EqualFold(at, host) {
				osd.Host = at

				return fmt.Errorf("%w: %s", ErrInUse, sharedWords(slot.Path, host, osd))
			}
		}

		return c.OSDDown(ctx, osd.ID)
	}

	return nil
}

func newOSD(ctx context.Context, c *api.Cluster, slot Slot) (int, error) {
	id, err := c.OSDNew(ctx, slot.UUID, string(slot.Secret), slot.Class)
	if errors.Is(err, api.ErrExists) {
		return 0, fmt.Errorf("the cluster knows an OSD of uuid %s with another key than its record on the host: purge that OSD, or restore the record: %w", slot.UUID, err)
	}

	return id, err
}

// crushLocation is where the OSDs of a host stand.
func (w *worker) crushLocation(host string) string {
	v := view{w: &w.Wanted}
	h, _ := v.host(host)
	place := rooted(h.Place)
	parts := []string{bucketRoot + "=" + place[bucketRoot]}

	for _, kind := range sortedKeys(place) {
		if kind != bucketRoot {
			parts = append(parts, kind+"="+place[kind])
		}
	}

	return strings.Join(append(parts, "host="+crushHost(host)), " ")
}
