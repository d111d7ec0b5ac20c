// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package onhost_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/lifecycle/ceph/onhost"
)

// tools is a folder with the few programs that the script needs, and those that a test makes.
func tools(t *testing.T, made map[string]string) string {
	t.Helper()

	dir := t.TempDir()

	for _, name := range []string{"sh", "id", "grep", "tail", "cat", "env"} {
		where, err := exec.LookPath(name)
		must(t, err)
		must(t, os.Symlink(where, filepath.Join(dir, name)))
	}

	for name, text := range made {
		text = "#!/bin/sh\necho \"" + name + " $*\" >>" + filepath.Join(dir, "said") + "\n" + text
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}

	return dir
}

func TestInstall(t *testing.T) {
	t.Parallel()

	if os.Getuid() != 0 {
		t.Skip("only root installs packages")
	}

	programs := []string{"ceph-mon", "ceph-osd", "librados", "cryptsetup", "ceph-osd"}
	there := map[string]string{"ceph-mon": "", "ceph-osd": "", "cryptsetup": ""}

	with := func(name, text string) map[string]string {
		all := map[string]string{name: text}
		for k, v := range there {
			all[k] = v
		}

		return all
	}

	cases := map[string]struct {
		made map[string]string
		said string // is among what was said to the tools
		say  string // in the error; empty: there is none
	}{
		"apt":                                {with("apt-get", ""), "--no-install-recommends install ceph-mon ceph-osd cryptsetup-bin python3-rados", ""},
		"apt, whose lists cannot be fetched": {with("apt-get", `case "$*" in *update*) echo 'E: no network' >&2; exit 100 ;; esac`), " install ceph-mon", ""},
		"apt, whose packages are not there": {
			with("apt-get", `case "$*" in *install*) echo 'E: Unable to locate package ceph-mon' >&2; exit 100 ;; esac`), "", "Unable to locate package ceph-mon",
		},
		"dnf":                {with("dnf", ""), "install_weak_deps=False install ceph-mon ceph-osd cryptsetup python3-rados", ""},
		"yum":                {with("yum", ""), "yum -y -q install ceph-mon ceph-osd cryptsetup python3-rados", ""},
		"none of them":       {there, "", "no apt-get, dnf or yum"},
		"a package is empty": {map[string]string{"dnf": "", "cryptsetup": "", "ceph-osd": ""}, "", "ceph-mon is not there, though its package is"},
	}

	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			dir := tools(t, tc.made)
			h := onhost.New(through{Host: local(t), prefix: []string{"env", "PATH=" + dir}, shell: []string{"/bin/sh"}})
			// What the script adds to the path must not lead to the machine's own programs.
			if _, err := os.Stat("/usr/sbin/apt-get"); err == nil {
				t.Skip("the machine's own package manager would be found")
			}

			err := h.Install(t.Context(), programs)

			switch {
			case tc.say == "" && err != nil:
				t.Fatal(err)
			case tc.say != "" && (!errors.Is(err, onhost.ErrInstall) || !strings.Contains(err.Error(), tc.say)):
				t.Fatalf("error %v, want %q", err, tc.say)
			}

			if said, _ := os.ReadFile(filepath.Join(dir, "said")); !strings.Contains(string(said), tc.said) {
				t.Errorf("said:\n%s", said)
			}
		})
	}

	t.Run("a program that nobody knows", func(t *testing.T) {
		t.Parallel()

		s := &scripted{}
		if err := onhost.New(s).Install(t.Context(), []string{"ceph-mon", "rm"}); !errors.Is(err, onhost.ErrInstall) || len(s.asked) != 0 {
			t.Errorf("error %v, asked %v", err, s.asked)
		}
	})
}
