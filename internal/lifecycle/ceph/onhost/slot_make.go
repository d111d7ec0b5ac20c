// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

// scriptSlotLook is the part of the look that a slot needs: all slots, and the devices that are
// named. Its parameters: 1 the folder, then paths.
const scriptSlotLook = `# metal3: ceph-slot-look
dir=$1 devices=0
shift
echo '== slots'
(
:
` + scriptSlots + `
)
echo '== disks'
` + scriptDisks + `
echo '== end'
`

// lookSlots reads the slots of a host and what the devices of these names are today.
func (h *Host) lookSlots(ctx context.Context, l ceph.Layout, paths ...string) ([]ceph.Slot, []ceph.Disk, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return p == "" })

	out, err := h.script(ctx, remote.Command{Script: scriptSlotLook, Params: append([]string{l.Dir}, paths...)})
	if err != nil {
		return nil, nil, err
	}

	s := parseSections(out)
	if _, ok := s["end"]; !ok {
		return nil, nil, fmt.Errorf("%w: the look at the devices of %s ended early", ErrCommand, h.Name())
	}

	return parseSlots(s["slots"]), parseDisks(s["disks"]), nil
}

// MakeSlot implements [ceph.Host].
//
// The record is on the disk before the device is touched: whatever happens after, the next run
// finds the same uuid and key, so that the cluster gives the same id.
func (h *Host) MakeSlot(ctx context.Context, l ceph.Layout, want ceph.SlotSpec) (ceph.Slot, error) {
	if err := checkDir(l); err != nil {
		return ceph.Slot{}, err
	}

	paths := []string{want.Device.Path}
	if want.Device.DB != "" {
		paths = append(paths, want.Device.DB)
	}

	if err := checkPaths(paths...); err != nil {
		return ceph.Slot{}, err
	}

	slots, disks, err := h.lookSlots(ctx, l, paths...)
	if err != nil {
		return ceph.Slot{}, err
	}

	m := making{host: h, layout: l, want: want, slots: slots, disks: disks}

	i := slices.IndexFunc(slots, func(s ceph.Slot) bool { return s.Path == want.Device.Path && s.Index == want.Index })
	if i < 0 {
		return m.fresh(ctx)
	}

	return m.again(ctx, slots[i])
}

// making is the making of one slot.
type making struct {
	host   *Host
	layout ceph.Layout
	want   ceph.SlotSpec
	slots  []ceph.Slot
	disks  []ceph.Disk
}

// again goes on with a record that there is.
func (m making) again(ctx context.Context, s ceph.Slot) (ceph.Slot, error) {
	if s.Made {
		if s.Device == "" {
			return s, m.gone(s.Path)
		}

		return s, nil
	}

	// The device again, right before it is taken: the record may be older than what is on it now.
	d, ok := ceph.SlotDisk(s, m.disks)
	if !ok {
		d, ok = ceph.FindDisk(m.disks, s.Path) // with the label of somebody else
	}

	// What is inside a volume group or an encrypted device, the scripts that open it look at.
	if ok && !s.Encrypted && (s.Volume == "" || !strings.HasPrefix(d.Signature, "LVM2")) {
		err := m.check(d, s.UUID, s.OwnFile)
		if errors.Is(err, ceph.ErrForeign) && m.want.Foreign && d.Label.FSID != m.layout.FSID {
			err = m.host.WipeForeign(ctx, d.Path, d.Label.FSID)
		}

		if err != nil {
			return s, err
		}
	}

	if d, ok := ceph.FindDisk(m.disks, s.DB); ok && s.DB != "" {
		if err := m.check(d, s.UUID, s.OwnDB); err != nil {
			return s, err
		}
	}

	return m.prepare(ctx, s)
}

