// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest"
	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// plain is a user of the hosts who needs a password for sudo.
const plain = "plain"

// far are three hosts behind SSH servers, and the configuration of a cluster on them.
type far struct {
	workspace

	hosts *acctest.Hosts
	known string // known_hosts
}

func newFar(t *testing.T) *far {
	t.Helper()

	f := &far{hosts: acctest.CephHosts(t, 3), known: filepath.Join(t.TempDir(), "known_hosts")}

	var known strings.Builder

	for i := range 3 {
		h := f.hosts.Host(i + 1)
		fmt.Fprintf(&known, "%s %s\n", h.Address, h.HostKey)
	}

	if err := os.WriteFile(f.known, []byte(known.String()), 0o600); err != nil {
		t.Fatal(err)
	}

	f.Workspace = tfrun.New(t, fmt.Sprintf(`provider "metal3" {
  ssh = {
    known_hosts_file = %q
    private_key      = <<-KEY
%s
    KEY
  }
}
`, f.known, strings.TrimSpace(f.key())))

	return f
}

func (f *far) key() string { return f.hosts.Host(1).Config.PrivateKey }

// own is a connection with all that it needs of its own.
func (f *far) own(i int, hostKey, more string) string {
	h := f.hosts.Host(i)

	return fmt.Sprintf("connection = {\n      host        = %q\n      host_key    = %q\n      private_key = <<-KEY\n%s\n    KEY\n%s    }\n", h.Address, hostKey, strings.TrimSpace(f.key()), more)
}

// config wants a monitor, a manager and an OSD on each host, which is reached as said, or as
// the provider says.
func (f *far) config(connections ...string) {
	f.T.Helper()

	var hosts strings.Builder

	for i := range 3 {
		h := f.hosts.Host(i + 1)

		connection := ""
		if i < len(connections) {
			connection = connections[i]
		}

		fmt.Fprintf(&hosts, "    %s = {\n      address = %q\n      %s\n    }\n", h.Name, h.Address, connection)
	}

	f.Write("main.tf", fmt.Sprintf(`resource "metal3_ceph_cluster" "this" {
  name  = "far"
  hosts = {
%s  }

  mgr     = { count = 2 }
  network = { public = [%q] }
  config  = { mgr = { mgr_disabled_modules = %q } }

  storage = {
    backend         = "file"
    allow_file_osds = true
    devices         = [for h in ["h1", "h2", "h3"] : { host = h, path = "/var/tmp/osd0.img" }]
  }

%s
}
`, hosts.String(), f.hosts.Network(), slow, confirmed))
}

// untouched wants nothing to be there.
func (f *far) untouched() {
	f.T.Helper()

	if o := f.state(); o != nil {
		f.T.Errorf("the state has %+v", o)
	}

	for _, name := range []string{"h1", "h2", "h3"} {
		if got := f.hosts.Run(name, "find /var/lib/ceph /var/tmp -mindepth 1; pgrep -l '^ceph-' || :"); got != "" {
			f.T.Errorf("%s has: %s", name, got)
		}
	}
}

