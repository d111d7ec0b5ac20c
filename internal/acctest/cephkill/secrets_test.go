// Copyright The terraform-provider-metal3 Authors
// SPDX-License-Identifier: Apache-2.0

package cephkill_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/terraform-metal3/terraform-provider-metal3/internal/acctest/tfrun"
)

// TestSecrets_areNowhere has a cluster made, drifted, mended and destroyed with all logs that
// there are, and looks for its keys where others can see them.
func TestSecrets_areNowhere(t *testing.T) {
	t.Parallel()

	c := newCluster(t)
	trace := filepath.Join(c.Dir, "trace.log")
	c.Env = append(c.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)

	watch := watchProcesses(t)

	c.config(2, confirmed)

	said := c.Must("apply", "-auto-approve")
	c.whole(2)

	secrets := c.secrets()
	c.notReadable(secrets)

	// An end that the cluster does not notice by itself: a plan shows it, and an apply mends it.
	if err := syscall.Kill(c.daemons()["mon.a"], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	for c.runs("mon") > 0 {
		time.Sleep(3 * time.Millisecond)
	}

	r := c.Do("plan", "-detailed-exitcode")
	if out := tfrun.Flat(r.Out.String()); r.Code != 2 || !strings.Contains(out, "Warning: Ceph cluster kill") || !strings.Contains(out, "mon.a on") {
		t.Errorf("the plan ends with %d, and says nothing of the monitor:\n%s", r.Code, r.Out)
	}

	said += r.Out.String()
	said += c.Must("apply", "-auto-approve")
	c.whole(2)

	said += c.Must("destroy", "-auto-approve")
	c.nothing()

	log, err := os.ReadFile(trace)
	if err != nil || len(log) < 100_000 {
		t.Fatalf("the log has %d bytes: %v", len(log), err)
	}

	seen := watch()
	t.Logf("%d secrets, %d bytes of log, %d bytes of arguments and variables", len(secrets), len(log), len(seen))

	for what, secret := range secrets {
		for where, text := range map[string]string{"what Terraform says": said, "the log": string(log), "arguments and variables of processes": seen} {
			if at := strings.Index(text, secret); at >= 0 {
				t.Errorf("the %s is in %s: …%s…", what, where, text[max(0, at-300):at])
			}
		}
	}
}

// secrets are the keys of the cluster.
func (c *cluster) secrets() map[string]string {
	c.T.Helper()

	o := c.state()
	if o == nil {
		c.T.Fatal("there is no state")
	}

	all := map[string]string{"secret of the monitors": o.Attributes.MonSecret}
	if _, key, ok := strings.Cut(o.Attributes.AdminKeyring, "key = "); ok {
		all["key of the administrator"] = strings.Fields(key)[0]
	}

	files, _ := filepath.Glob(c.at("slots", "*", "slot.json"))
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			c.T.Fatal(err)
		}

		var slot struct {
			Secret string `json:"secret"`
		}
		if err := json.Unmarshal(content, &slot); err != nil {
			c.T.Fatal(err)
		}

		all["key of the OSD of "+filepath.Base(filepath.Dir(file))] = slot.Secret
	}

	for what, secret := range all {
		if len(secret) != 40 {
			c.T.Errorf("the %s has %d characters", what, len(secret))
		}
	}

	if len(all) != 4 {
		c.T.Errorf("there are %d secrets", len(all))
	}

	return all
}

// notReadable wants no file that anybody may read to hold a secret, and none that anybody may write.
func (c *cluster) notReadable(secrets map[string]string) {
	c.T.Helper()

	err := filepath.WalkDir(c.base, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		info, err := e.Info()
		if err != nil || e.Type()&(fs.ModeSymlink|fs.ModeSocket) != 0 {
			return err
		}

		if e.IsDir() && info.Mode().Perm()&0o001 == 0 {
			return fs.SkipDir // nobody gets to what is in it
		}

		if info.Mode().Perm()&0o002 != 0 {
			c.T.Errorf("anybody may write %s", path)
		}

		if !e.Type().IsRegular() || info.Mode().Perm()&0o004 == 0 {
			return nil
		}

		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()

		content := make([]byte, 8<<20) // more than any log has; and the label of an OSD is at the start

		n, _ := file.Read(content)
		for what, secret := range secrets {
			if bytes.Contains(content[:n], []byte(secret)) {
				c.T.Errorf("the %s is in %s, which anybody may read", what, path)
			}
		}

		return nil
	})
	if err != nil {
		c.T.Error(err)
	}
}

// watchProcesses notes the arguments and variables of all processes that start from now on,
// other than this one, until the result is called.
func watchProcesses(t *testing.T) func() string {
	t.Helper()

	ends, ended := make(chan struct{}), make(chan struct{})
	seen := map[string]bool{}

	var all strings.Builder

	go func() {
		defer close(ended)

		for {
			select {
			case <-ends:
				return
			case <-time.After(2 * time.Millisecond):
			}

			files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, file := range files {
				content, _ := os.ReadFile(file) // it may have ended
				if line := string(content); line != "" && !seen[line] {
					seen[line] = true

					environ, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "environ"))
					all.WriteString(line + "\n" + string(environ) + "\n")
				}
			}
		}
	}()

	stop := func() string {
		select {
		case <-ended:
		default:
			close(ends)
			<-ended
		}

		return all.String()
	}

	t.Cleanup(func() { stop() })

	return stop
}