// fresh takes a device that has no record.
func (m making) fresh(ctx context.Context) (ceph.Slot, error) {
	s := ceph.Slot{
		Key: slotKey(m.want.Device.Path, m.want.Index), Path: m.want.Device.Path, Index: m.want.Index, ID: -1,
		Backend: m.want.Backend, Class: m.want.Device.Class, DB: m.want.Device.DB, Encrypted: m.want.Device.Encrypted,
	}

	d, found := ceph.FindDisk(m.disks, s.Path)

	switch {
	case found:
		if err := m.taken(d); err != nil {
			return s, err
		}
	case m.want.Backend != ceph.BackendFile:
		return s, m.gone(s.Path)
	case m.want.Size <= 0:
		return s, fmt.Errorf("%w, and no size says how large a file to make", m.gone(s.Path))
	default:
		s.OwnFile = true
	}

	if found && d.Label != nil && m.layout.FSID != "" && d.Label.FSID == m.layout.FSID {
		return m.adopt(ctx, s, d)
	}

	if found {
		if err := m.free(ctx, s, d); err != nil {
			return s, err
		}
	}

	if err := m.takeDB(&s); err != nil {
		return s, err
	}

	s.UUID, s.Secret = ceph.NewFSID(), ceph.NewKey(time.Now())
	s.Serial, s.WWN, s.Link, s.Was = d.Serial, d.WWN, d.ByID(), d.Name

	if s.Backend == ceph.BackendLVM {
		s.Volume = volume(m.layout, s)
	}

	if err := m.write(ctx, s); err != nil {
		return s, err
	}

	return m.prepare(ctx, s)
}

// taken refuses a device that another record has, by whatever name.
func (m making) taken(d ceph.Disk) error {
	for _, s := range m.slots {
		if s.Backend == ceph.BackendLVM && s.Path == m.want.Device.Path {
			continue // several OSDs on one device
		}

		if o, ok := ceph.SlotDisk(s, m.disks); (ok && o.Path == d.Path) || s.Device == d.Path {
			return fmt.Errorf("%w: %s: %s is the device of the OSD that is known as %s", ceph.ErrInUse, m.host.Name(), d.Path, s.Path)
		}
	}

	return nil
}

// free makes sure that a device is free. A label of another cluster goes, where that is allowed.
func (m making) free(ctx context.Context, s ceph.Slot, d ceph.Disk) error {
	if d.Label != nil && m.want.Foreign && d.Label.FSID != "" && d.Unusable(true) == "" {
		return m.host.WipeForeign(ctx, d.Path, d.Label.FSID)
	}

	if s.Volume != "" || m.shared() {
		return nil // the volume group is there already; its tags say whose it is
	}

	return m.check(d, "", false)
}

// shared reports whether another OSD of ours made the volume group on the device.
func (m making) shared() bool {
	return m.want.Backend == ceph.BackendLVM && slices.ContainsFunc(m.slots, func(s ceph.Slot) bool {
		return s.Backend == ceph.BackendLVM && s.Path == m.want.Device.Path
	})
}

// check says why a device cannot be used by the OSD of this uuid. What a file of our own holds
// that was never an OSD does not count.
func (m making) check(d ceph.Disk, uuid string, own bool) error {
	if own && d.Label == nil {
		d.Signature = ""
	}

	if d.Label != nil && uuid != "" && d.Label.UUID == uuid {
		return nil
	}

	if why := d.Unusable(true); why != "" {
		kind := ceph.ErrInUse
		if d.Missing {
			kind = ceph.ErrGone
		}

		return fmt.Errorf("%w: %s: %s: %s", kind, m.host.Name(), d.Path, why)
	}

	if d.Label == nil {
		return nil
	}

	whose := "an OSD with the uuid " + d.Label.UUID
	if d.Label.FSID != "" {
		whose = "an OSD of the cluster " + d.Label.FSID
	}

	return fmt.Errorf("%w: %s: %s carries %s", ceph.ErrForeign, m.host.Name(), d.Path, whose)
}

// takeDB checks the device of a DB, which a file of ours may be.
func (m making) takeDB(s *ceph.Slot) error {
	if s.DB == "" {
		return nil
	}

	d, ok := ceph.FindDisk(m.disks, s.DB)

	switch {
	case ok:
		return m.check(d, "", false)
	case m.want.Device.DBSize <= 0:
		return m.gone(s.DB)
	default:
		s.OwnDB = true

		return nil
	}
}

func (m making) gone(path string) error {
	return fmt.Errorf("%w: %s: %s", ceph.ErrGone, m.host.Name(), path)
}

// write puts the record on the disk. It holds a key: nobody else may enter its folder.
func (m making) write(ctx context.Context, s ceph.Slot) error {
	cmd := remote.Command{Script: scriptSlotDir, Params: []string{m.layout.Dir, m.layout.User, s.Key}}
	if err := m.host.do(ctx, cmd); err != nil {
		return err
	}

	return m.host.writeSlot(ctx, m.layout, s)
}

