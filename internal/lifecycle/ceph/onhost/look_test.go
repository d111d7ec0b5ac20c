// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/client/remote"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

const oursFSID = "11111111-2222-4333-8444-555555555555"

// seen is what a host of a cluster shows: a monitor and a manager, and things of others.
const seen = `== clock
began 1700000000.100000000
== host
hostname h1
os Debian GNU/Linux 12 (bookworm)
root
cephuser
conf aaaa
fsid 11111111-2222-4333-8444-555555555555
== identity
{"v":1,"name":"prod","fsid":"11111111-2222-4333-8444-555555555555","mon_secret":"s3","last_mon":2}

== daemons
run mon a 4711 new
run osd 3 4712 old
run mon ;rm 1 new
run mon b x new
folder mon a 11111111-2222-4333-8444-555555555555
folder mon b 99999999-2222-4333-8444-555555555555
folder mon ceph-c ?
folder mgr x -
folder osd 3 11111111-2222-4333-8444-555555555555
folder osd 4 -
say mgr x -1 a: handle_auth_bad_method
say mgr x -1 failed to fetch
unit mgr x off
unit mon a on
== preflight
program ceph-mon /usr/bin/ceph-mon
program ceph-osd alias ceph-osd=x
version ceph-osd ceph version 16.2.14 (6183) pacific (stable)
version ceph version 9
version ceph-mon ceph version 16.2.15 (6184) pacific (stable)
version ceph-mgr
librados
df /dev/mapper/vg root 264212084 199 65016000 76% /var
closed /var/lib/private
port 3300 4711 ours ceph-mon
port 6789 0 other 
port x 1 other x
store mon ceph-c 0000
store mon a 0000
cephfsid osd 4 99999999-2222-4333-8444-555555555555
holds mgr y
== slots
== disks
== end
ended 1700000000.300000000
`

func TestLook_reads(t *testing.T) {
	t.Parallel()

	f, err := onhost.ParseLook([]byte(seen), layout())
	must(t, err)

	if f.Hostname != "h1" || f.OS != "Debian GNU/Linux 12 (bookworm)" || !f.Root || !f.CephUser || f.Systemd || f.ConfSum != "aaaa" || f.AdminSum != "" {
		t.Errorf("host: %+v", f)
	}

	if f.Identity == nil || f.Identity.FSID != oursFSID || f.Identity.LastMon != 2 {
		t.Errorf("identity: %+v", f.Identity)
	}

	var daemons []string
	for _, d := range f.Daemons {
		daemons = append(daemons, fmt.Sprintf("%s made=%v pid=%d old=%v stopped=%v", d.Daemon, d.Made, d.PID, d.Old, d.Stopped))
	}

	want := []string{
		"mgr.x made=false pid=0 old=false stopped=true",
		"mon.a made=true pid=4711 old=false stopped=false",
		"osd.3 made=true pid=4712 old=true stopped=false",
		"osd.4 made=false pid=0 old=false stopped=false",
	}
	if !slices.Equal(daemons, want) {
		t.Errorf("daemons:\n%s", strings.Join(daemons, "\n"))
	}

	if w := f.Daemons[0].Words; w != "-1 a: handle_auth_bad_method\n-1 failed to fetch" {
		t.Errorf("words %q", w)
	}

	if f.Version != "ceph version 16.2.15 (6184) pacific (stable)" || !f.Librados || f.Closed != "/var/lib/private" || len(f.Programs) != 1 {
		t.Errorf("programs: %+v", f)
	}

	if v := fmt.Sprint(f.Versions); v != "map[ceph:version 9 ceph-mon:ceph version 16.2.15 (6184) pacific (stable) ceph-osd:ceph version 16.2.14 (6183) pacific (stable)]" {
		t.Errorf("versions %s", v)
	}

	if f.Total != 264212084<<10 || f.Free != 65016000<<10 {
		t.Errorf("space %d %d", f.Total, f.Free)
	}

	if p := fmt.Sprint(f.Ports); p != "[{3300 ceph-mon true} {6789  false}]" {
		t.Errorf("ports %s", p)
	}

	var left []string
	for _, o := range f.Leftovers {
		left = append(left, strings.TrimPrefix(o.Path, layout().Dir+"/")+" "+o.FSID)
	}

	if got := strings.Join(left, ","); got != "mon/b 99999999-2222-4333-8444-555555555555,mon/ceph-c ,osd/4 99999999-2222-4333-8444-555555555555" {
		t.Errorf("leftovers %s", got)
	}
}

