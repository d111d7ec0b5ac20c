// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// lsblk is the section of a host whose lsblk prints these devices, with these facts after it.
func lsblk(devices string, facts ...string) []byte {
	return []byte("lsblk\n{\n \"blockdevices\": [" + devices + "]\n}\nlsblk end\n" + strings.Join(facts, "\n") + "\n")
}

// The documents of util-linux 2.38.1, the old form with strings, and what is built of both.
const (
	zram    = `{"name":"zram0","type":"disk","size":0,"rota":false,"ro":false,"rm":false,"mountpoint":null,"mountpoints":[null],"fstype":null,"serial":null,"wwn":null,"model":null,"tran":null,"hctl":null}`
	strs    = `{"name":"sdb","type":"disk","size":"960197124096","rota":"1","ro":"0","rm":"0","mountpoint":null,"fstype":null,"serial":"S0"}`
	vda     = `{"name":"vda","kname":"vda","path":"/dev/vda","maj:min":"254:0","type":"disk","size":274877906944,"rota":true,"ro":false,"rm":false,"mountpoint":null,"mountpoints":[null],"fstype":null}`
	nested  = `{"name":"sda","kname":"sda","path":"/dev/sda","maj:min":"8:0","type":"disk","size":1000204886016,"children":[{"name":"sda1","kname":"sda1","path":"/dev/sda1","type":"part","size":5,"parttype":"0fc63daf-8483-4772-8e79-3d69d8477de4","children":[{"name":"vg-root","kname":"dm-0","path":"/dev/mapper/vg-root","maj:min":"253:0","type":"lvm","size":5,"mountpoints":[null,"/srv"]}]}]}`
	swapped = `{"name":"sdc","kname":"sdc","type":"disk","size":7e9,"mountpoint":"[SWAP]"}`
	typed   = `{"name":"sdd","type":"disk","size":"7000000000","fstype":null,"parttype":"0x83"}`
)

func TestOCEPH08_whatAHostShowsOfItsDisks(t *testing.T) {
	t.Parallel()

	none := ceph.Disk{Path: "-"}

	for name, tt := range map[string]struct {
		section []byte
		path    string
		want    ceph.Disk // without links; Path "-": there is none
		cannot  string    // why a selector does not take it
	}{
		"compressed memory":      {lsblk(zram), "/dev/zram0", ceph.Disk{Name: "zram0", Path: "/dev/zram0", Type: "disk"}, "no disk"},
		"strings for all values": {lsblk(strs), "/dev/sdb", ceph.Disk{Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 960197124096, Rotational: true, Serial: "S0"}, ""},
		"the mounted root disk, of which only the kernel's own list says so": {
			lsblk(vda, "mount\t254:0\t/\t/dev/root"), "/dev/vda",
			ceph.Disk{Name: "vda", Path: "/dev/vda", Type: "disk", Size: 274877906944, Rotational: true, Mounts: []string{"/"}},
			"mounted at /",
		},
		"which that cannot tell either": {
			lsblk(vda, "busy\t/dev/vda\tDevice or resource busy"), "/dev/vda",
			ceph.Disk{Name: "vda", Path: "/dev/vda", Type: "disk", Size: 274877906944, Rotational: true, Busy: "Device or resource busy"},
			"busy",
		},
		"a mount on the third level": {
			lsblk(nested), "/dev/sda",
			ceph.Disk{Name: "sda", Path: "/dev/sda", Type: "disk", Size: 1000204886016, Children: []string{"sda1"}, Mounts: []string{"/srv"}},
			"mounted at /srv",
		},
		"a mapped device under the kernel's name": {
			lsblk(nested, "sig\t/dev/dm-0\txfs"), "/dev/dm-0",
			ceph.Disk{Name: "dm-0", Path: "/dev/mapper/vg-root", Type: "lvm", Size: 5, Mounts: []string{"/srv"}, Signature: "xfs"},
			"type is lvm",
		},
		"swap":                           {lsblk(swapped), "/dev/sdc", ceph.Disk{Name: "sdc", Path: "/dev/sdc", Type: "disk", Size: 7e9, Mounts: []string{"[SWAP]"}}, "swap"},
		"swap that lsblk does not know":  {lsblk(strs, "swap\t/dev/sdb"), "/dev/sdb", ceph.Disk{Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 960197124096, Rotational: true, Serial: "S0", Mounts: []string{"[SWAP]"}}, "swap"},
		"no file system and a part type": {lsblk(typed), "/dev/sdd", ceph.Disk{Name: "sdd", Path: "/dev/sdd", Type: "disk", Size: 7e9, Signature: "a partition of the type 0x83"}, "partition"},
		"a holder":                       {lsblk(strs, "holder\tsdb\tbcache0"), "/dev/sdb", ceph.Disk{Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 960197124096, Rotational: true, Serial: "S0", Children: []string{"bcache0"}}, "bcache0"},
		"an OSD": {
			lsblk(strs, "head\t/dev/sdb\tU\tmain", "label\t/dev/sdb\tosd_uuid\tU", "label\t/dev/sdb\tceph_fsid\tF", "label\t/dev/sdb\twhoami\t7", "label\t/dev/sdb\tdescription\tmain"), "/dev/sdb",
			ceph.Disk{
				Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 960197124096, Rotational: true, Serial: "S0", Signature: ceph.SignatureBlueStore,
				Label: &ceph.Label{FSID: "F", UUID: "U", ID: 7, Role: "main"},
			},
			"",
		},
		"an OSD on a host without Ceph": {
			lsblk(strs, "head\t/dev/sdb\tU\tbluefs db", "sig\t/dev/sdb\tceph_bluestore"), "/dev/sdb",
			ceph.Disk{
				Name: "sdb", Path: "/dev/sdb", Type: "disk", Size: 960197124096, Rotational: true, Serial: "S0", Signature: ceph.SignatureBlueStore,
				Label: &ceph.Label{UUID: "U", ID: -1, Role: ceph.LabelDB},
			},
			"",
		},
		"a file":               {lsblk("", "file\t/srv/a\t4096\t0"), "/srv/a", ceph.Disk{Path: "/srv/a", Type: "file", Size: 4096}, "type is file"},
		"a file with content":  {lsblk("", "file\t/srv/a\t4096\t1"), "/srv/a", ceph.Disk{Path: "/srv/a", Type: "file", Size: 4096, Signature: "content that is no label"}, "type is file"},
		"a path to nothing":    {lsblk("", "missing\t/srv/a"), "/srv/a", none, ""},
		"a folder":             {lsblk("", "other\t/srv"), "/srv", ceph.Disk{Path: "/srv", Type: "other"}, "type is other"},
		"no lsblk at all":      {[]byte("sig\t/dev/sdb\text4\n"), "/dev/sdb", none, ""},
		"an lsblk that is cut": {[]byte("lsblk\n{\"blockdevices\": [\nlsblk end\n"), "/dev/sdb", none, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, ok := ceph.FindDisk(onhost.ParseDisks(tt.section), tt.path)
			if !ok {
				got = none
			}

			got.Links = nil
			if !reflect.DeepEqual(got, tt.want) {
				t.Fatalf("%+v\nwant %+v", got, tt.want)
			}

			if why := got.Unusable(false); ok && (why == "") != (tt.cannot == "") || !strings.Contains(got.Unusable(false), tt.cannot) {
				t.Errorf("cannot be used: %q, want %q", why, tt.cannot)
			}
		})
	}
}