// scriptSlotDir makes the folder of a record: 1 the cluster's folder, 2 the daemons' user, 3 the key.
const scriptSlotDir = `# metal3: ceph-slot-dir
dir=$1 user=$2
` + scriptFolders + `
[ -d "$dir/slots/$3" ] || mkdir -m 700 "$dir/slots/$3"
`

// prepare makes of a device what the OSD's store is made on: a file, a volume, a mapping. Each
// step is skipped that is done already.
func (m making) prepare(ctx context.Context, s ceph.Slot) (ceph.Slot, error) {
	if s.OwnFile || s.OwnDB {
		params := []string{flag(s.OwnFile), s.Path, strconv.FormatInt(m.want.Size, 10), flag(s.OwnDB), s.DB, strconv.FormatInt(m.want.Device.DBSize, 10)}
		if err := m.host.do(ctx, remote.Command{Script: scriptFiles, Params: params}); err != nil {
			return s, err
		}
	}

	if s.Volume != "" {
		if err := m.host.makeVolume(ctx, m.layout, s, m.want.Device.Count); err != nil {
			return s, err
		}
	}

	if s.Encrypted {
		if err := m.host.encrypt(ctx, m.layout, s); err != nil {
			return s, err
		}
	}

	if s.Device == "" || s.OwnFile {
		slots, _, err := m.host.lookSlots(ctx, m.layout)
		if err != nil {
			return s, err
		}

		i := slices.IndexFunc(slots, func(o ceph.Slot) bool { return o.Key == s.Key && o.UUID == s.UUID })
		if i < 0 {
			return s, fmt.Errorf("%w: the record %s of %s cannot be read back", ErrCommand, s.Key, m.host.Name())
		}

		s = slots[i]
	}

	if s.Device == "" {
		return s, m.gone(s.Path)
	}

	return s, nil
}

// scriptFiles makes the sparse files of an OSD: for data and DB 1 (we make it), path and size. A
// file that is there grows, and is never made shorter.
const scriptFiles = `# metal3: ceph-slot-files
umask 077
while [ $# -ge 3 ]; do
  if [ "$1" = 1 ] && [ "$3" -gt 0 ]; then
    (umask 022 && mkdir -p "${2%/*}/") || exit 1
    has=0
    [ ! -e "$2" ] || has=$(stat -L -c %s "$2") || exit 1
    [ "$has" -ge "$3" ] || truncate -s "$3" "$2" || exit 1
  fi
  shift 3
done
`

// adopt makes a record of an OSD of this cluster whose record was lost: the host was installed anew
// and its disks were kept. The uuid, id and key are in the label.
func (m making) adopt(ctx context.Context, s ceph.Slot, d ceph.Disk) (ceph.Slot, error) {
	if d.Label.Role != ceph.LabelMain {
		return s, fmt.Errorf("%w: %s: %s is the %s of an OSD of this cluster", ceph.ErrInUse, m.host.Name(), d.Path, d.Label.Role)
	}

	out, err := m.host.script(ctx, remote.Command{Script: scriptLabelKey, Params: []string{d.Path}})
	if err != nil {
		return s, err
	}

	s.Secret = ceph.Secret(strings.TrimSpace(string(out)))
	if d.Label.ID < 0 || !ceph.ValidKey(s.Secret) {
		return s, fmt.Errorf("%w: %s: %s carries an OSD of this cluster that was never finished, and its record is gone: wipe it by hand",
			ceph.ErrInUse, m.host.Name(), d.Path)
	}

	s.UUID, s.ID, s.Made, s.Device = d.Label.UUID, d.Label.ID, true, d.Path
	s.Serial, s.WWN, s.Link, s.Was = d.Serial, d.WWN, d.ByID(), d.Name

	return s, m.write(ctx, s)
}

// scriptLabelKey prints the key in the label of the device $1: for memory only.
const scriptLabelKey = `# metal3: ceph-label-key
PATH=$PATH:/usr/sbin:/sbin
ceph-bluestore-tool show-label --dev "$1" 2>/dev/null | tr ',{}' '\n\n\n' |
  sed -n 's/^ *"osd_key" *: *"\([A-Za-z0-9+\/=]*\).*/\1/p' | head -n 1
`
