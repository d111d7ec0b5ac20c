// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// fakes are programs that this machine cannot really run: it has no device mapper. They note what
// they were called with, and keep their state in files.
type fakes struct {
	dir string
	env []string
}

const fakeLVM = `#!/bin/sh
cd "$FAKE" || exit 9
echo "${0##*/} $*" >>log
case ${0##*/} in
vgs) [ -f vg ] || exit 5; case $* in *pv_name*) echo " $(cat pv)" ;; *) echo "  $(cat vg)" ;; esac ;;
vgcreate) echo "$3" >vg; echo "$5" >pv ;;
pvs) echo "  $(cat pv-group)" ;;
lvs) case $* in */*) [ -f "lv-${*##*/}" ] || exit 5; echo "  $(cat "lv-${*##*/}")" ;; *) sleep 0.3; ls lv-* 2>/dev/null ;; esac ;;
lvcreate) while [ $# -gt 0 ]; do case $1 in --addtag) t=$t,$2 ;; -n) n=$2 ;; esac; shift; done; echo "${t#,}" >"lv-$n" ;;
lvremove) rm "lv-${*##*/}" ;;
vgremove) [ -f vg ] && rm vg ;;
esac
`

const fakeCryptsetup = `#!/bin/sh
cd "$FAKE" || exit 9
echo "cryptsetup $*" >>log
key=
case $* in *--key-file*) for a in "$@"; do [ "$last" != --key-file ] || key=$a; last=$a; done ;; esac
case $* in
*isLuks*) [ -f header ] ;;
*luksFormat*) cat "$key" >header ;;
*open*) cmp -s "$key" header ;;
esac
`

func newFakes(t *testing.T) *fakes {
	t.Helper()

	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "bin"), 0o700))

	for _, name := range []string{"vgs", "vgcreate", "lvs", "lvcreate", "lvchange", "lvremove", "vgremove", "pvremove", "pvs"} {
		must(t, os.WriteFile(filepath.Join(dir, "bin", name), []byte(fakeLVM), 0o700))
	}

	must(t, os.WriteFile(filepath.Join(dir, "bin", "cryptsetup"), []byte(fakeCryptsetup), 0o700))

	return &fakes{dir: dir, env: append(os.Environ(), "FAKE="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))}
}

// run runs one of our scripts with these tools, and returns its exit status and words.
func (f *fakes) run(t *testing.T, script, stdin string, params ...string) (int, string) {
	t.Helper()

	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", onhost.DeviceScripts[script], "sh"}, params...)...)
	cmd.Env, cmd.Stdin = f.env, strings.NewReader(stdin)

	var words bytes.Buffer

	cmd.Stderr = &words
	err := cmd.Run()

	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}

	return cmd.ProcessState.ExitCode(), words.String()
}

// log is what was called since the last time.
func (f *fakes) log() string {
	raw, _ := os.ReadFile(filepath.Join(f.dir, "log"))
	_ = os.Remove(filepath.Join(f.dir, "log"))

	return string(raw)
}

// record writes one, as a slot's folder has it.
func (f *fakes) record(t *testing.T, fields ...string) string {
	t.Helper()

	return f.recordAs(t, "k", fields...)
}

func (f *fakes) recordAs(t *testing.T, key string, fields ...string) string {
	t.Helper()

	dir := filepath.Join(f.dir, "c", "slots", key)
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "slot.json"), []byte("{\n \"key\": \""+key+"\",\n "+strings.Join(fields, ",\n ")+"\n}\n"), 0o600))

	return dir
}

func TestVolume(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "") // for root and Ceph alone
	f := newFakes(t)
	dev := loop(t, sparse(t, filepath.Join(t.TempDir(), "disk"), gib))
	dir := f.record(t, `"uuid": "u-1"`, `"path": "`+dev+`"`, `"volume": "/dev/metal3-ceph-x/osd-0"`, `"made": false`)
	params := []string{filepath.Join(dir, "slot.json"), c.l.FSID, "metal3-ceph-x", "osd-0", "2"}

	code, words := f.run(t, "volume", "", params...)
	log := f.log()

	for _, want := range []string{"vgcreate --yes --addtag metal3.fsid=" + c.l.FSID + " metal3-ceph-x " + dev, "--addtag metal3.osd=u-1 -l 50%FREE -n osd-0 metal3-ceph-x"} {
		if code != 0 || !strings.Contains(log, want) {
			t.Fatalf("%d %s: no %q in\n%s", code, words, want, log)
		}
	}

	if code, words := f.run(t, "volume", "", params...); code != 0 || strings.Contains(f.log(), "create") {
		t.Errorf("again: %d %s", code, words)
	}

	must(t, os.WriteFile(filepath.Join(f.dir, "vg"), []byte("metal3.fsid=other\n"), 0o600))

	if code, words := f.run(t, "volume", "", params...); code != 91 || !strings.Contains(words, "metal3-ceph-x") {
		t.Errorf("the group of somebody else: %d %s", code, words)
	}

	wipe := []string{filepath.Join(f.dir, "c"), c.l.FSID, "k", "u-1", "quick", "1"}
	must(t, os.WriteFile(filepath.Join(dir, "wiped-main"), []byte("done\n"), 0o600))

	if code, _ := f.run(t, "wipe", "", wipe...); code != 91 || strings.Contains(f.log(), "remove") {
		t.Errorf("the group of somebody else is removed: %d", code)
	}

	must(t, os.WriteFile(filepath.Join(f.dir, "vg"), []byte("metal3.fsid="+c.l.FSID+"\n"), 0o600))

	code, words = f.run(t, "wipe", "", wipe...)
	log = f.log()

	for _, want := range []string{"lvremove --yes metal3-ceph-x/osd-0", "vgremove --yes metal3-ceph-x", "pvremove --yes " + dev} {
		if code != 0 || !strings.Contains(log, want) {
			t.Errorf("%d %s: no %q in\n%s", code, words, want, log)
		}
	}
}

