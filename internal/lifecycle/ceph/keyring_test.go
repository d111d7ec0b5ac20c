// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package ceph_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph"
)

func TestNewKey(t *testing.T) {
	t.Parallel()

	key := ceph.NewKey(time.Unix(0x01020304, 0x05060708))

	raw, err := base64.StdEncoding.DecodeString(string(key))
	if err != nil || len(raw) != 28 {
		t.Fatalf("%d bytes, %v", len(raw), err)
	}

	// type 1, seconds, nanoseconds, 16 bytes to come: all little-endian
	if got := hex.EncodeToString(raw[:12]); got != "0100"+"04030201"+"08070605"+"1000" {
		t.Errorf("head %s", got)
	}

	if key == ceph.NewKey(time.Unix(0x01020304, 0x05060708)) {
		t.Error("two keys are one")
	}

	if s := fmt.Sprintf("%v %s %q %#v %x", key, key, key, key, key); strings.Contains(s, string(key)) || strings.Contains(s, hex.EncodeToString(raw)) {
		t.Errorf("a key shows itself: %s", s)
	}
}

func TestValidKey(t *testing.T) {
	t.Parallel()

	good := ceph.NewKey(time.Now())

	for name, tc := range map[string]struct {
		key  ceph.Secret
		want bool
	}{
		"of ours":          {good, true},
		"of ceph-authtool": {"AQAPKGpmAAAAABAA5Z4Vb4Yq4sQYv1cG4Rr9eA==", true},
		"empty":            {"", false},
		"a word":           {"secret", false},
		"cut off":          {good[:20], false},
		"of another type":  {"AgAPKGpmAAAAABAA5Z4Vb4Yq4sQYv1cG4Rr9eA==", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := ceph.ValidKey(tc.key); got != tc.want {
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestNewFSID(t *testing.T) {
	t.Parallel()

	a, b := ceph.NewFSID(), ceph.NewFSID()
	if a == b || !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(a) {
		t.Errorf("%s, %s", a, b)
	}
}

func TestKeyring_readsWhatItWrites(t *testing.T) {
	t.Parallel()

	mon, admin := ceph.NewKey(time.Now()), ceph.NewKey(time.Now())

	seed := ceph.SeedKeyring(mon, admin)
	if ceph.KeyOf(seed, "mon.") != mon || ceph.KeyOf(seed, "client.admin") != admin || ceph.KeyOf(seed, "osd.0") != "" {
		t.Error("a key is lost")
	}

	all := ceph.ParseKeyring(seed)
	if len(all) != 2 || all[0].Caps["mon"] != "allow *" || len(all[1].Caps) != 4 || all[1].Caps["mgr"] != "allow *" {
		t.Errorf("entries %+v", all)
	}

	if got := ceph.KeyOf(ceph.DaemonKeyring(ceph.OSDDaemon(3), mon), "osd.3"); got != mon {
		t.Error("an OSD's key is lost")
	}

	if got := ceph.KeyOf(ceph.AdminKeyring(admin), "client.admin"); got != admin {
		t.Error("the admin's key is lost")
	}
}

func TestKeyring_readsThatOfCeph(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("runs ceph-authtool")
	}

	if _, err := exec.LookPath("ceph-authtool"); err != nil {
		acctest.Missing(t, "ceph-authtool")
	}

	file := filepath.Join(t.TempDir(), "k")
	tool := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "ceph-authtool", append([]string{file}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("ceph-authtool %v: %v: %s", args, err, out)
		}

		return strings.TrimSpace(string(out))
	}

	tool("-C", "--gen-key", "-n", "client.x", "--cap", "mon", "profile rbd", "--cap", "osd", "allow rwx pool=a, allow r pool=b")

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	all := ceph.ParseKeyring(text)
	if len(all) != 1 || all[0].Entity != "client.x" || !ceph.ValidKey(all[0].Key) || all[0].Caps["osd"] != "allow rwx pool=a, allow r pool=b" {
		t.Errorf("entries %+v of %q", all, text)
	}

	// And it reads ours.
	mon, admin := ceph.NewKey(time.Now()), ceph.NewKey(time.Now())
	if err := os.WriteFile(file, ceph.SeedKeyring(mon, admin), 0o600); err != nil {
		t.Fatal(err)
	}

	if got := tool("-p", "-n", "client.admin"); got != string(admin) {
		t.Error("Ceph reads another key")
	}

	if got := tool("-p", "-n", "mon."); got != string(mon) {
		t.Error("Ceph reads another secret")
	}
}

func FuzzParseKeyring(f *testing.F) {
	f.Add([]byte("[mon.]\n\tkey = AQ==\n\tcaps mon = \"allow *\"\n"))
	f.Add([]byte("key = x\n[\n[a]]\ncaps = 1\ncaps  osd=\n=\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		all := ceph.ParseKeyring(text)
		_ = ceph.KeyOf(text, "mon.")

		if len(all) > strings.Count(string(text), "[") {
			t.Fatalf("%d entries", len(all))
		}
	})
}