// TestHosts_threeOverSSH makes a cluster of three hosts. Whatever is wrong with one of them is
// found out before anything is made, and said in words that help.
func TestHosts_threeOverSSH(t *testing.T) {
	t.Parallel()

	f := newFar(t)
	trace := filepath.Join(f.Dir, "trace.log")
	f.Env = append(f.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	right := f.hosts.Host(1).HostKey

	said := f.wrong(right)

	f.config(f.own(1, right, ""), fmt.Sprintf("connection = { host = %q, host_key = %q }", f.hosts.Host(2).Address, f.hosts.Host(2).HostKey))

	said += f.Must("apply", "-auto-approve")
	f.Empty()

	o := f.state()
	if o == nil || !o.Attributes.Ready || len(o.Attributes.OSDs) != 3 {
		t.Fatalf("the state has %+v", o)
	}

	for i, name := range []string{"h1", "h2", "h3"} {
		if got := strings.TrimSpace(f.hosts.Run(name, "pgrep -c '^ceph-(mon|osd)$'")); got != "2" {
			t.Errorf("on %s run %s of monitor and OSD", name, got)
		}

		if id := o.Attributes.ID; !strings.Contains(id, f.hosts.Host(i+1).Address) {
			t.Errorf("the id %s does not name %s", id, name)
		}
	}

	said += f.imported(o)
	said += f.Must("destroy", "-auto-approve")
	f.untouched()

	log, err := os.ReadFile(trace)
	if err != nil || len(log) < 100_000 {
		t.Fatalf("the log has %d bytes: %v", len(log), err)
	}

	_, adminKey, _ := strings.Cut(o.Attributes.AdminKeyring, "key = ")
	secret := strings.Split(f.key(), "\n")[2]

	for what, text := range map[string]string{"what Terraform says": said, "the log": string(log)} {
		if strings.Contains(text, secret) || strings.Contains(text, strings.Fields(adminKey)[0]) || strings.Contains(text, o.Attributes.MonSecret) {
			t.Errorf("a secret is in %s", what)
		}
	}
}

// imported takes the cluster out of the state and finds it again through one of its hosts: what
// is found is as wanted, but for what no cluster can know.
func (f *far) imported(was *object) (said string) {
	f.T.Helper()

	said = f.Must("state", "rm", this)
	said += f.Must("import", this, was.Attributes.FSID+"@"+f.hosts.Host(2).Address+"/var/lib/ceph")

	o := f.state()
	if o == nil || !o.Attributes.Ready || len(o.Attributes.Drift) > 0 || len(o.Attributes.OSDs) != 3 || len(o.Attributes.Hosts) != 3 ||
		o.Attributes.FSID != was.Attributes.FSID || o.Attributes.MonEndpoints != was.Attributes.MonEndpoints {
		f.T.Fatalf("found: %+v", o)
	}

	plan := f.Must("plan")
	if !strings.Contains(plan, "0 to add, 1 to change, 0 to destroy") || strings.Contains(plan, "is not as configured") {
		f.T.Errorf("after the import: %s", plan)
	}

	said += plan + f.Must("apply", "-auto-approve")
	f.Empty()

	return said
}

// wrong goes through what may be wrong with one of the hosts, and returns what was said.
func (f *far) wrong(right string) (said string) {
	f.T.Helper()

	f.hosts.Run("h1", `cd /run/host
cp /etc/passwd passwd; echo '`+plain+`:x:7101:7101::/:/bin/sh' >>passwd; mount --bind passwd /etc/passwd
cp /etc/shadow shadow; echo '`+plain+`:*:19000:0:99999:7:::' >>shadow; mount --bind shadow /etc/shadow`)
	f.hosts.Run("h3", "mount --bind /dev/null /usr/bin/ceph-osd; mount --bind /dev/null /usr/bin/ceph-mgr")

	sudo := f.own(1, right, fmt.Sprintf("      user        = %q\n      sudo        = true\n", plain))
	stranger := f.own(2, right, "")

	for what, c := range map[string]struct {
		connections []string
		words       []string
	}{
		"packages": {nil, []string{"h3", "ceph-osd", "ceph-mgr"}},
		"host key": {[]string{"", stranger}, []string{"h2", "host key not as expected", "if the host was installed anew"}},
		"sudo":     {[]string{sudo}, []string{"h1", "sudo asks for a password", "log in as root"}},
		"all of it": {[]string{sudo, stranger}, []string{
			"h1", "sudo asks for a password", "h2", "host key not as expected", "h3", "ceph-osd",
		}},
	} {
		f.config(c.connections...)

		text := f.Fails(append(c.words, "the create did not finish", "Nothing was made.", "Nothing is in the state; apply again when the cause is removed"), "apply", "-auto-approve")
		f.T.Logf("%s: %s", what, text[max(0, strings.Index(text, "Error: ")):])
		f.untouched()

		said += text
	}

	f.hosts.Run("h3", "umount /usr/bin/ceph-osd /usr/bin/ceph-mgr")

	return said
}