func TestVolume_onlyWhereNothingIs(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "") // for root and Ceph alone

	cases := map[string]struct {
		put  func(t *testing.T, dev string)
		note bool   // of a making that was cut off
		of   string // the group that LVM knows the device to be in
		say  string // empty: the group is made
	}{
		"a file system":                    {with("mkfs.ext4", "-q", "-F"), false, "", "holds data: ext4"},
		"a partition table":                {partitioned, false, "", "holds data: dos"},
		"the OSD of another cluster":       {otherOSD, true, "", "carries an OSD, with the uuid 77777777-"},
		"a device of LVM":                  {with("pvcreate", "-q"), false, "", "holds data: LVM2_member"},
		"one in a group of somebody":       {with("pvcreate", "-q"), true, "vg0", "holds data: LVM2_member"},
		"one of a making that was cut off": {with("pvcreate", "-q"), true, "", ""},
		"nothing":                          {nil, false, "", ""},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFakes(t)
			dev := loop(t, sparse(t, filepath.Join(t.TempDir(), "disk"), 2*gib))
			dir := f.record(t, `"uuid": "u-1"`, `"path": "`+dev+`"`, `"volume": "/dev/metal3-ceph-x/osd-0"`, `"made": false`)
			must(t, os.WriteFile(filepath.Join(f.dir, "pv-group"), []byte(tc.of), 0o600))

			if tc.put != nil {
				tc.put(t, dev)
			}

			if tc.note {
				must(t, os.WriteFile(filepath.Join(dir, "grouping"), []byte(dev+"\n"), 0o600))
			}

			code, words := f.run(t, "volume", "", filepath.Join(dir, "slot.json"), c.l.FSID, "metal3-ceph-x", "osd-0", "1")
			log := f.log()

			if tc.say == "" {
				if code != 0 || !strings.Contains(log, "vgcreate") {
					t.Errorf("%d %s:\n%s", code, words, log)
				}

				if _, err := os.Stat(filepath.Join(dir, "grouping")); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("the note: %v", err)
				}

				return
			}

			if code != 92 || !strings.Contains(words, dev+" "+tc.say) || strings.Contains(log, "vgcreate") {
				t.Errorf("%d %s:\n%s", code, words, log)
			}
		})
	}
}

func TestVolumes_ofOneGroupGoSideBySide(t *testing.T) {
	t.Parallel()

	newCluster(t, "") // for root and Ceph alone

	f := newFakes(t)
	must(t, os.WriteFile(filepath.Join(f.dir, "vg"), []byte("metal3.fsid=F\n"), 0o600))
	must(t, os.WriteFile(filepath.Join(f.dir, "pv"), []byte("/dev/sdx\n"), 0o600))

	type end struct {
		code  int
		words string
	}

	keys := []string{"k0", "k1", "k2"}
	ends := make(chan end, len(keys))

	for i, key := range keys {
		n := strconv.Itoa(i)
		dir := f.recordAs(t, key, `"uuid": "u-`+n+`"`, `"path": "/dev/sdx"`, `"volume": "/dev/metal3-ceph-x/osd-`+n+`"`, `"made": true`)
		must(t, os.WriteFile(filepath.Join(f.dir, "lv-osd-"+n), []byte("metal3.fsid=F,metal3.osd=u-"+n+"\n"), 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "wiped-main"), []byte("done\n"), 0o600))
	}

	for i, key := range keys {
		go func() {
			code, words := f.run(t, "wipe", "", filepath.Join(f.dir, "c"), "F", key, "u-"+strconv.Itoa(i), "quick", "1")
			ends <- end{code, words}
		}()
	}

	for range keys {
		if e := <-ends; e.code != 0 {
			t.Errorf("%d %s", e.code, e.words)
		}
	}

	if log := f.log(); strings.Count(log, "lvremove ") != 3 || strings.Count(log, "vgremove ") != 1 || strings.Count(log, "pvremove --yes /dev/sdx") != 1 {
		t.Errorf("called:\n%s", log)
	}
}