func TestLook_whoseIsIt(t *testing.T) {
	t.Parallel()

	key := sha256.Sum256([]byte("s3"))
	store := "== preflight\nstore mon a " + hex.EncodeToString(key[:]) + "\n== end\n"

	cases := map[string]struct {
		out    string
		layout func(l *ceph.Layout)
		left   int
		made   int
	}{
		"a store that was begun has our secret":        {"== identity\n{\"name\":\"prod\",\"fsid\":\"" + oursFSID + "\",\"mon_secret\":\"s3\"}\n== daemons\nfolder mon a -\n" + store, nil, 0, 0},
		"without an identity it may be anybody's":      {"== daemons\nfolder mon a -\n" + store, nil, 1, 0},
		"before there is an fsid, it is the found one": {"== host\nfsid " + oursFSID + "\n== identity\n{\"name\":\"prod\",\"fsid\":\"" + oursFSID + "\"}\n== daemons\nfolder mon a " + oursFSID + "\n== end\n", func(l *ceph.Layout) { l.FSID = "" }, 0, 1},
		"but not that of another name":                 {"== host\nfsid " + oursFSID + "\n== identity\n{\"name\":\"test\",\"fsid\":\"" + oursFSID + "\"}\n== daemons\nfolder mon a " + oursFSID + "\n== end\n", func(l *ceph.Layout) { l.FSID = "" }, 3, 0},
		"another fsid under our name":                  {"== identity\n{\"name\":\"prod\",\"fsid\":\"f2\"}\n== end\n", nil, 1, 0},
		"another configuration":                        {"== host\nfsid \"f2\"\n== end\n", nil, 1, 0},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			l := layout()
			if tc.layout != nil {
				tc.layout(&l)
			}

			f, err := onhost.ParseLook([]byte(tc.out), l)
			must(t, err)

			made := 0

			for _, d := range f.Daemons {
				if d.Made {
					made++
				}
			}

			if len(f.Leftovers) != tc.left || made != tc.made {
				t.Errorf("leftovers %+v, daemons %+v", f.Leftovers, f.Daemons)
			}
		})
	}
}

func TestLook_noIdentityIsMadeUp(t *testing.T) {
	t.Parallel()

	for name, out := range map[string]string{
		"cut off":          "== identity\n{\"v\":1,\"name\":\"prod\",\"mon_secret\":\"s3cret\n== end\n",
		"without an fsid":  "== identity\n{\"mon_secret\":\"s3cret\"}\n== end\n",
		"not readable":     "== identity\nunreadable\n== end\n",
		"the look cut off": "== identity\n",
		"nothing at all":   "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := onhost.New(&scripted{answers: []answer{says(out)}}).Look(t.Context(), layout(), ceph.Ask{})
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// paced answers after a while, with a clock that goes wrong.
type paced struct {
	remote.Host
	ahead  time.Duration
	first  time.Duration
	asked  int
	coarse bool
}

func (*paced) Name() string { return "h" }

func (p *paced) Run(ctx context.Context, _ remote.Command) (remote.Result, error) {
	p.asked++

	way := time.Millisecond
	if p.asked == 1 {
		way = p.first
	}

	time.Sleep(way)

	stamp := func() string {
		at := time.Now().Add(p.ahead)
		if p.coarse {
			return fmt.Sprintf("%d.N", at.Unix())
		}

		return fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond())
	}

	out := "== clock\nbegan " + stamp()

	time.Sleep(300 * time.Millisecond) // the look itself

	out += "\n== end\nended " + stamp() + "\n"

	time.Sleep(time.Millisecond)

	return remote.Result{Stdout: []byte(out)}, ctx.Err()
}

func TestLook_clock(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		p    paced
		by   time.Duration
		asks int
	}{
		"how long the look takes does not count": {paced{ahead: time.Minute, first: time.Millisecond}, 2 * time.Millisecond, 1},
		"behind":                                 {paced{ahead: -2 * time.Second, first: time.Millisecond}, 2 * time.Millisecond, 1},
		"the first command also connects":        {paced{ahead: time.Second, first: 3 * time.Second}, 2 * time.Millisecond, 2},
		"a host that knows whole seconds":        {paced{ahead: time.Minute, first: time.Millisecond, coarse: true}, 2 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				f, err := onhost.New(&tc.p).Look(t.Context(), layout(), ceph.Ask{Preflight: true})
				must(t, err)

				if off := (f.Clock - tc.p.ahead).Abs(); off > f.ClockBy || f.ClockBy > tc.by || tc.p.asked != tc.asks {
					t.Errorf("ahead %v by %v after %d commands, want %v", f.Clock, f.ClockBy, tc.p.asked, tc.p.ahead)
				}
			})
		})
	}
}