func TestParseDisks_links(t *testing.T) {
	t.Parallel()

	disks := onhost.ParseDisks(lsblk(strs, "link\t/dev/disk/by-path/pci-1\t/dev/sdb", "link\t/dev/disk/by-id/ata-S0\t/dev/sdb",
		"link\t/dev/disk/by-id/wwn-0x5\t/dev/sdb", "link\t/dev/disk/by-id/wwn-0x5-part1\t/dev/sdb1"))

	for _, name := range []string{"/dev/sdb", "/dev/disk/by-path/pci-1", "/dev/disk/by-id/ata-S0"} {
		if d, ok := ceph.FindDisk(disks, name); !ok || d.Stable() != "/dev/disk/by-id/wwn-0x5" || len(d.Links) != 3 {
			t.Errorf("%s: %+v", name, d)
		}
	}

	for _, name := range []string{"/dev/sd", "/dev/sdb1", "sdb", "/dev/sd.", ""} {
		if d, ok := ceph.FindDisk(disks, name); ok {
			t.Errorf("%q: %+v", name, d)
		}
	}
}

// TestScripts_shells: the sections are shell that shells understand, and print nothing that a look
// would take for the begin of another section.
func TestScripts_shells(t *testing.T) {
	t.Parallel()

	for _, sh := range []string{"dash", "bash"} {
		if _, err := exec.LookPath(sh); err != nil {
			continue
		}

		for i, s := range onhost.DeviceScripts {
			cmd := exec.CommandContext(t.Context(), sh, "-n")
			cmd.Stdin = strings.NewReader(s)

			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s, script %s: %v: %s", sh, i, err, out)
			}
		}
	}
}

func FuzzParseDisks(f *testing.F) {
	for _, doc := range []string{zram, strs, vda, nested, swapped, typed, `{"name":[1],"size":-1,"children":{},"mountpoints":"x"}`} {
		f.Add(lsblk(doc, "head\t/dev/sdb\tU", "label\t/dev/sdb", "holder\tsda", "busy", "file\t/a\tx\t", "mount\t8:0", "swap", "link\t/dev/sda\t/dev/sda"))
	}

	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, d := range onhost.ParseDisks(raw) {
			if d.Path == "" || d.Size < 0 || d.Label != nil && d.Label.UUID == "" {
				t.Errorf("%+v", d)
			}

			_ = d.Unusable(false) + d.Unusable(true) + d.Stable()
		}
	})
}

func FuzzParseSlots(f *testing.F) {
	f.Add([]byte("slot\tk\n{\"key\":\"k\",\"path\":\"/dev/sda\",\"uuid\":\"u\",\"secret\":\"s\",\"id\":3}\nslot end\ndevice\tk\t/dev/sda\n"))
	f.Add([]byte("slot\tk\n{\"key\":\"k\"\nslot end\ndevice\tk\n"))
	f.Add([]byte("slot end\nslot\n\nslot\tk\nslot\tl\n"))

	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, s := range onhost.ParseSlots(raw) {
			if s.Key == "" || s.UUID == "" || s.Path == "" || s.ID < -1 {
				t.Errorf("%+v", s)
			}
		}
	})
}

func TestSlotKey(t *testing.T) {
	t.Parallel()

	known := map[string]string{}

	for _, path := range []string{"/dev/sda", "/dev/sd_a", "/dev/sd/a", "/srv/osd a", "/" + strings.Repeat("long/", 40)} {
		for i := range 3 {
			k := onhost.SlotKey(path, i)
			if len(k) > 60 || strings.ContainsAny(k, "/ .$") || k[0] == '-' || known[k] != "" {
				t.Errorf("%s, %d: %s (%s)", path, i, k, known[k])
			}

			known[k] = path
		}
	}

	for _, p := range []string{"", "sda", "/dev/../x", "/a\"b", "/a\nb", "/a\\b", "/a/"} {
		if onhost.CheckPaths(p) == nil {
			t.Errorf("%q is taken", p)
		}
	}
}