func TestEncrypt(t *testing.T) {
	t.Parallel()

	newCluster(t, "") // for root and Ceph alone

	f := newFakes(t)
	dev := loop(t, sparse(t, filepath.Join(t.TempDir(), "disk"), gib))
	dir := f.record(t, `"uuid": "u-1"`, `"path": "`+dev+`"`, `"encrypted": true`, `"made": false`)

	code, words := f.run(t, "encrypt", "the first key", dir)
	log := f.log()

	if code != 0 || !strings.Contains(log, "luksFormat --type luks2 --key-file "+dir+"/luks "+dev) || !strings.Contains(log, "open --key-file "+dir+"/luks "+dev+" metal3-ceph-u-1") {
		t.Fatalf("%d %s:\n%s", code, words, log)
	}

	if strings.Contains(log, "the first key") {
		t.Error("the key is in the arguments")
	}

	if info, err := os.Stat(filepath.Join(dir, "luks")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}

	if code, words := f.run(t, "encrypt", "another key", dir); code != 0 || strings.Contains(f.log(), "luksFormat") {
		t.Errorf("again: %d %s", code, words)
	}

	if key, _ := os.ReadFile(filepath.Join(dir, "luks")); string(key) != "the first key" {
		t.Errorf("the key became %q", key)
	}

	must(t, os.WriteFile(filepath.Join(f.dir, "header"), []byte("somebody's"), 0o600))

	if code, words := f.run(t, "encrypt", "x", dir); code != 91 || strings.Contains(f.log(), "luksFormat") {
		t.Errorf("somebody's header: %d %s", code, words)
	}

	if code, words := f.run(t, "wipe", "", filepath.Join(f.dir, "c"), "F", "k", "u-1", "quick", "1"); code != 91 {
		t.Errorf("somebody's header is wiped: %d %s", code, words)
	}
}

func TestForget(t *testing.T) {
	t.Parallel()

	record := func(uuid string) string {
		return "{\n \"key\": \"k\",\n \"uuid\": \"" + uuid + "\",\n \"path\": \"/dev/x\"\n}\n"
	}

	for name, tc := range map[string]struct {
		holds string // -: there is no record
		gone  bool
	}{
		"the record that is meant":          {record("u-1"), true},
		"the record of another OSD":         {record("u-2"), false},
		"a record that cannot be read":      {"", false},
		"a folder that its record has left": {"-", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := folder(t)
			key := filepath.Join(l.Slots(), "k", "luks")
			put(t, key, "KEY")

			if tc.holds != "-" {
				put(t, filepath.Join(l.Slots(), "k", "slot.json"), tc.holds)
			}

			err := onhost.New(local(t)).Forget(t.Context(), l, ceph.Slot{Key: "k", UUID: "u-1", Path: "/dev/x"})
			_, there := os.Stat(key)

			if tc.gone != (err == nil) || tc.gone != errors.Is(there, os.ErrNotExist) || !tc.gone && !errors.Is(err, ceph.ErrForeign) {
				t.Errorf("error %v; its key: %v", err, there)
			}
		})
	}
}

func TestMakeSlot_goesOnWithAVolumeOnlyWhereNothingIs(t *testing.T) {
	t.Parallel()

	record := `{"key":"sdx-0-1","path":"/dev/sdx","uuid":"u-1","secret":"x","id":-1,"backend":"lvm","volume":"/dev/metal3-ceph-x/osd-0"}`
	look := func(facts string) string {
		return "== slots\nslot\tsdx-0-1\n" + record + "\nslot end\n== disks\nlsblk\n" +
			`{"blockdevices":[{"name":"sdx","kname":"sdx","path":"/dev/sdx","maj:min":"8:16","type":"disk","size":21474836480}]}` + "\nlsblk end\n" + facts + "== end\n"
	}

	for name, tc := range map[string]struct {
		facts string
		kind  error // nil: it goes on
	}{
		"a file system":              {"sig\t/dev/sdx\text4\n", ceph.ErrInUse},
		"the OSD of another cluster": {"head\t/dev/sdx\tu-9\tmain\nlabel\t/dev/sdx\tceph_fsid\t" + other + "\n", ceph.ErrForeign},
		"a volume group":             {"sig\t/dev/sdx\tLVM2_member\nbusy\t/dev/sdx\tDevice or resource busy\n", nil},
		"nothing":                    {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := &scripted{answers: []answer{says(look(tc.facts))}}
			spec := raw("/dev/sdx")
			spec.Backend = ceph.BackendLVM

			_, err := onhost.New(s).MakeSlot(t.Context(), layout(), spec)
			if asked := len(s.asked) > 1; asked != (tc.kind == nil) || tc.kind != nil && !errors.Is(err, tc.kind) {
				t.Errorf("asked %v, error %v", asked, err)
			}
		})
	}
}