func TestLook_onThisMachine(t *testing.T) {
	t.Parallel()

	c := newCluster(t, "ceph")

	busy, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	must(t, err)

	defer busy.Close()

	c.up(t)
	must(t, os.MkdirAll(filepath.Join(c.l.Dir, "mon", "ceph-old", "store.db"), 0o700))

	taken := busy.Addr().(*net.TCPAddr).Port

	f, err := c.Look(t.Context(), c.l, ceph.Ask{Preflight: true, Ports: []int{c.port, taken, c.port + 1000}})
	must(t, err)

	if name, _ := os.Hostname(); f.Hostname != name || !f.Root || !f.CephUser || f.OS == "" {
		t.Errorf("host: %+v", f)
	}

	if f.Programs["ceph-mon"] == "" || !strings.HasPrefix(f.Version, "ceph version ") || !f.Librados || f.Free <= 0 || f.Total < f.Free {
		t.Errorf("preflight: %+v", f)
	}

	for _, p := range []string{"ceph-mon", "ceph-mgr", "ceph-osd", "ceph-mds"} {
		if v := f.Versions[p]; !strings.HasPrefix(v, "ceph version ") || f.Programs[p] == "" {
			t.Errorf("%s in %q: version %q", p, f.Programs[p], v)
		}
	}

	if f.Clock.Abs() > f.ClockBy {
		t.Errorf("our own clock is %v (by %v) ahead", f.Clock, f.ClockBy)
	}

	want := fmt.Sprintf("[{%d ceph-mon true} {%d onhost.test false}]", c.port, taken)
	if got := fmt.Sprint(f.Ports); got != want {
		t.Errorf("ports %s, want %s", got, want)
	}

	if len(f.Leftovers) != 1 || f.Leftovers[0].Path != filepath.Join(c.l.Dir, "mon", "ceph-old") {
		t.Errorf("leftovers %+v", f.Leftovers)
	}

	sum := sha256.Sum256(c.files()[0].Data)
	if f.ConfSum != hex.EncodeToString(sum[:]) {
		t.Errorf("checksum %s", f.ConfSum)
	}

	t.Run("the programs alone", func(t *testing.T) {
		few, err := c.Look(t.Context(), c.l, ceph.Ask{Programs: true, Ports: []int{taken}})
		must(t, err)

		if !maps.Equal(few.Versions, f.Versions) || !maps.Equal(few.Programs, f.Programs) || few.Total != 0 || len(few.Ports) > 0 {
			t.Errorf("%+v", few)
		}
	})

	t.Run("a folder that the daemons cannot enter", func(t *testing.T) {
		closed := filepath.Join(filepath.Dir(c.l.Dir), "closed")
		must(t, os.Mkdir(closed, 0o700))

		l := c.l
		l.Dir, l.User = filepath.Join(closed, "below", "x"), "" // not known yet: it will be ceph

		f, err := c.Look(t.Context(), l, ceph.Ask{Preflight: true})
		must(t, err)

		if f.Closed != closed || f.Free <= 0 {
			t.Errorf("closed %q, free %d, want %q", f.Closed, f.Free, closed)
		}
	})
}

func TestScripts_inEveryShell(t *testing.T) {
	t.Parallel()

	for _, shell := range []string{"dash", "bash --posix", "busybox ash"} {
		words := strings.Fields(shell)
		if _, err := exec.LookPath(words[0]); err != nil {
			acctest.Missing(t, words[0])
		}

		for name, script := range onhost.Scripts {
			t.Run(shell+" reads "+name, func(t *testing.T) {
				t.Parallel()
				run(t, words[0], append(words[1:], "-n", "-c", script)...)
			})
		}

		t.Run(shell+" looks", func(t *testing.T) {
			t.Parallel()

			dir := t.TempDir()
			args := append(words[1:], "-c", onhost.Scripts["look"], "sh", dir, "1", "0", "1", "daemon", "22 2379")

			f, err := onhost.ParseLook(run(t, words[0], args...), layout())
			if err != nil || f.Hostname == "" || f.Free == 0 || len(f.Daemons) != 0 || len(f.Leftovers) != 0 {
				t.Errorf("%+v, %v", f, err)
			}
		})
	}
}

func FuzzLook(f *testing.F) {
	f.Add([]byte(seen))
	f.Add([]byte("== daemons\nrun mon\nfolder\nsay x\nrun osd 3 99999999999999999999 new\n== preflight\nport\ndf x 1 2\n== end"))
	f.Fuzz(func(t *testing.T, out []byte) {
		facts, err := onhost.ParseLook(out, layout())
		if err != nil && !errors.Is(err, onhost.ErrIdentity) && !errors.Is(err, onhost.ErrCommand) && !errors.Is(err, ceph.ErrHidden) {
			t.Fatal(err)
		}

		for _, d := range facts.Daemons {
			if strings.ContainsAny(d.String(), "/ \n;") {
				t.Fatalf("a daemon called %q", d)
			}
		}
	})
}
